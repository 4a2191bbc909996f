"""`train chat`, `persona` and `grid`: conversation models, personas and their topics."""
