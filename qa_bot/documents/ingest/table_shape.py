"""The shape of tables: which cells are values, and whether the first row names the columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST_NAME = 60  # characters of a column's name, unless what is below it is shorter
LONGEST_VALUE = 60
FILLED = 0.6  # of the columns have a name
VALUE = re.compile(
    r"[-+(]?\s*(?:[$€£¥]|(?-i:[A-Z]{3})\s|CHF|Fr\.)?\s*[-+]?[\d.,'\u00a0\u202f ]*\d[\d.,'\u00a0\u202f ]*\)?\s*"
    r"(?:%|[$€£¥]|(?-i:[A-Z]{3})|e[-+]?\d+)?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d.*)?|\d{1,4}:\d\d(?::\d\d)?(?:[.,]\d{1,6})?"
    r"|true|false|yes|no|-|–|n/?a|[☐☑☒✓✔✗✘]",
    re.IGNORECASE,
)
AMOUNT = re.compile(r"(?!(?:19|20)\d\d\b)\d+(?:[.,]\d+)*\s*\D")
ADDRESS = re.compile(r"https?://|\S+@\S+\.\w")
PERIOD = re.compile(r"\d{4}(?:-\d\d){0,2}(?: 00:00)?|(?:19|20)\d\d/\d\d(?:\d\d)?|\d{1,2}[./]\d{4}")
"""Years, months and days, which name columns if there are none below them."""
UNIT = re.compile(
    r"[\[(]?(?:[kcmµM]?(?:m|g|l|L|A|V|W|J|N|Pa|Hz)|kWh|Wh|m[²³23]|cm[²³23]|l/h|m³/h|km/h|bar|°C|K|%|t|h|d|s|min|mins?|ms|lx"
    r"|dB(?:\(A\))?|€|\$|£|CHF|EUR|USD|GBP|€/[a-zA-Z]{1,5}|pcs\.?|Stk\.?|Stück|Std\.?|Tage|days|hours|inch|in|ft|lbs?|kB|[MGT]B)[\])]?"
)
SAMPLE = 50  # rows
SMALL = 2  # digits
TITLE_WORDS = 4  # of a title above a table, at least: names of groups of columns are shorter


def is_value(text: str) -> bool:
    """Whether a cell is a number, an amount, a date, a time, or yes or no, rather than words."""
    return len(text) <= LONGEST_VALUE and bool(VALUE.fullmatch(text.strip()))


def is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: distinct words or periods, and other rows below.

    A name is short, or longer than what is below it, as the questions of a survey are.
    """
    if len(rows) < 2:
        return False
    below = rows[1:SAMPLE]
    names = [name.strip() for name in rows[0]]
    filled = [name for name in names if name]
    width = len({column for row in below for column, cell in enumerate(row) if cell.strip()})
    corner = names[:1] == [""]  # a table of two dimensions has no name above its first column
    if not filled or len(filled) + corner < FILLED * width or len({*filled}) < len(filled):
        return False
    columns = ([row[column].strip() for row in below if column < len(row)] for column in range(len(names)))
    if len(names) == 2 and _is_amount(names[1], [row[1] for row in below if len(row) > 1]):
        return False
    if _has_measures_beside_labels(names, below):
        return False
    if len(names) == 2 and _is_entry(names[1], [row[1] for row in below if len(row) > 1 and row[1]]):
        return False
    if names not in [[cell.strip() for cell in row] for row in below] and _is_repeated(names, below):
        return False
    is_named = all(not name or _can_name(name, cells) for name, cells in zip(names, columns, strict=True))
    return is_named and not _has_labels(rows)


def header_rows(rows: Sequence[Sequence[str]]) -> int:
    """1 or 2 header rows at the top, or 0. In the first of two, the names of groups are repeated over their columns."""
    if is_header(rows):
        return 1 + _has_units(rows)
    if len(rows) < 3:
        return 0
    groups = [cell for cell in rows[0] if cell]
    is_group_row = len(groups) > 1 and len({*groups}) < len(rows[0]) and not _is_title_row(rows)
    if is_group_row and not any(is_value(cell) and not _counts(cell) for cell in groups) and _has_groups(rows):
        joined = [joined_names(names) for names in zip(rows[0], rows[1], strict=True)]
        if not any(is_value(cell) for cell in rows[1]) and is_header([joined, *rows[2:]]):
            return 2
    return int(_has_repeated_names(rows))


def _counts(name: str) -> bool:
    """Whether a number can name a group of columns: a year or a small one."""
    return PERIOD.fullmatch(name) is not None or (name.isdigit() and len(name) <= SMALL)


def _has_units(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second row has only the units of columns with values, and none for the first."""
    if len(rows) < 3 or rows[1][0] or sum(map(bool, rows[1])) < 2:
        return False
    return all(
        not unit or (UNIT.fullmatch(unit) and all(not row[column] or is_value(row[column]) for row in rows[2:SAMPLE]))
        for column, unit in enumerate(rows[1])
    )


def _has_groups(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row can name groups of columns that the second row names; columns of one name are neighbours.

    A column without a group has the same name in both rows or a name in one of them, unless values are in the groups.
    """
    names = rows[0]
    shared = [number for number, name in enumerate(names) if name and names.count(name) > 1]
    if any(names[number] in names[:number] and names[number - 1] != names[number] for number in shared):
        return False
    pairs = [(name, below) for number, (name, below) in enumerate(zip(*rows[:2], strict=True)) if number not in shared]
    cells = [row[number] for row in rows[2:SAMPLE] for number in shared if row[number]]
    has_values = 2 * sum(map(is_value, cells)) > len(cells)
    return not shared or has_values or all(not (name and below) or name == below for name, below in pairs)


def _has_repeated_names(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is a header, but some of its columns have the same name, which no cell below has."""
    names = rows[0]
    first = [number for number, name in enumerate(names) if not name or name not in names[:number]]
    repeated = {name for name in names if name and names.count(name) > 1}
    if not repeated or len({*names}) < 2 or any(cell in repeated for row in rows[1:SAMPLE] for cell in row):
        return False
    return names[0] != rows[1][0] and is_header([[row[number] for number in first] for row in rows])


def _is_title_row(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is a title, perhaps with a remark ("Rota from May | | new!"), above names of columns."""
    groups = [cell for cell in rows[0] if cell]
    is_sparse = len({*groups}) == len(groups) and 2 * len(groups) <= len(rows[0])
    return is_sparse and len(groups[0].split()) >= TITLE_WORDS and rows[0][0] == groups[0] and is_header(rows[1:])


def joined_names(names: Sequence[str]) -> str:
    """The names of a column in several header rows as one."""
    return " ".join(dict.fromkeys(filter(None, names)))


def _is_amount(name: str, cells: Sequence[str]) -> bool:
    """Whether the second of two columns begins with an amount ("3 bikes") as most cells below: a list of values."""
    counted = sum(bool(AMOUNT.match(cell)) for cell in cells)
    return bool(AMOUNT.match(name)) and 2 * counted >= len(cells)


def _has_measures_beside_labels(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a second column has measures ("230 V") from the first row on: pairs of labels and values, no header.

    Plain values ("5 €") may be below a measure that names their column.
    """
    if len(names) % 2 or any(map(is_value, names)):
        return False
    columns = [
        [row[column] for row in below if column < len(row) and row[column]] for column in range(1, len(names), 2)
    ]
    return any(
        AMOUNT.match(name) and 2 * sum(bool(AMOUNT.match(cell)) and not is_value(cell) for cell in cells) > len(cells)
        for name, cells in zip(names[1::2], columns, strict=True)
    )


def _is_entry(name: str, cells: Sequence[str]) -> bool:
    """Whether the second of two columns begins with a name ("Acme Ltd") above cells of all kinds: a list of values."""
    words = name.split()
    values = sum(is_value(cell) for cell in cells)
    return len(words) > 1 and all(word[0].isupper() for word in words) and 0 < 2 * values < len(cells)


def _is_repeated(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a name is in its column twice more, as what is common to several rows is."""
    return any(
        sum(row[column].strip() == name for row in below if column < len(row)) > 1
        for column, name in enumerate(names)
        if name
    )


def goes_on(rows: Sequence[Sequence[str]], above: Sequence[Sequence[str]]) -> bool:
    """Whether rows of the width of those above go on with them: the first is no header by its cells.

    Each cell of the first row is a value, a few words or a text, as most cells of its column are, above and below.
    """
    return all(
        not cell
        or not (kinds := [_kind(row[column]) for row in part[:SAMPLE] if row[column]])
        or 2 * kinds.count(_kind(cell)) >= len(kinds)
        for part in (rows[1:], above)
        for column, cell in enumerate(rows[0])
    )


def _kind(cell: str) -> str:
    return "value" if is_value(cell) else "words" if len(cell) <= LONGEST_NAME else "text"


def _can_name(name: str, cells: Sequence[str]) -> bool:
    """Whether a column with these cells can have this name."""
    if len(name) > LONGEST_NAME:
        lengths = [len(cell) for cell in cells if cell]
        return name.endswith("?") or (bool(lengths) and 2 * max(lengths) < len(name))
    if PERIOD.fullmatch(name):
        return not any(PERIOD.fullmatch(cell) for cell in cells)
    return not ADDRESS.match(name) and (name.lower() == "no" or not is_value(name))


def _has_labels(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first column names its row ("Name: | Anna"), so that the first row is like the others."""
    labels = [row[0].strip() for row in rows[:SAMPLE] if row and row[0].strip()]
    return len(labels) > 1 and sum(label.endswith(":") for label in labels) > len(labels) / 2
