"""Training of pair scorers: data, losses, distillation."""
