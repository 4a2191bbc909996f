"""Where sentences begin and end: by rules, or by syntok (whose one door this is, imported when first asked for)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qa_core.types import Span


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CLOSERS = "\"'”’»)\\]"
_OPENERS = "\"'“‘«(["
_BULLET = r"[-*•‣▪·–] |\(?\d{1,3}[.)] "
# One class of characters opens the pattern, so that the search skips to them; only the first of several stops counts,
# so that a million dots take linear time.
_BOUNDARY = re.compile(
    r"[.!?…。！？｡\n](?:"
    rf"(?<=[.!?…])(?<![.!?…]{{2}})(?P<stop>[.!?…]*[{_CLOSERS}]*)\s+(?=\S)"  # checked by `_ends_sentence`
    r"|(?<=[。！？｡])(?<![。！？｡]{2})[。！？｡]*[」』”’）)]*\s*(?=\S)"
    r"|(?<=\n)[^\S\n]*\n\s*(?=\S)"  # an empty line
    rf"|(?<=\n)[^\S\n]*(?={_BULLET})"  # a list
    r"|(?<=[a-z]{3}[.!?])(?=[A-Z][a-z]+ )"  # a forgotten space
    r")"
)
_NEVER = _listed(
    "dr mr mrs ms mx prof sen gov gen col sgt lt capt cmdr rev hon messrs vs cf viz fig figs eq eqs ref refs vol vols "
    "pp approx ca e.g i.e eg ie resp incl esp spp nr nos"
)
"""Abbreviations that do not end a sentence."""
_SELDOM = _listed(
    "etc inc ltd co corp jr sr ph.d m.d b.sc m.sc d.c u.s u.k u.n e.u u.s.a a.m p.m b.c a.d est min max avg hr hrs oz "
    "lb lbs ft jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun sp al st mt rep pres ch "
    "sec op eds tel ext ave blvd rd dept univ var subsp"
)
"""Abbreviations that end a sentence only before a word that often opens one; initials are treated alike."""
_BEFORE_NUMBERS = _NEVER | _SELDOM | {"no"}
_STARTERS = _listed(
    "A An The This That These Those It Its He She They We You I In On At By For From If When While After Before "
    "Although As But And Or So However Also Some Many Most Other Such There Their His Her Our My Your What Why How "
    "Who Where Which Is Are Do Does Can Because Since Unlike To With No Not Each Both Another One"
)
_FIRST_WORD = re.compile(rf"[{re.escape(_OPENERS)}]*([^\W_]+)")
_LONGEST_CAREFUL = 200_000  # syntok's memory grows steeply with the length of a text


def sentences(text: str, *, careful: bool = False) -> list[Span]:
    """Spans of the sentences of `text`: in order, disjoint, together every character but the space between them.

    By rules (above 10 MB/s): abbreviations, initials, decimals, ellipses, quotes, empty lines, lists, full-width
    stops. `careful=True` asks syntok (about 0.5 MB/s) for texts of up to 200,000 characters.
    """
    if careful and len(text) <= _LONGEST_CAREFUL:
        return _between(text, _careful_starts(text))
    lower = text.islower()
    found = _BOUNDARY.finditer(text, 0, len(text.rstrip()))
    return _between(text, (m.end() for m in found if _ends_sentence(text, m, lower=lower)))


def _between(text: str, starts: Iterator[int]) -> list[Span]:
    """Spans from each start to the next, trimmed; a start inside leading space adds nothing."""
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
    """Whether a stop that is followed by space ends its sentence; every other boundary does.

    `lower` says that the text has no capitals at all, so that a small letter after the stop means nothing.
    """
    more = boundary["stop"]
    if more is None or text.count("\n", boundary.end("stop"), boundary.end()) > 1:
        return True
    mark = text[boundary.start()]
    if text[boundary.end()].islower() and not lower and (mark in ".…" or more.rstrip("?!")):
        return text[boundary.start() - 1].isspace() and mark == "."  # "… is bad . other …" of hasty writers
    return bool(more) or mark != "." or _full_stop(text, boundary)


def _full_stop(text: str, boundary: re.Match[str]) -> bool:
    """Whether a single "." ends a sentence, by the words before it and the word after it."""
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
    """Whether a number and its "." open a list item ("1. Wash"), by what stands before them: not so after "No." """
    before = before.rstrip(" \t(")
    if not before or before[-1] in "\n!?:;":
        return True
    return before[-1] == "." and before[:-1].rpartition(" ")[2].lower() not in _BEFORE_NUMBERS


def _careful_starts(text: str) -> Iterator[int]:
    """Where syntok's sentences start."""
    from syntok import segmenter
    from syntok.tokenizer import Tokenizer

    tokens = Tokenizer(emit_hyphen_or_underscore_sep=True, replace_not_contraction=False).split(text)
    for sentence in segmenter.split(iter(tokens)):
        yield sentence[0].offset
