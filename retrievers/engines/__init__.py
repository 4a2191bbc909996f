"""Search engines: the role of an index, and a room for each engine that fills it."""
