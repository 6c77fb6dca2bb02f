// config_test
