"""Trains the network that tells whether a passage answers a question."""
