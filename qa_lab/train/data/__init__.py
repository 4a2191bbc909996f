"""Readers of training data."""
