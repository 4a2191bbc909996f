"""Conversation history from a bot: a question with its answer as an `Exchange`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from qa_bot.conversation.followups.mentions import Exchange

if TYPE_CHECKING:
    from qa_bot.bot import Bot

Remember = Callable[[str], Exchange]
"""A standalone question to its entry in the history; `Exchange` itself makes an entry without an answer."""


def answered_history(bot: Bot, *, named: bool = True) -> Remember:
    """History entries with the bot's answers; each question runs once, and withheld answers have no source.

    Args:
        named: add the entities that the bot's graph knows, if it has one.
    """
    from qa_bot.answering.graph.entities import Entities

    facts = bot.corridor().facts if named else None
    entities = Entities(facts.lookup) if facts else None

    @cache
    def remember(question: str) -> Exchange:
        answer = bot.ask(question)
        title = answer.sources[0].title if answer.answered and answer.sources else ""
        known = entities.find(f"{question}\n{answer.text}") if entities else ()
        return Exchange(question, answer.text, title, known)

    return remember
