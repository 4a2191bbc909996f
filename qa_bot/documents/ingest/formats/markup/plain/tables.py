"""Lines of cells as tables: divided by tabs, drawn, or aligned by blanks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qa_bot.documents.ingest.formats.markup.plain.aligned import aligned_rows
from qa_bot.documents.ingest.formats.markup.plain.drawn_tables import grid_rows
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

SIGN = re.compile(r"(\s*)(?:([-*•·‣▪◦–—+])|(\d{1,3})[.)]|\(?([a-z])[.)])\s+(\S.*)")
COLUMNS = re.compile(r"\S(?: {2,}|\t+)\S")
PIPES = re.compile(r"\s*\|.*\|\s*")
DASHES = re.compile(r"[\s|:+=-]+")


def write_table(writer: MarkdownWriter, lines: Sequence[str]) -> bool:
    """Write lines of cells as a table, or as code if blanks align them."""
    if len(lines) < 2:
        return False
    tabs = [line.strip().count("\t") for line in lines]
    if min(tabs) and len(set(tabs)) == 1:
        writer.table([line.strip().split("\t") for line in lines])
        return True
    if rows := grid_rows(lines):
        writer.table(rows)
        return True
    if all(PIPES.fullmatch(line) or DASHES.fullmatch(line) for line in lines):
        writer.table([_cells(line) for line in lines if not DASHES.fullmatch(line)])
        return True
    if rows := aligned_rows(lines):
        writer.table(rows)
        return True
    aligned = sum(COLUMNS.search(line.strip()) is not None for line in lines if not SIGN.match(line))
    if aligned >= 2 and aligned * 10 >= len(lines) * 7:
        writer.code("\n".join(lines))
        return True
    return False


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
