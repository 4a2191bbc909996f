"""Interleaving: a second ranking that is tried on a share of the questions, and what votes say about it."""
