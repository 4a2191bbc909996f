"""Ranking of candidates: clue score, pair scorers and their learned fusion, and their training."""
