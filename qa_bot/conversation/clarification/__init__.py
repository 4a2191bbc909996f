"""Asking back where a turn has several good readings.

offering   choices that were asked before they are offered
broad      turns that only name a topic       senses   names that stand for several entities of the graph
"""

from qa_bot.conversation.clarification.offering import clarification_choices as clarification_choices
