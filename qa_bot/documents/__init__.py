"""Puts documents and facts into a home: readers of all formats, incremental updates, the knowledge graph."""
