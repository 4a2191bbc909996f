"""Foundations of the four skills: types, text, vectors, encoders, networks, training and measures."""
