"""Counting grids: topics that steer the generator."""
