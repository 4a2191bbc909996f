"""Clarification in the corridor: choices take the place of an answer that would be a guess."""

from __future__ import annotations

from dataclasses import replace

from qa_bot.answering.ask import Ask
from qa_bot.answering.clock import Clock
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.scope import EVERYTHING, Scope
from qa_bot.answering.stages.decide import Decided, Preferences
from qa_bot.conversation.clarification.offering import clarification_choices
from qa_core.types import Answer, Choice, Question


def clarify(
    decided: Decided, clock: Clock, *, corridor: Corridor, preferences: Preferences | None, scope: Scope = EVERYTHING
) -> Decided:
    """The decision with choices, if the turn has several good interpretations and there is time to find them.

    Each choice is answered by the corridor before it is offered.
    """

    def find(share: Deadline) -> tuple[Choice, ...]:
        def ask(text: str) -> Answer:
            return corridor.answer(Ask(Question(text), scope=scope), corridor.start(share), preferences=preferences)

        return clarification_choices(
            decided.ranking, decided.decision, decided.fact, ask, facts=corridor.facts, check=share.check
        )

    none: tuple[Choice, ...] = ()
    return replace(decided, choices=clock.run_quick("clarify", find, none))
