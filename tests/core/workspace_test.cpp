// workspace_test
