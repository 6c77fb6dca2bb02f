// random_test
