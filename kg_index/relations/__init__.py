"""Relation detection: templates, keywords and neural scorers."""
