"""Conversations: remembers turns, resolves follow-ups, asks back, replies to small talk, and applies votes at once."""
