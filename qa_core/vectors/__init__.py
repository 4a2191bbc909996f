"""Word vectors: the published formats and a memory-mapped cache."""
