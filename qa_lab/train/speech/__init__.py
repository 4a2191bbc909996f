"""`train` for conversation models, personas and counting grids."""
