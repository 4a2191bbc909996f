"""`train` for encoders and word vectors."""
