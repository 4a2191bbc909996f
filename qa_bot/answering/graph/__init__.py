"""Answers from the knowledge graph."""
