"""Splits a question that asks for several things: "Who invented the telephone and when?" asks who and when."""

from __future__ import annotations

import re

_SECOND = re.compile(
    r"(?P<first>.+?) ?,? and (?:(?:in|on|at|by|from|to) )?(?P<second>(?:when|where|who|whom|how|what|which)\b[^?]*)\??",
    re.IGNORECASE,
)
_WORD = re.compile(r"\s*(?:in |on |at |by |from |to )?(?:when|where|who|whom|how|what|which)\s+", re.IGNORECASE)
_ASKED = r"(?:when|where|who|whom|by whom|how|(?:what|which) (?:year|date|day|month|century|place|city|town|country))"
_ELLIPSIS = re.compile(rf"{_ASKED}\s*", re.IGNORECASE)
_LISTED = rf"(?:(?:in|on|at|from|to) )?(?:{_ASKED}|what)"
_LIST = re.compile(rf"(?P<asking>{_LISTED}(?:, {_LISTED})*,? and {_LISTED}) (?P<rest>(?!and\b)[^?]+)\??", re.IGNORECASE)
_IN_LIST = re.compile(_LISTED, re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:he|she|it|they|him|them)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b(?:his|her|its|their)\b", re.IGNORECASE)
_OTHER_PLACE = re.compile(r"\b(?:there|this|that|these|those)\b", re.IGNORECASE)


def question_parts(question: str) -> tuple[str, ...]:
    """The question itself, or its parts, each completed by the words of the others.

    "When was Mozart born and where?" and "When and where was Mozart born?" give "When was Mozart born" and "where was
    Mozart born".
    """
    line = " ".join(question.split())  # one blank between words, so that no match is quadratic
    if listed := _LIST.fullmatch(line):
        return tuple(f"{asking[0]} {listed['rest']}" for asking in _IN_LIST.finditer(listed["asking"]))
    match = _SECOND.fullmatch(line)
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
