// safetensors_test
