"""Teaches the shipped transformer a further language: vectors of its word pieces below the unchanged network."""
