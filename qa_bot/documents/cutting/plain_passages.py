"""Passages of plain text: cut at sentence boundaries, with overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from qa_bot.documents.cutting.cut_passage import CutPassage
from qa_bot.documents.cutting.sentence_groups import grouped, stripped, word_pieces
from qa_core.text.sentences import sentences as sentences_of
from qa_core.types import NO_PLACE, Place, Span

OVERLAP_SHARE = 3  # repeated sentences take at most 1/3 of a passage


def cut(
    text: str, *, characters: int = 1000, overlap: int = 1, sentences: Callable[[str], list[Span]] | None = None
) -> list[Span]:
    """Spans of passages in order, each at most `characters` long and without outer white space.

    A text that fits stays whole. The last `overlap` sentences of a passage are repeated in the next, if they take at
    most a third of it. A sentence over the limit is cut between words, a word over the limit anywhere. Every
    character except white space is in at least one passage.

    Args:
        sentences: spans of the sentences of a text; by default `qa_core.text.sentences.sentences`.
    """
    if characters < 1 or overlap < 0:
        raise ValueError(f"Expected characters ≥ 1 and overlap ≥ 0, but got {characters} and {overlap}.")
    whole = stripped(text, 0, len(text))
    if whole[1] - whole[0] <= characters:
        return [whole] if whole[0] < whole[1] else []
    return _packed(list(_pieces(text, (sentences or sentences_of)(text), characters)), characters, overlap)


def cut_plain(text: str, spans: Sequence[Span], language: str = "", *, place: Place = NO_PLACE) -> list[CutPassage]:
    """The passages of a plain text at `spans`, all at one place; their units are groups of sentences."""
    passages = []
    for start, end in spans:
        part = text[start:end]
        passages.append(CutPassage(part, start, end, place, tuple(grouped(sentences_of(part, language)))))
    return passages


def _pieces(text: str, sentences: Sequence[Span], characters: int) -> Iterator[Span]:
    """Sentences, from the start of each to the start of the next, in pieces that fit."""
    starts = sorted({0, *(start for start, _ in sentences if 0 < start < len(text))})
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield from word_pieces(text, start, end, characters)


def _packed(pieces: Sequence[Span], characters: int, overlap: int) -> list[Span]:
    passages: list[Span] = []
    first, following = 0, 0
    while following < len(pieces):
        start = pieces[first][0]
        while following < len(pieces) and pieces[following][1] - start <= characters:
            following += 1
        passages.append((start, pieces[following - 1][1]))
        first = _overlap_start(pieces, first, following, characters, overlap)
    return passages


def _overlap_start(pieces: Sequence[Span], first: int, following: int, characters: int, overlap: int) -> int:
    """The piece that the next passage begins with: `following`, or up to `overlap` before it."""
    if following == len(pieces):
        return following
    for start in range(max(first + 1, following - overlap), following):
        repeated = pieces[following - 1][1] - pieces[start][0]
        if repeated * OVERLAP_SHARE <= characters and pieces[following][1] - pieces[start][0] <= characters:
            return start
    return following
