"""Torch networks that two or more skills share, with their vocabulary, batching, losses and checkpoints."""
