// toml
