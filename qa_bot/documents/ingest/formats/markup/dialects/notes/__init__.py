"""Dialects of Markdown of programs for notes."""
