"""Generates replies: the conversation model, personas on top of it, and topics that steer both."""
