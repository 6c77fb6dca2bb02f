// layers
