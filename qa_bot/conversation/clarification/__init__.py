"""Clarification: offers choices for a turn with several good interpretations."""

from qa_bot.conversation.clarification.offering import clarification_choices as clarification_choices
