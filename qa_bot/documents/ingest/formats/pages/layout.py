"""From the rows of all pages to Markdown: what repeats is dropped, tables are found, columns are put in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from qa_bot.documents.ingest.formats.pages.columns import regions
from qa_bot.documents.ingest.formats.pages.flow import Flow
from qa_bot.documents.ingest.formats.pages.lines import Line, Rule, joined
from qa_bot.documents.ingest.formats.pages.running_lines import RunningLines
from qa_bot.documents.ingest.formats.pages.tables import split_tables
from qa_bot.documents.ingest.formats.pages.typography import LARGER, Typography

LARGER_RECOGNISED = 1.4  # times the body's size; a recognised line is as high as its letters happen to be


class PageRows(NamedTuple):
    """A page that could be read: its number and height, its rows and drawn rules."""

    number: int
    height: float
    rows: list[list[Line]]
    rules: list[Rule]


def written(pages: Sequence[PageRows], outline: Iterable[tuple[int, str]], *, is_recognised: bool = False) -> Flow:
    """The text of a document; `outline` has the level, from 0, and title of each entry of its table of contents."""
    running = RunningLines()
    for page in pages:
        running.count(page.rows, page.height)
    split = [split_tables(running.body(page.rows, page.height), page.rules) for page in pages]
    lines = [[line for row in rest for line in joined(row)] for _, rest in split]
    typography = Typography(outline, larger=LARGER_RECOGNISED if is_recognised else LARGER)
    for page_lines in lines:
        typography.count(page_lines)
    typography.settle()
    flow = Flow(typography)
    for page, (tables, _), page_lines in zip(pages, split, lines, strict=True):
        flow.add(page.number, regions([*page_lines, *tables]))
    flow.end()
    return flow
