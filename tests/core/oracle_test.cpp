// oracle_test
