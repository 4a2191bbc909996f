"""What a bot makes of a question, as a conversation remembers it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from qa_bot.conversation.followups.mentions import Exchange

if TYPE_CHECKING:
    from qa_bot.bot import Bot

Tell = Callable[[str], Exchange]
"""A question that stands alone to what was answered; `Exchange` itself tells of no answer."""


def telling(bot: Bot, *, named: bool = True) -> Tell:
    """A bot's answers, each question asked once; what it does not give is not told.

    Args:
        named: whether its graph, where it has one, tells which names it knows.
    """
    from qa_bot.answering.graph.entities import Entities

    facts = bot.corridor().facts if named else None
    entities = Entities(facts.lookup) if facts else None

    @cache
    def tell(question: str) -> Exchange:
        answer = bot.ask(question)
        title = answer.sources[0].title if answer.answered and answer.sources else ""
        known = entities.find(f"{question}\n{answer.text}") if entities else ()
        return Exchange(question, answer.text, title, known)

    return tell
