"""Search engines: one room each."""
