"""E-mail and transcripts."""
