"""Groups of sentences: the parts of a text that are searched one by one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from qa_core.text.sentences import sentences
from qa_core.types import Span

SHORT = 60
"""Characters; a shorter sentence is searched together with its neighbour."""

_UNBROKEN = re.compile(r"`[^`\n]{1,300}`|!?\[[^\]\n]{1,300}\]\([^)\s]{0,500}\)|<(?:https?|mailto):[^>\s]{1,500}>")
"""Code and links in a line: no sentence ends inside."""


def sentence_spans(text: str, start: int, end: int, language: str = "") -> list[Span]:
    """Spans of the sentences of `text[start:end]`; none ends inside a link or inside code."""
    stretch = text[start:end]
    spans = sentences(stretch, language)
    if len(spans) > 1 and ("`" in stretch or "](" in stretch or "<" in stretch):
        spans = _joined(spans, [match.span() for match in _UNBROKEN.finditer(stretch)])
    return [(start + first, start + last) for first, last in spans]


def _joined(spans: list[Span], unbroken: list[Span]) -> list[Span]:
    """The spans, joined if one begins inside an unbroken stretch."""
    joined = spans[:1]
    stretches = iter(unbroken)
    stretch = next(stretches, None)
    for start, end in spans[1:]:
        while stretch and stretch[1] <= start:
            stretch = next(stretches, None)
        if stretch and stretch[0] < start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def grouped(spans: Iterable[Span], longest: int | None = None) -> list[Span]:
    """Neighbouring sentences joined while they are short; a short last one joins the group before it.

    Args:
        longest: characters of a group at most, unless it is one sentence; by default there is no limit.
    """
    groups: list[Span] = []
    for span in spans:
        if not groups or not _is_short(groups[-1]) or not _join_last(groups, span, longest):
            groups.append(span)
    if len(groups) > 1 and _is_short(groups[-1]):
        last = groups.pop()
        if not _join_last(groups, last, longest):
            groups.append(last)
    return groups


def _is_short(group: Span) -> bool:
    return group[1] - group[0] < SHORT


def _join_last(groups: list[Span], span: Span, longest: int | None) -> bool:
    """Extend the last group to the end of the span, if that is not too long."""
    if longest is not None and span[1] - groups[-1][0] > longest:
        return False
    groups[-1] = groups[-1][0], span[1]
    return True


def word_pieces(text: str, start: int, end: int, characters: int) -> Iterator[Span]:
    """A long stretch in pieces of at most `characters`, cut between words; a word over the limit is cut anywhere."""
    start = _skip_blanks(text, start, end)
    while end - start > characters:
        bound = _word_bound(text, start, start + characters)
        yield start, start + len(text[start:bound].rstrip())
        start = _skip_blanks(text, bound, end)
    if start < end:
        yield start, start + len(text[start:end].rstrip())


def _word_bound(text: str, start: int, end: int) -> int:
    """The last end of a word in the stretch, given that a character follows it; the stretch's end without one."""
    if text[end].isspace():
        return end
    bounds = [match.start() for match in re.finditer(r"\s+", text[start:end])]
    return start + bounds[-1] if bounds and bounds[-1] else end


def _skip_blanks(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start


def stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without outer white space."""
    stretch = text[start:end]
    left = len(stretch) - len(stretch.lstrip())
    return start + left, start + max(left, len(stretch.rstrip()))
