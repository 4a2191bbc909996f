"""Pair scorers trained on questions with labelled answers, a file per model."""
