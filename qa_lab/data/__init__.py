"""Readers of training data, all with the contract of `reading.py`, and the split into training and development."""
