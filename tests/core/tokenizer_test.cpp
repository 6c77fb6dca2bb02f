// tokenizer_test
