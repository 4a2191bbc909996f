"""The declarations of all tables, a file for each part of the papers."""
