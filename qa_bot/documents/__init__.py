"""Documents in: readers, incremental updates, the knowledge graph's files."""
