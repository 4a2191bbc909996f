"""Encoders of a dense index, trained from questions and their answers."""
