// vocabulary
