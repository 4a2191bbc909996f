"""Evaluation of linking, relation detection and facts."""
