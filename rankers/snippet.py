"""Search snippets: the sentences that show best why a passage was found, the body of a clue (Wang 2018, §7.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from qa_core.text.analysis import sentences

LENGTH = 300
"""Longest snippet in characters, about two lines of a page of results."""


def snippet(
    text: str, query_terms: Collection[str] = (), *, analyse: Callable[[str], Sequence[str]], length: int = LENGTH
) -> str:
    """Neighbouring sentences of at most `length` characters with the most distinct `query_terms`, the first of equals.

    A first sentence that is longer is cut. Without query terms the snippet is the beginning of the text.
    """
    if len(text) <= length:
        return text.strip()
    spans = sentences(text)
    held = [set(analyse(text[start:end])).intersection(query_terms) if query_terms else set() for start, end in spans]
    best, most = (0, 0), -1
    for first, (start, _) in enumerate(spans):
        last, terms = first, set(held[first])
        while last + 1 < len(spans) and spans[last + 1][1] - start <= length:
            last += 1
            terms |= held[last]
        if len(terms) > most:
            best, most = (start, spans[last][1]), len(terms)
    start, end = best
    return text[start : min(end, start + length)].strip()
