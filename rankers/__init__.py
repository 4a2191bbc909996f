"""Ordering candidates: clue scoring and passage scoring."""
