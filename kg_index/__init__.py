"""Facts: room kept for the triple index and relation detection."""
