"""Trainable encoders for dense search: static tables, words, transformers."""
