"""Decimals of columns: a sheet without formats keeps 9.90 as 9.9, below 12.95."""

from __future__ import annotations

import re
from collections.abc import Sequence

CENTS = 2  # decimals
FEWEST = 2  # cells with two decimals
NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?")
MONEY = re.compile(r"[$€£¥]|\b(?:EUR|USD|GBP|CHF|euros?|dollars?|pounds?|Franken)\b", re.IGNORECASE)


def add_cents(header: Sequence[str], rows: Sequence[list[str]]) -> None:
    """Give two decimals to all numbers of a column in a currency, or to those with one if most of the others have two.

    A column with a number of more decimals stays.
    """
    for column in range(max(map(len, rows), default=0)):
        if any(len(row) > column and row[column][-2:-1] == "." for row in rows):
            _fill(column, rows, is_money=column < len(header) and MONEY.search(header[column]) is not None)


def _fill(column: int, rows: Sequence[list[str]], *, is_money: bool) -> None:
    cells = [(row, match) for row in rows if len(row) > column and (match := NUMBER.fullmatch(row[column]))]
    counts = [len(match[1] or "") for _, match in cells]
    two, one = counts.count(CENTS), counts.count(1)
    if max(counts, default=0) > CENTS or not (is_money or (two >= FEWEST and two > one)):
        return
    for (row, _), count in zip(cells, counts, strict=True):
        if count == 1:
            row[column] += "0"
        elif is_money and not count:
            row[column] += ".00"
