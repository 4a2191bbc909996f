"""Checks of what a home holds: each reads one kind of content and says what is damaged."""
