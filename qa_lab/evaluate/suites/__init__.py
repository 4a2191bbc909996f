"""Suites: many collections measured with several configurations, as one table."""
