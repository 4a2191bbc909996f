"""Conversation: what was said before, what a turn means after it, and turns that are no questions.

memory         the last turns of each conversation         understanding  a turn → the question that it asks
talk           small talk and turns about answers          replies        what is said to those
taste          what its votes change for a conversation
"""
