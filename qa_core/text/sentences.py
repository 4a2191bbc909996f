"""Sentence boundaries by rules: spans of the sentences of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qa_core.text.abbreviations import ENGLISH, SentenceRules, sentence_rules
from qa_core.types import Span

_CLOSERS = "\"'”’“»)\\]"
_OPENERS = "\"'“‘«„‚¿¡(["
_BULLET = r"[-*•‣▪·–] |\(?\d{1,3}[.)] "
# The pattern starts with a character class, so that the search skips to its characters. Only the first of several stops
# matches, so that a million dots take linear time.
_BOUNDARY = re.compile(
    r"[.!?…。！？｡।॥؟۔։;\u037e\n](?:"
    rf"(?<=[.!?…])(?<![.!?…]{{2}})(?P<stop>[.!?…]*[{_CLOSERS}]*(?:[ \u00a0\u202f]»)?)\s+(?=\S)"  # see `_ends_sentence`
    r"|(?<=[。！？｡])(?<![。！？｡]{2})[。！？｡]*[」』”’）)]*\s*(?=\S)"
    rf"|(?<=[।॥؟۔։])[।॥؟۔։!]*[{_CLOSERS}]*\s*(?=\S)"  # of Indic, Arabic and Armenian scripts
    r"|(?<=[\u0370-\u03ff\u1f00-\u1fff]{2}[;\u037e])[»)]*\s+(?=\S)"  # a question mark after Greek, not "TNF-α;"
    r"|(?<=\n)[^\S\n]*\n\s*(?=\S)"  # an empty line
    rf"|(?<=\n)[^\S\n]*(?={_BULLET})"  # a list
    r"|(?<=[a-z]{3}[.!?])(?=[A-Z][a-z]+ )"  # a forgotten space
    r")"
)
_UNITS = {"m", "g", "l", "h", "s"}  # of measure: after a number they are no initials
_FIRST_WORD = re.compile(rf"[{re.escape(_OPENERS)}]*([^\W_]+)")


def sentences(text: str, language: str = "") -> list[Span]:
    """Spans of the sentences of `text`: in order and disjoint; they cover all but the space between sentences.

    The rules know abbreviations, initials, decimals, ellipses, quotes, empty lines, lists, and the stops of other
    scripts. They read more than 10 MB/s.

    Args:
        language: a code of ISO 639-1, whose abbreviations count; those of English by default.
    """
    lower = text.islower()
    rules = sentence_rules(language) if language else ENGLISH
    boundaries = _BOUNDARY.finditer(text, 0, len(text.rstrip()))
    return _between(text, (match.end() for match in boundaries if _ends_sentence(text, match, rules, lower=lower)))


def _between(text: str, starts: Iterator[int]) -> list[Span]:
    """Spans from one start to the next, trimmed; empty ones are left out."""
    spans: list[Span] = []
    begin = 0
    for end in (*starts, len(text)):
        piece = text[begin:end]
        left = len(piece) - len(piece.lstrip())
        if left < len(piece):
            spans.append((begin + left, begin + len(piece.rstrip())))
        begin = end
    return spans


def _ends_sentence(text: str, boundary: re.Match[str], rules: SentenceRules, *, lower: bool) -> bool:
    """Whether a boundary ends its sentence: a stop before a space is checked, every other boundary does.

    `lower` is true for texts without capitals, in which a small letter after the stop is no evidence.
    """
    more = boundary["stop"]
    if more is None or text.count("\n", boundary.end("stop"), boundary.end()) > 1:
        return True
    mark = text[boundary.start()]
    if text[boundary.end()].islower() and not lower and (mark in ".…" or more.rstrip("?!")):
        return text[boundary.start() - 1].isspace() and mark == "."  # as in "it is bad . other people"
    return bool(more) or mark != "." or _full_stop(text, boundary, rules)


def _full_stop(text: str, boundary: re.Match[str], rules: SentenceRules) -> bool:
    """Whether a single "." ends a sentence, judged by the words around it."""
    start = boundary.start()
    before, _, word = text[max(0, start - 32) : start].replace("\n", " \n ").rpartition(" ")
    word = word.lstrip(_OPENERS)
    bare = word.lower()
    if word in _UNITS and before[-1:].isdigit():
        return True
    if bare in rules.never:
        return (
            len(word) > 1 and word.isupper() and text[boundary.end() + 1 : boundary.end() + 2].islower()
        )  # "of MS. Having"
    if bare == "no":
        return not text[boundary.end()].isdigit()
    if word.isdecimal() and (_opens_item(before, rules) or not (rules.ordinals and len(word) < 3)):
        return not _opens_item(before, rules)
    if rules.pairs and rules.pairs.search(text, max(0, start - 12), start):
        return False
    return not _is_weak(word, bare, before, rules) or _starts_sentence(text, boundary.end(), rules)


def _is_weak(word: str, bare: str, before: str, rules: SentenceRules) -> bool:
    """Whether a full stop after the word says little: after an initial, an ordinal number and some abbreviations."""
    initial = len(word) == 1 and word.isalpha() and not re.search(r"\b[a-z]{5,}$", before)  # not "vitamin C."
    return initial or bare in rules.seldom or word.isdecimal()


def _starts_sentence(text: str, at: int, rules: SentenceRules) -> bool:
    first = _FIRST_WORD.match(text, at)
    return first is not None and first[1] in rules.starters


def _opens_item(before: str, rules: SentenceRules) -> bool:
    """Whether a number and its "." start a list item ("1. Wash"), judged by the text before them (not after "No.")."""
    before = before.rstrip(" \t(")
    if not before or before[-1] in "\n!?:;":
        return True
    word = before[:-1].rpartition(" ")[2].lower()
    return before[-1] == "." and word != "no" and word not in rules.never and word not in rules.seldom
