"""A candidate rewrite of a turn, and the spelling of replaced words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from qa_bot.conversation.followups.mentions import Mention
from qa_bot.conversation.followups.phrases import is_plural

Kind = Literal["as it is", "pronoun", "possessive", "demonstrative", "longer name", "left out", "place", "fragment"]


PRONOUN = re.compile(
    r"\b(?P<thing>it(?!['’]s\s*[?.!]*$)|this|that(?=\s*[?.!,]|$))\b|\b(?P<several>they|them|these|those)\b|"
    r"\b(?P<man>he|him)\b|\b(?P<woman>she|her(?=\s*[?.!,]|$))\b",
    re.IGNORECASE,
)
POSSESSIVE = re.compile(
    r"\b(?<!\w )(?:Its|His|Her|Their)\s+(?=[a-z])|\b(?:its|it['’]s(?=\s+\w+\s+(?!\w+ing))|their|his|her)\s+(?=[a-z])"
)


@dataclass(frozen=True, slots=True)
class RewriteCandidate:
    """A candidate: its text, the kind of rewrite and its mention. `inside` counts the noun phrases of the turn before
    the replaced word, which it may also refer to."""

    text: str
    kind: Kind = "as it is"
    mention: Mention | None = None
    replaced: str = ""
    inside: int = 0


def opened(question: str) -> str:
    """A turn without the punctuation at its end."""
    return question.strip().rstrip("?.! ")


def owning(phrase: str) -> str:
    return f"{phrase}'" if is_plural(phrase) else f"{phrase}'s"


def cased(phrase: str, position: int) -> str:
    return phrase[:1].upper() + phrase[1:] if position == 0 else phrase
