"""What a turn means after the turns before it: a choice that was offered, small talk, or a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qa_bot.answering.ask import STANDS_ALONE, Readings
from qa_bot.conversation.followups import Exchange, Rewriter
from qa_bot.conversation.followups.corrections import corrected
from qa_bot.conversation.followups.fragments import is_fragment
from qa_bot.conversation.followups.introductions import returned, without_introduction
from qa_bot.conversation.followups.readings import goes_on, keeps_topic, points_back, readings
from qa_bot.conversation.memory import RememberedTurn
from qa_core.text.analysis import fold, terms, words
from qa_core.text.small_talk import Talk, recognise
from qa_core.types import Choice

if TYPE_CHECKING:
    from qa_bot.answering.graph.entities import Entities

READ = 2_000
"""Characters of a reply in which entities are looked for."""
SURE_ALONE = 0.8
"""Confidence from which a short turn that points to nothing opens another topic, if the old one has no answer. In nine
sets of dialogues one more question is answered, rightly; from .7 on also one wrongly."""
PARTS = " · "
"""Between the question before and a follow-up, where both are shown instead of one rewritten question."""
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
    """The meaning of a turn."""

    question: str
    """A question that stands alone; the turn itself unless it was a follow-up."""
    shown: str = ""
    """How a follow-up is shown as understood, if its question may be no sentence of good English."""
    talk: Talk | None = None
    settled: bool = False
    """Whether the user chose this meaning, so that clarification is not needed."""
    readings: Readings = STANDS_ALONE
    """What a follow-up is searched as."""


def read(
    turn: str, past: Sequence[RememberedTurn], rewriter: Rewriter, entities: Entities | None = None
) -> UnderstoodTurn:
    """Understand a turn. The first turn after small talk is never rewritten.

    Args:
        entities: finds the entities of the graph that a text names.
    """
    if past and past[-1].asks_back:
        former = past[-1].recall()
        if choice := picked(turn, former.choices, by_words=not former.suggested):
            return UnderstoodTurn(choice.question, settled=True)
        if _number(turn) is not None:  # no such choice: repeat them
            return UnderstoodTurn(turn, talk="repeat")
    if talk := recognise(turn):
        return UnderstoodTurn(turn, talk=talk)
    earlier = [former for former in past if former.talk is None]
    turn = without_introduction(turn) if earlier else turn
    if earlier and (question := returned(turn)):
        return UnderstoodTurn(question)
    turn = corrected(turn) if earlier else turn
    rewritten = rewriter.rewrite(turn, [_exchange(former, entities) for former in earlier])
    texts = readings(turn, _questions(past), changed=rewritten.changed)
    topic = _topic(earlier[-1]) if texts and keeps_topic(turn) else ""
    is_unclear = bool(texts) and not rewritten.changed and (is_fragment(turn) or goes_on(turn))
    needs_topic = is_unclear or points_back(turn)
    least_alone = 0.0 if rewritten.changed else None if needs_topic else SURE_ALONE
    fits = rewritten.fits and not (rewritten.changed and is_fragment(turn) and earlier[-1].shown)
    shown = "" if fits else f"{_last_whole(earlier)}{PARTS}{turn}"
    return UnderstoodTurn(rewritten.text, shown, readings=Readings(texts, topic, is_unclear, least_alone))


def _last_whole(earlier: Sequence[RememberedTurn]) -> str:
    """The last question that needs none before it, in the wording that was shown; the first one if all need others."""
    texts = [(former.shown or former.understood).partition(PARTS)[0] for former in earlier]
    return next((text for text in reversed(texts) if not (points_back(text) or is_fragment(text))), texts[0])


def _questions(past: Sequence[RememberedTurn]) -> list[str]:
    """The questions as they were asked, without small talk; "the second one" after choices is the one that it chose."""
    offered = [False, *(former.asks_back for former in past)]
    return [
        former.understood if chosen and _number(former.question) is not None else former.question
        for former, chosen in zip(past, offered, strict=False)
        if former.talk is None
    ]


def _topic(before: RememberedTurn) -> str:
    """Title of the document that answered a turn; "" if it was not answered, or its answer was voted down."""
    return "" if before.vote == "down" else before.title


def _exchange(past: RememberedTurn, entities: Entities | None) -> Exchange:
    known = entities.find(f"{past.understood}\n{past.reply[:READ]}") if entities else ()
    return Exchange(past.understood, past.reply, past.title, known)


def picked(turn: str, choices: Sequence[Choice], *, by_words: bool = True) -> Choice | None:
    """The choice that a turn names: by its number, by its text, or `by_words` of only one choice."""
    if (index := _number(turn)) is not None:
        index += len(choices) if index < 0 else 0
        return choices[index] if 0 <= index < len(choices) else None
    content = _content_words(turn)
    named = [choice for choice in choices if _same(turn, choice.text) or _same(turn, choice.question)]
    if named or not by_words:
        return named[0] if named else None
    stems = set(terms(" ".join(content)))
    matches = [choice for choice in choices if stems and stems <= set(terms(choice.text))]
    return matches[0] if len(matches) == 1 else None


def _number(turn: str) -> int | None:
    """The index of a turn that is only a number or an ordinal, −1 for the last; "0" gives an index out of range."""
    content = _content_words(turn)
    if len(content) != 1:
        return None
    word = content[0]
    if re.fullmatch(r"\d{1,2}", word):
        return int(word) - 1 if int(word) else len(_ORDINALS)
    if word == "last":
        return -1
    return _ORDINALS.index(word) if word in _ORDINALS else None


def _content_words(turn: str) -> list[str]:
    return [word for word in words(fold(turn)) if word not in _AROUND]


def _same(turn: str, text: str) -> bool:
    return words(fold(turn)) == words(fold(text))
