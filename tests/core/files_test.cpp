// files_test
