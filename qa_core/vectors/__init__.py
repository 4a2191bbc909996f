"""Word vectors, and readers of their published formats."""
