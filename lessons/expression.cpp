// expression
