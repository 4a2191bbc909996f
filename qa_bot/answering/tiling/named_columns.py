"""The column of a series that a question names: it is shown without the others of its series.

A table that compares models, grades or years has a column for each: "Ember 6", "Ember 8". A question for one of them
is answered by its figures alone. Other columns stay: a question for "Tyre size" may ask for the pressure beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from qa_bot.answering.tiling.table_rows import end_of_table
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.text.markdown_text import header_above
from qa_core.types import Candidate, Span

FEWEST = 3
"""Columns of a table that is narrowed."""
LEAST_SHARE = 0.5
"""Of what tells a column from the others of its series, in the question."""
_LETTER = re.compile(r"(?<![\w'’])[A-Z](?![\w'’.])")
_DIGIT = re.compile(r"\d")
_LAST_PART = re.compile(r"[^?\s][^?]*\??\s*\Z")
"""A follow-up comes after the question before it, which may name another column."""
_COMPARES = re.compile(
    r"\b(?:than|others?|compared?|comparison|differ\w*|instead|both|all|which|als|ander\w*|vergl\w*|unterschied\w*|beid\w*|alle\w*"
    r"|welche\w*)\b",
    re.IGNORECASE,
)
"""A question with it may need the columns that it does not name."""


class _Row(NamedTuple):
    span: Span
    cells: list[str]


class _Column(NamedTuple):
    """The header of a column: what the columns of its series share, and what tells it from them."""

    series: frozenset[str]
    member: frozenset[str]

    def is_beside(self, other: _Column) -> bool:
        """Whether two columns are of one series, as "Ember 6" and "Ember 8", or "Ember 10 Pro" with a further word."""
        if not (self.series and other.series and other.member):
            return self.series == other.series
        return self.series <= other.series or other.series <= self.series


def with_named_columns(candidate: Candidate, question: str) -> Candidate:
    """A candidate whose lead is in a table, without the columns of a series of which the question names others."""
    text, lead = candidate.passage.text, candidate.signals.lead
    header = None if lead is None else header_above(text, text.rfind("\n", 0, lead[0]) + 1)
    if lead is None or header is None or candidate.signals.owner_answer or _COMPARES.search(question):
        return candidate
    table = (header[0], header[0] + end_of_table(text[header[0] :]))
    rows = _rows(text, table)
    if len(rows[0].cells) < FEWEST or any(len(row.cells) != len(rows[0].cells) for row in rows):
        return candidate
    language = analysis_language(candidate.passage.source.details.language)
    turn = _LAST_PART.search(question)
    shown = _shown_columns(rows[0].cells, turn[0] if turn else question, language)
    in_lead = [row for row in rows[2:] if row.span[0] < lead[1] and row.span[1] > lead[0]]
    if not in_lead or len(shown) == len(rows[0].cells):
        return candidate
    lines = [f"| {' | '.join(row.cells[at] for at in shown)} |" for row in rows]
    narrow = "\n".join(lines)
    first, last = rows.index(in_lead[0]), rows.index(in_lead[-1])
    start = table[0] + sum(len(line) + 1 for line in lines[:first])
    end = table[0] + sum(len(line) + 1 for line in lines[: last + 1]) - 1
    behind = max(0, lead[1] - table[1])
    return replace(
        candidate,
        passage=replace(candidate.passage, text=f"{text[: table[0]]}{narrow}{text[table[1] :]}"),
        signals=replace(candidate.signals, lead=(start, end + behind)),
    )


def _rows(text: str, table: Span) -> list[_Row]:
    rows, start = [], table[0]
    for line in text[slice(*table)].split("\n"):
        rows.append(_Row((start, start + len(line)), [cell.strip() for cell in line.strip().strip("|").split("|")]))
        start += len(line) + 1
    return rows


def _shown_columns(header: Sequence[str], question: str, language: str) -> list[int]:
    """The columns without those of a series of which the question names others better."""
    columns = [_column(cell, language) for cell in header]
    of_question = _terms(question, language)
    shares = [len(column.member & of_question) / max(1, len(column.member)) for column in columns]

    def is_shown_columns(at: int) -> bool:
        of_series = [share for share, column in zip(shares, columns, strict=True) if columns[at].is_beside(column)]
        return not columns[at].member or max(of_series) < LEAST_SHARE or shares[at] == max(of_series)

    return [at for at in range(len(header)) if at == 0 or is_shown_columns(at)]


def _column(header: str, language: str) -> _Column:
    of_header = _terms(header, language)
    member = {term for term in of_header if _DIGIT.search(term) or len(term) == 1}
    return _Column(frozenset(of_header - member), frozenset(member))


def _terms(text: str, language: str) -> set[str]:
    """Index terms, and letters that are names: the A of "grade A"."""
    return {*terms(text, language), *(letter.casefold() for letter in _LETTER.findall(text))}
