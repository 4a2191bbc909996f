"""Splits a question that asks for two things: "Who invented the telephone and when?" asks who and when."""

from __future__ import annotations

import re

_SECOND = re.compile(
    r"(?P<first>.+?) ?,? and (?:(?:in|on|at|by|from|to) )?(?P<second>(?:when|where|who|whom|how|what|which)\b[^?]*)\??",
    re.IGNORECASE,
)
_WORD = re.compile(r"\s*(?:in |on |at |by |from |to )?(?:when|where|who|whom|how|what|which)\s+", re.IGNORECASE)
_ELLIPSIS = re.compile(
    r"(?:when|where|who|whom|by whom|how|(?:what|which) (?:year|date|day|month|century|place|city|town|country))\s*",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:he|she|it|they|him|them)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b(?:his|her|its|their)\b", re.IGNORECASE)
_OTHER_PLACE = re.compile(r"\b(?:there|this|that|these|those)\b", re.IGNORECASE)


def question_parts(question: str) -> tuple[str, ...]:
    """The question itself, or its two parts, the second completed by the words of the first.

    "When was Mozart born and where?" gives "When was Mozart born" and "where was Mozart born".
    """
    match = _SECOND.fullmatch(" ".join(question.split()))  # one blank between words, so that no match is quadratic
    opening = match and _WORD.match(match["first"])
    if not match or not opening:
        return (question,)
    first, second = match["first"], match["second"].strip()
    if _ELLIPSIS.fullmatch(second):
        return first, f"{second} {first[opening.end() :]}"
    return first, second


def with_topic(part: str, topic: str) -> str | None:
    """A second part with the name of the first part's topic for its pronouns; None if it means another place."""
    if _OTHER_PLACE.search(part):
        return None
    named = _POSSESSIVE.sub(lambda _: f"{topic}'s", part)
    return _PRONOUN.sub(lambda _: topic, named)
