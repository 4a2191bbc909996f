"""`train dense`, `similar`, `paragram` and `annotate`: encoders and word vectors."""
