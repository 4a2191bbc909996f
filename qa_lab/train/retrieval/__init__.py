"""`train dense`, `similar`, `expansion`, `paragram` and `annotate`: encoders, query expanders and word vectors."""
