"""`train dense`, `similar`, `expansion`, `words`, `paragram` and `annotate`: encoders, expanders and word vectors."""
