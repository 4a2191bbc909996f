"""Pairs of phrases of a paraphrase database."""
