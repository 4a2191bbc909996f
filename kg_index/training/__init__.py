"""Mines templates, trains relation scorers and fits the weights of interpretations."""
