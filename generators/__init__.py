"""Speaking: room kept for the styled sequence-to-sequence generator."""
