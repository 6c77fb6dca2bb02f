// check_test
