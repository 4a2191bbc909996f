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

_SEVERAL = frozenset(["they", "them", "these", "those", "their"])
_NUMBERED = _SEVERAL | {"it", "this", "that", "its", "it's", "it’s", "he", "him", "his", "she", "her"}
_DETERMINED = re.compile(r"(?:the|an?|my|our|your|his|her|their)\s", re.IGNORECASE)
_CAPITAL_ARTICLE = re.compile(r"(?:The|An?|My|Our|Your) (?=\S)")


@dataclass(frozen=True, slots=True)
class RewriteCandidate:
    """A candidate: its text, the kind of rewrite and its mention. `inside` counts the noun phrases of the turn before
    the replaced word, which it may also refer to; `fits` says whether the text is surely a sentence of good English."""

    text: str
    kind: Kind = "as it is"
    mention: Mention | None = None
    replaced: str = ""
    inside: int = 0
    fits: bool = True


def fits(mention: Mention, replaced: str) -> bool:
    """Whether a mention is a whole noun phrase of the grammatical number of the word that it replaces.

    Rules find noun phrases, so verbs and halves of phrases are among them: "steals", "wi-fi built". A name, or what has
    an article, is one; so is a plural in the place of "they". One capitalised word of an answer may open a sentence.
    """
    if replaced in _NUMBERED and mention.plural != (replaced in _SEVERAL):
        return False
    if mention.name:
        return not mention.answered or " " in mention.text or not mention.text.istitle()
    return bool(_DETERMINED.match(mention.text)) or (mention.plural and replaced in _SEVERAL)


def opened(question: str) -> str:
    """A turn without the punctuation at its end."""
    return question.strip().rstrip("?.! ")


def owning(phrase: str) -> str:
    return f"{phrase}'" if is_plural(phrase) else f"{phrase}'s"


def cased(phrase: str, position: int) -> str:
    """A phrase with a capital at the beginning of a sentence, and without a capital article inside it."""
    if position == 0:
        return phrase[:1].upper() + phrase[1:]
    return phrase[0].lower() + phrase[1:] if _CAPITAL_ARTICLE.match(phrase) else phrase
