"""Pair scorers that detect questions that ask the same: networks over the words of two texts."""
