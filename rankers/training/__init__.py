"""Training of pair scorers: data, losses and training loops."""
