"""Passages of a document: cut at headings, then between blocks, each with its place and its searchable units."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter

from qa_bot.documents.cutting.blocks import Block, blocks
from qa_bot.documents.cutting.cut_passage import CutPassage
from qa_bot.documents.cutting.packing import packed
from qa_bot.documents.cutting.pieces import Piece, PieceCutter
from qa_bot.documents.cutting.repeated_blocks import digest_of
from qa_bot.documents.ingest.records import Position
from qa_core.text.markdown_text import plain_line
from qa_core.types import BlockKind, Place, Span


@dataclass(frozen=True, slots=True)
class CutText:
    """`title` is the one given or else the text's only heading of level 1; `blocks` are digests of its blocks."""

    title: str
    passages: list[CutPassage]
    blocks: frozenset[str]


def cut_markdown(
    text: str,
    title: str,
    positions: Sequence[Position] = (),
    *,
    characters: int = 1000,
    language: str = "",
    boilerplate: Collection[str] = (),
) -> CutText:
    """The passages of a Markdown text in order, each of about `characters` at most.

    A passage never spans two sections. It is over the limit only if it is a single row with its header (up to 4
    limits), a block of code (2 limits), or a list with the sentence that introduces it (1.5 limits). Headings are in
    `place.heading`, not in the text; those without text below them are separate passages. The document's own
    heading, of level 1, is in neither: it equals the title or, if there is no title, is the only one of its level.

    Args:
        positions: where pages and rows of sheets begin.
        language: a code of ISO 639-1, for sentences.
        boilerplate: digests of blocks that become separate passages without units, unless that is the whole text.
    """
    if characters < 1:
        raise ValueError(f"Expected characters ≥ 1, but got {characters}.")
    document = blocks(text)
    title = title or _own_heading(document)
    digests = {digest for block in document if (digest := _digest(text, block))}
    hidden = frozenset(boilerplate) if digests.difference(boilerplate) else frozenset()
    finder, cutter = _PlaceFinder(text, positions), PieceCutter(text, characters, language)
    passages = [
        finder.passage(chosen, heading, is_hidden=is_hidden)
        for heading, section in _sections(document, title)
        for is_hidden, group in groupby(section, lambda block: bool(hidden) and _digest(text, block) in hidden)
        for chosen in packed(cutter.section(list(group)), characters)
    ]
    return CutText(title, passages, frozenset(digests))


def _digest(text: str, block: Block) -> str:
    return "" if block.type == "heading" else digest_of(text[block.start : block.end])


def _own_heading(document: Sequence[Block]) -> str:
    firsts = [block for block in document if block.type == "heading" and block.level == 1]
    return plain_line(firsts[0].words) if len(firsts) == 1 else ""


@dataclass(frozen=True, slots=True)
class _Section:
    """The blocks below a heading, up to the next one; `heading` is None at the start, and for the document's own."""

    level: int
    path: tuple[str, ...]
    heading: Block | None
    blocks: list[Block]


def _sections(document: Sequence[Block], title: str) -> Iterator[tuple[tuple[str, ...], Sequence[Block]]]:
    """Heading path and blocks of each section with text; neighbouring headings that head nothing are one section."""
    sections = _headed(document, _folded(title))
    idle = [_heads_nothing(section, following) for section, following in pairwise([*sections, None]) if section]
    for (is_idle, above), group in groupby(
        zip(idle, sections, strict=True), lambda pair: (pair[0], pair[1].path[:-1] if pair[0] else ())
    ):
        members = [section for _, section in group]
        if is_idle:
            yield above, [section.heading for section in members if section.heading]
        else:
            yield from ((section.path, section.blocks) for section in members if section.blocks)


def _headed(document: Sequence[Block], own_title: str) -> list[_Section]:
    path: list[tuple[int, str]] = []
    sections = [_Section(0, (), None, [])]
    for block in document:
        if block.type != "heading":
            sections[-1].blocks.append(block)
            continue
        words = plain_line(block.words)
        path = [(level, above) for level, above in path if level < block.level]
        is_own = block.level == 1 and _folded(words) == own_title
        if words and not is_own:
            path.append((block.level, words))
        heading = None if is_own or not words else block
        sections.append(_Section(block.level, tuple(above for _, above in path), heading, []))
    return sections


def _heads_nothing(section: _Section, following: _Section | None) -> bool:
    return (
        section.heading is not None and not section.blocks and (following is None or following.level <= section.level)
    )


def _folded(title: str) -> str:
    return " ".join(plain_line(title).casefold().split())


_offset = itemgetter(0)


class _PlaceFinder:
    """Finds pages and rows of passages."""

    def __init__(self, text: str, positions: Sequence[Position]) -> None:
        self._text = text
        self._pages = sorted((offset, page) for offset, page, _ in positions if page is not None)
        self._rows = sorted((offset, row) for offset, _, row in positions if row is not None)

    def passage(self, pieces: Sequence[Piece], heading: tuple[str, ...], *, is_hidden: bool) -> CutPassage:
        first, last = pieces[0], pieces[-1]
        shift = len(first.prefix) - first.start
        text = f"{first.prefix}{self._text[first.start : last.end]}{last.suffix}"
        units = tuple((start + shift, end + shift) for piece in pieces for start, end in piece.units)
        units = () if is_hidden else _with_fence(units, first, last, len(text))
        kind = "boilerplate" if is_hidden else _kind(pieces)
        row_start, row = self._row(pieces)
        marks, start = (self._pages, first.start) if row is None else (self._rows, row_start)
        marks = marks[bisect_right(marks, start, key=_offset) : bisect_left(marks, last.end, key=_offset)]
        later = tuple((offset + shift, number) for offset, number in marks)
        place = Place(heading, self._page(first.start), row, kind, later)
        return CutPassage(text, first.start, last.end, place, units)

    def _page(self, start: int) -> int | None:
        index = bisect_right(self._pages, start, key=_offset)
        return self._pages[index - 1][1] if index else None

    def _row(self, pieces: Sequence[Piece]) -> tuple[int, int | None]:
        """Start and number of the first row of a table: rows are lines below the position of the table's first row."""
        table = next((piece for piece in pieces if piece.kind == "table"), None)
        if table is None:
            return 0, None
        row_start = next((start for start, _ in table.units if self._text.startswith("|", start)), table.start)
        index = bisect_right(self._rows, row_start, key=_offset)
        if not index:
            return 0, None
        offset, row = self._rows[index - 1]
        between = self._text[offset:row_start]
        return row_start, row + between.count("\n") if "\n\n" not in between else None


def _with_fence(units: tuple[Span, ...], first: Piece, last: Piece, size: int) -> tuple[Span, ...]:
    """The units, of which code that was cut includes the fence added to it."""
    if first.kind == "code" and first.prefix:
        units = ((0, units[0][1]), *units[1:])
    if last.suffix:
        units = (*units[:-1], (units[-1][0], size))
    return units


def _kind(pieces: Sequence[Piece]) -> BlockKind:
    """The kind of most of the characters; prose if none has more than half."""
    sizes: Counter[BlockKind] = Counter()
    for piece in pieces:
        sizes[piece.kind] += piece.end - piece.start
    kind, size = sizes.most_common(1)[0]
    return kind if 2 * size > sizes.total() else "prose"
