"""Models that score a question with an answer passage."""
