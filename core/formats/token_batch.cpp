// formats/token_batch
