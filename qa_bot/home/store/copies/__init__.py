"""Copies of the whole database as one SQLite file, whatever the database is."""
