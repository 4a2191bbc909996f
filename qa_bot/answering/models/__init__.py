"""Models that the corridor uses, opened from their folders."""
