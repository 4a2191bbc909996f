"""Requests to the web: which addresses may be reached, and one bounded request at a time."""
