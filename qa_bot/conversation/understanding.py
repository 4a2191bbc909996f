"""What a turn asks after all that was said before it: a choice that was offered, talk, or a question by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qa_bot.conversation.memory import Past
from qa_bot.conversation.talk import Talk, recognise
from qa_bot.followups import Exchange, Rewriter
from qa_core.text import fold, terms, words
from qa_core.types import Choice

if TYPE_CHECKING:
    from qa_bot.followups.entities import Entities

_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_AROUND = frozenset(
    [
        "the",
        "a",
        "i",
        "mean",
        "meant",
        "number",
        "option",
        "choice",
        "answer",
        "no",
        "one",
        "please",
        "take",
        "of",
        "them",
    ]
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A turn as it was understood."""

    question: str
    """What is asked; the turn itself where it stands alone."""
    talk: Talk | None = None
    settled: bool = False
    """Whether it was chosen among readings, so that nothing has to be asked back."""


def read(turn: str, past: Sequence[Past], rewriter: Rewriter, entities: Entities | None = None) -> Reading:
    """The first turn is never rewritten, and small talk is no turn in this sense.

    Args:
        entities: what a graph knows by name.
    """
    if past and past[-1].asks_back and (choice := picked(turn, past[-1].recall().choices)):
        return Reading(choice.question, settled=True)
    if talk := recognise(turn):
        return Reading(turn, talk)
    exchanges = [_exchange(each, entities) for each in past if each.talk is None]
    return Reading(rewriter.rewrite(turn, exchanges).text)


def _exchange(past: Past, entities: Entities | None) -> Exchange:
    known = entities.find(f"{past.understood}\n{past.said}") if entities else ()
    return Exchange(past.understood, past.said, past.title, known)


def picked(turn: str, choices: Sequence[Choice]) -> Choice | None:
    """The choice that a turn names: by its number, by its text, or by words that no other has."""
    said = [word for word in words(fold(turn)) if word not in _AROUND]
    if len(said) == 1 and (place := _place(said[0], len(choices))) is not None:
        return choices[place] if 0 <= place < len(choices) else None
    named = [choice for choice in choices if _same(turn, choice.text) or _same(turn, choice.question)]
    if named:
        return named[0]
    known = set(terms(" ".join(said)))
    meant = [choice for choice in choices if known and known <= set(terms(choice.text))]
    return meant[0] if len(meant) == 1 else None


def _place(word: str, count: int) -> int | None:
    if re.fullmatch(r"\d{1,2}", word):
        return int(word) - 1
    if word == "last":
        return count - 1
    return _ORDINALS.index(word) if word in _ORDINALS else None


def _same(turn: str, text: str) -> bool:
    return words(fold(turn)) == words(fold(text))
