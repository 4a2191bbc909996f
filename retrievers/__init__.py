"""Retrieval: query formulation, search engines, fusion of their results, and training of encoders for search."""
