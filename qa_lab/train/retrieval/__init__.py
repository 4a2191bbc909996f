"""`train dense`, `similar`, `expansion`, `words`, `paragram`, `annotate`: encoders, query expanders and word vectors."""
