// runner_test
