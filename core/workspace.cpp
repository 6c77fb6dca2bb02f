// workspace
