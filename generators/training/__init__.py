"""Training of conversation models, personas and counting grids."""
