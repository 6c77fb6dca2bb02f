// formats/model_config
