"""The shape of tables: which cells are values, and whether the first row names the columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST_NAME = 60  # characters of a column's name
VALUE = re.compile(
    r"[-+(]?\s*(?:[$€£¥]|[A-Z]{3}\s|CHF|Fr\.)?\s*[-+]?[\d.,'\u00a0\u202f ]*\d[\d.,'\u00a0\u202f ]*\)?\s*"
    r"(?:%|[$€£¥]|[A-Z]{3}|[eE][-+]?\d+)?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d.*)?|\d{1,2}:\d\d(?::\d\d)?"
    r"|true|false|yes|no|-|–|n/?a",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"https?://|\S+@\S+\.\w")


def is_value(text: str) -> bool:
    """Whether a cell is a number, an amount, a date, a time, or yes or no, rather than words."""
    return len(text) <= LONGEST_NAME and bool(VALUE.fullmatch(text.strip()))


def is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: short, distinct words without values, and other rows below."""
    if len(rows) < 2:
        return False
    names = [name.strip() for name in rows[0]]
    filled = [name for name in names if name]
    if len(filled) < max(1, 0.6 * _width(rows)) or len({*filled}) < len(filled):
        return False
    return not any(_cannot_name(name) for name in filled) and not _has_labels(rows)


def _width(rows: Sequence[Sequence[str]]) -> int:
    """Number of columns with text in the rows below the first."""
    return len({column for row in rows[1:50] for column, cell in enumerate(row) if cell.strip()})


def _cannot_name(name: str) -> bool:
    is_year = re.fullmatch(r"(?:19|20)\d\d|Q[1-4]", name)
    return len(name) > LONGEST_NAME or bool(ADDRESS.match(name)) or (is_value(name) and not is_year)


def _has_labels(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first column names its row ("Name: | Anna"), so that the first row is like the others."""
    labels = [row[0].strip() for row in rows if row and row[0].strip()]
    return len(labels) > 1 and sum(label.endswith(":") for label in labels) > len(labels) / 2
