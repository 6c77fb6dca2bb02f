// formats/safetensors
