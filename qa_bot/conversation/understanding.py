"""What a turn asks after all that was said before it: a choice that was offered, talk, or a question by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qa_bot.conversation.followups import Exchange, Rewriter
from qa_bot.conversation.memory import RememberedTurn
from qa_core.text.analysis import fold, terms, words
from qa_core.text.small_talk import Talk, recognise
from qa_core.types import Choice

if TYPE_CHECKING:
    from qa_bot.answering.graph.entities import Entities

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
class UnderstoodTurn:
    """A turn as it was understood."""

    question: str
    """What is asked; the turn itself where it stands alone."""
    talk: Talk | None = None
    settled: bool = False
    """Whether it was chosen among readings, so that nothing has to be asked back."""


def read(
    turn: str, past: Sequence[RememberedTurn], rewriter: Rewriter, entities: Entities | None = None
) -> UnderstoodTurn:
    """The first turn is never rewritten, and small talk is no turn in this sense.

    Args:
        entities: what a graph knows by name.
    """
    if past and past[-1].asks_back:
        if choice := picked(turn, past[-1].recall().choices):
            return UnderstoodTurn(choice.question, settled=True)
        if _number(turn) is not None:  # of no choice: they are offered again
            return UnderstoodTurn(turn, "repeat")
    if talk := recognise(turn):
        return UnderstoodTurn(turn, talk)
    exchanges = [_exchange(each, entities) for each in past if each.talk is None]
    return UnderstoodTurn(rewriter.rewrite(turn, exchanges).text)


def _exchange(past: RememberedTurn, entities: Entities | None) -> Exchange:
    known = entities.find(f"{past.understood}\n{past.said}") if entities else ()
    return Exchange(past.understood, past.said, past.title, known)


def picked(turn: str, choices: Sequence[Choice]) -> Choice | None:
    """The choice that a turn names: by its number, by its text, or by words that no other has."""
    if (place := _number(turn)) is not None:
        place += len(choices) if place < 0 else 0
        return choices[place] if 0 <= place < len(choices) else None
    said = _telling(turn)
    named = [choice for choice in choices if _same(turn, choice.text) or _same(turn, choice.question)]
    if named:
        return named[0]
    known = set(terms(" ".join(said)))
    meant = [choice for choice in choices if known and known <= set(terms(choice.text))]
    return meant[0] if len(meant) == 1 else None


def _number(turn: str) -> int | None:
    """The place, from 0, that a turn names and nothing else; −1 is the last. 0 names none, as any too large one."""
    said = _telling(turn)
    if len(said) != 1:
        return None
    if re.fullmatch(r"\d{1,2}", said[0]):
        return int(said[0]) - 1 if int(said[0]) else len(_ORDINALS)
    if said[0] == "last":
        return -1
    return _ORDINALS.index(said[0]) if said[0] in _ORDINALS else None


def _telling(turn: str) -> list[str]:
    return [word for word in words(fold(turn)) if word not in _AROUND]


def _same(turn: str, text: str) -> bool:
    return words(fold(turn)) == words(fold(text))
