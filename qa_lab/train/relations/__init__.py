"""`train relations` and `kg mine`."""
