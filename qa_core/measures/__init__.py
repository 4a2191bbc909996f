"""Measures of rankings, pairs and judges, significance tests and plots."""
