"""Sentence boundaries by rules: spans of the sentences of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qa_core.text.stop_words import word_set
from qa_core.types import Span

_CLOSERS = "\"'”’»)\\]"
_OPENERS = "\"'“‘«(["
_BULLET = r"[-*•‣▪·–] |\(?\d{1,3}[.)] "
# The pattern starts with a character class, so that the search skips to its characters. Only the first of several stops
# matches, so that a million dots take linear time.
_BOUNDARY = re.compile(
    r"[.!?…。！？｡\n](?:"
    rf"(?<=[.!?…])(?<![.!?…]{{2}})(?P<stop>[.!?…]*[{_CLOSERS}]*)\s+(?=\S)"  # checked by `_ends_sentence`
    r"|(?<=[。！？｡])(?<![。！？｡]{2})[。！？｡]*[」』”’）)]*\s*(?=\S)"
    r"|(?<=\n)[^\S\n]*\n\s*(?=\S)"  # an empty line
    rf"|(?<=\n)[^\S\n]*(?={_BULLET})"  # a list
    r"|(?<=[a-z]{3}[.!?])(?=[A-Z][a-z]+ )"  # a forgotten space
    r")"
)
_NEVER = word_set(
    "dr mr mrs ms mx prof sen gov gen col sgt lt capt cmdr rev hon messrs vs cf viz fig figs eq eqs ref refs vol vols "
    "pp approx ca e.g i.e eg ie resp incl esp spp nr nos"
)
"""Abbreviations that do not end a sentence."""
_SELDOM = word_set(
    "etc inc ltd co corp jr sr ph.d m.d b.sc m.sc d.c u.s u.k u.n e.u u.s.a a.m p.m b.c a.d est min max avg hr hrs oz "
    "lb lbs ft jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun sp al st mt rep pres ch "
    "sec op eds tel ext ave blvd rd dept univ var subsp"
)
"""Abbreviations, like initials, that end a sentence only before a word that often starts one."""
_BEFORE_NUMBERS = _NEVER | _SELDOM | {"no"}
_STARTERS = word_set(
    "A An The This That These Those It Its He She They We You I In On At By For From If When While After Before "
    "Although As But And Or So However Also Some Many Most Other Such There Their His Her Our My Your What Why How "
    "Who Where Which Is Are Do Does Can Because Since Unlike To With No Not Each Both Another One"
)
_FIRST_WORD = re.compile(rf"[{re.escape(_OPENERS)}]*([^\W_]+)")


def sentences(text: str) -> list[Span]:
    """Spans of the sentences of `text`: in order and disjoint; they cover all but the space between sentences.

    The rules know abbreviations, initials, decimals, ellipses, quotes, empty lines, lists and full-width stops. They
    read more than 10 MB/s.
    """
    lower = text.islower()
    boundaries = _BOUNDARY.finditer(text, 0, len(text.rstrip()))
    return _between(text, (match.end() for match in boundaries if _ends_sentence(text, match, lower=lower)))


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


def _ends_sentence(text: str, boundary: re.Match[str], *, lower: bool) -> bool:
    """Whether a boundary ends its sentence: a stop before a space is checked, every other boundary does.

    `lower` is true for texts without capitals, in which a small letter after the stop is no evidence.
    """
    more = boundary["stop"]
    if more is None or text.count("\n", boundary.end("stop"), boundary.end()) > 1:
        return True
    mark = text[boundary.start()]
    if text[boundary.end()].islower() and not lower and (mark in ".…" or more.rstrip("?!")):
        return text[boundary.start() - 1].isspace() and mark == "."  # as in "it is bad . other people"
    return bool(more) or mark != "." or _full_stop(text, boundary)


def _full_stop(text: str, boundary: re.Match[str]) -> bool:
    """Whether a single "." ends a sentence, judged by the words around it."""
    start = boundary.start()
    before, _, word = text[max(0, start - 32) : start].replace("\n", " \n ").rpartition(" ")
    word = word.lstrip(_OPENERS)
    bare = word.lower()
    if bare in _NEVER:
        return (
            len(word) > 1 and word.isupper() and text[boundary.end() + 1 : boundary.end() + 2].islower()
        )  # "of MS. Having"
    if bare == "no":
        return not text[boundary.end()].isdigit()
    if word.isdecimal():
        return not _opens_item(before)
    initial = len(word) == 1 and word.isalpha() and not re.search(r"\b[a-z]{5,}$", before)  # not "vitamin C."
    if initial or bare in _SELDOM:
        first = _FIRST_WORD.match(text, boundary.end())
        return first is not None and first[1] in _STARTERS
    return True


def _opens_item(before: str) -> bool:
    """Whether a number and its "." start a list item ("1. Wash"), judged by the text before them (not after "No.")."""
    before = before.rstrip(" \t(")
    if not before or before[-1] in "\n!?:;":
        return True
    return before[-1] == "." and before[:-1].rpartition(" ")[2].lower() not in _BEFORE_NUMBERS
