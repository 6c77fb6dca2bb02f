// operations_test
