"""Rows of a table that a question names: they are shown without the others, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from qa_bot.answering.tiling.leads.cited_place import with_row
from qa_bot.answering.tiling.question_parts import parts_of
from qa_bot.answering.tiling.table_rows import end_of_table, first_cell, row_names
from qa_bot.answering.verification.roles import AskedRole
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.text.markdown_text import header_above
from qa_core.types import Candidate, Span
from retrievers.question_terms import content_terms

LONG_TABLE = 300
"""Characters of a table from which on several named rows, or those of which a word is named, are shown alone: a reader
sees a shorter one at once. With 450, and short tables in order, an answer of a manual has its figure too late; with
300 none of 27 collections loses, two gain. Of a shorter one only a row is that its whole first cell names."""
MOST = 0.5
"""Share of the rows with a word in their first cells, or naming them all, above which it names none."""


class _Group(NamedTuple):
    """A row and those below it whose first cells are empty."""

    span: Span
    name: frozenset[str]
    """Terms of the first cell."""
    numbers: frozenset[str]
    """Terms of the question whose number names a row."""
    terms: frozenset[str]


def with_named_rows(candidate: Candidate, question: str) -> Candidate:
    """A candidate whose lead is in a table, with the rows that the question names as the table's only ones.

    “What do the carer and the trade permit cost?” names the rows of which “Carer” and “Trade” are the first cells. The
    table stays if the lead has none of these rows, since the question then asks for something else. A short one also
    stays if the question has two parts, or the row has a longer name than the question. A question for who has a role
    names the rows of these people.
    """
    text, lead = candidate.passage.text, candidate.signals.lead
    header = None if lead is None else header_above(text, lead[0])
    if lead is None or header is None or candidate.signals.owner_answer:
        return candidate
    end = header[0] + end_of_table(text[header[0] :])
    language = analysis_language(candidate.passage.source.details.language)
    counts, role = Counter(terms(question, language)), AskedRole.of(question)
    groups = _groups(text, (header[1], end), set(content_terms(question, language)), language)
    holders = [group for group in groups if role.is_held(text[slice(*group.span)], language)]
    named = holders or _named(groups, frozenset(term for term, count in counts.items() if count > 1))
    if not holders and end - header[0] < LONG_TABLE and (parts_of(question) or not _is_one(named, groups)):
        return candidate
    spans = [group.span for group in named]
    in_lead = [span for span in spans if span[0] < lead[1] and span[1] > lead[0]]
    if not in_lead:
        return candidate
    rows = "\n".join(text[slice(*span)] for span in spans)
    shorter = f"{text[: header[1]]}{rows}{text[end:]}"
    return replace(
        candidate,
        passage=replace(candidate.passage, text=shorter, place=with_row(candidate.passage.place, text, in_lead[0][0])),
        signals=replace(candidate.signals, lead=(header[1], header[1] + len(rows))),
    )


def _groups(text: str, rows: Span, question: Collection[str], language: str) -> list[_Group]:
    groups: list[_Group] = []
    start = rows[0]
    while start < rows[1]:
        end = text.find("\n", start, rows[1])
        end = rows[1] if end < 0 else end
        row = text[start:end]
        cell, present = first_cell(row), frozenset(terms(row, language)).intersection(question)
        if groups and not cell:
            groups[-1] = groups[-1]._replace(span=(groups[-1].span[0], end), terms=groups[-1].terms | present)
        else:
            numbers = row_names(text, (start, end), question, language)
            groups.append(_Group((start, end), frozenset(terms(cell, language)), numbers, present | numbers))
        start = end + 1
    return groups


def _named(groups: Sequence[_Group], repeated: frozenset[str]) -> list[_Group]:
    """The groups that the question names; none if it names most of them, or if another row has more of its terms.

    Args:
        repeated: terms that the question has more than once.
    """
    most = MOST * len(groups)
    telling = {
        term
        for term in frozenset[str]().union(*(group.terms & group.name for group in groups))
        if sum(term in group.name for group in groups) <= most
    }
    named = [group for group in groups if group.numbers or group.name & group.terms & telling]
    named = [group for group in named if _is_meant(group, named, repeated)]
    fullest = max((len(group.terms) for group in groups), default=0)
    is_fullest = any(len(group.terms) == fullest for group in named)
    return named if is_fullest and len(named) <= most else []


def _is_one(named: Sequence[_Group], groups: Sequence[_Group]) -> bool:
    """Whether one row is named, by its number or by all of its name that most others do not have."""
    if len(named) != 1:
        return False
    telling = {term for term in named[0].name if sum(term in group.name for group in groups) <= MOST * len(groups)}
    return bool(named[0].numbers) or telling <= named[0].terms


def _is_meant(group: _Group, named: Sequence[_Group], repeated: frozenset[str]) -> bool:
    """Whether no other row has more of the question, or the question has the whole name, which only this row has.

    “Moov Duo” is not the row “Moov”, unless the question has “Moov” again.
    """
    if not any(group.terms < other.terms for other in named):
        return True
    if not group.name <= group.terms or sum(other.name == group.name for other in named) > 1:
        return False
    return group.name <= repeated or not any(group.name < other.name <= other.terms for other in named)
