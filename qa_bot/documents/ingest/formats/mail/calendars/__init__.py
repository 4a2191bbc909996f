"""Calendars and contacts, which share the form of their lines."""
