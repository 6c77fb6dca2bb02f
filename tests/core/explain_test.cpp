// explain_test
