// expression_test
