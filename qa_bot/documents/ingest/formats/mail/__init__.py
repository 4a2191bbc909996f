"""E-mail, transcripts, calendars and contacts."""
