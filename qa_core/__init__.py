"""The floor that the four skills stand on: nouns, text, vectors, encoders, training, metrics."""
