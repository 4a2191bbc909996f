"""From the rows of all pages to Markdown: what repeats is dropped, tables are found, columns are put in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from qa_bot.documents.ingest.formats.pages.columns import Box, Frame, framed, prose_parts, regions
from qa_bot.documents.ingest.formats.pages.flow import Flow
from qa_bot.documents.ingest.formats.pages.lines import Line, Rule, Upright, joined
from qa_bot.documents.ingest.formats.pages.running_lines import RunningLines
from qa_bot.documents.ingest.formats.pages.tables.aligned import split_tables
from qa_bot.documents.ingest.formats.pages.tables.drawn import drawn_tables
from qa_bot.documents.ingest.formats.pages.tables.table import Table
from qa_bot.documents.ingest.formats.pages.typography import LARGER, Typography

LARGER_RECOGNISED = 1.4  # times the body's size; a recognised line is as high as its letters happen to be

ENTRY = re.compile(r"(?P<title>\S.*?)(?P<leaders>(?:\s*[.·…_]){3,})?\s*(?<!\d)(?P<page>\d{1,4})")
"""An entry of a table of contents: a title, often leaders, and the number of a page."""
FEWEST_ENTRIES = 4
FEWEST_WITH_LEADERS = 3  # if all have leaders
CONTENTS = re.compile(
    r"(?:table of )?contents|inhalt(?:sverzeichnis|sübersicht)?|sommaire|table des matières|índice|indice|sommario"
    r"|inhoud(?:sopgave)?|sumário|spis treści|indholdsfortegnelse|innehåll(?:sförteckning)?|innhold",
    re.IGNORECASE,
)
"""The heading of a table of contents."""
ENTRIES_SHARE = 0.5  # of the entries have leaders, or a title that is a separate line elsewhere


class PageRows(NamedTuple):
    """A page that could be read: its number and height, its rows, remarks on it, and drawn lines."""

    number: int
    height: float
    rows: list[list[Line]]
    rules: list[Rule]
    notes: Sequence[str] = ()
    uprights: Sequence[Upright] = ()
    width: float = 0.0  # or unknown


def written(pages: Sequence[PageRows], outline: Iterable[tuple[int, str]], *, is_recognised: bool = False) -> Flow:
    """The text of a document; `outline` has the level, from 0, and title of each entry of its table of contents."""
    running = RunningLines()
    for page in pages:
        running.count(page.rows, page.height)
    bodies = without_contents([running.body(page.rows, page.height) for page in pages])
    boxes = [_boxes(rows, page.rules, page.uprights) for rows, page in zip(bodies, pages, strict=True)]
    typography = Typography(outline, larger=LARGER_RECOGNISED if is_recognised else LARGER)
    for page_boxes in boxes:
        inner = [part for box in page_boxes for part in (box.boxes if isinstance(box, Frame) else [box])]
        typography.count(box for box in inner if isinstance(box, Line))
        for table in (box for box in inner if isinstance(box, Table)):
            typography.count_cells(table.size, sum(map(len, chain(*table.rows))))
    typography.settle()
    flow = Flow(typography)
    for page, page_boxes in zip(pages, boxes, strict=True):
        flow.add(page.number, regions(page_boxes), page.notes, page.width)
    flow.end()
    return flow


def _boxes(rows: Sequence[list[Line]], rules: Sequence[Rule], uprights: Sequence[Upright]) -> list[Box]:
    """The lines, tables and frames of a page, each in its column."""
    drawn, rows = drawn_tables(rows, rules, uprights)
    boxes: list[Box] = [*drawn]
    for part in prose_parts(rows, rules):
        frames, rest = framed(part, rules)
        boxes += _lines_and_tables(rest, rules)
        for frame in frames:
            inner = _lines_and_tables(frame, rules)
            left, top = min(box.left for box in inner), min(box.top for box in inner)
            boxes.append(Frame(inner, left, top, max(box.right for box in inner), max(box.bottom for box in inner)))
    return boxes


def _lines_and_tables(rows: Sequence[list[Line]], rules: Sequence[Rule]) -> list[Line | Table]:
    tables, rest = split_tables(rows, rules)
    inner: list[Line | Table] = [*(line for row in rest for line in joined(row)), *tables]
    return sorted(inner, key=lambda box: (box.top, box.left))


def without_contents(pages: Sequence[list[list[Line]]]) -> list[list[list[Line]]]:
    """The rows of pages without those of tables of contents, which repeat the headings and answer nothing.

    A menu with dots before its prices is none: numbers of pages do not fall, and are not above that of the last page.
    """
    texts = [[" ".join(line.text for line in row) for row in rows] for rows in pages]
    lines = {_folded(text) for page in texts for text in page}
    bodies = []
    for rows, page in zip(pages, texts, strict=True):
        entries = [ENTRY.fullmatch(text) for text in page]
        runs = [run for run in _runs(entries) if _is_contents(entries, run, lines, len(pages))]
        inside = {index for run in runs for index in run}
        inside |= {run.start - 1 for run in runs if run.start and CONTENTS.fullmatch(page[run.start - 1])}
        bodies.append([row for index, row in enumerate(rows) if index not in inside])
    return bodies


def _runs(entries: Sequence[re.Match[str] | None]) -> list[range]:
    """Stretches of entries; a single row between two entries is the beginning of a long title."""
    places = [index for index, entry in enumerate(entries) if entry]
    ends = [index for index, following in pairwise(places) if following - index > 2]
    starts = [following for index, following in pairwise(places) if following - index > 2]
    return [range(start, end + 1) for start, end in zip([*places[:1], *starts], [*ends, *places[-1:]], strict=True)]


def _is_contents(entries: Sequence[re.Match[str] | None], run: range, lines: set[str], pages: int) -> bool:
    inside = [entry for entry in entries[run.start : run.stop] if entry]
    numbers = [int(entry["page"]) for entry in inside]
    fewest = FEWEST_WITH_LEADERS if all(entry["leaders"] for entry in inside) else FEWEST_ENTRIES
    if len(inside) < fewest or numbers != sorted(numbers) or numbers[-1] > pages:
        return False
    named = sum(bool(entry["leaders"]) or _folded(entry["title"]) in lines for entry in inside)
    return named >= ENTRIES_SHARE * len(inside)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
