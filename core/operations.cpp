// operations
