// formats/model_directory
