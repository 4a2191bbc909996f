"""OpenDocument texts and presentations (ODT, ODP)."""
