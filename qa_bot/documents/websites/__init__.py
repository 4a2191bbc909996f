"""Websites as documents: pages and feeds of a site, read politely, and read again at the next sync."""
