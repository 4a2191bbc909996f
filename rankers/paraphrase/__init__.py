"""Models that decide if two questions ask the same."""
