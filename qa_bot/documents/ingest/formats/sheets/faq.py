"""Sheets of questions with their answers: a record for each row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from qa_bot.documents.ingest.dates import first_day, iso_date
from qa_bot.documents.ingest.files.decoding import Repairs
from qa_bot.documents.ingest.formats.field_markup import field_text, plain_field
from qa_bot.documents.ingest.formats.pair_names import ANSWERS, QUESTIONS, is_named_by
from qa_bot.documents.ingest.formats.sheets.sheet_tables import Table
from qa_bot.documents.ingest.records import Item, Position, Record, Reject
from qa_core.text.languages import LANGUAGES, language_code

IDS = {"id", "_id"}
COUNTS = {"nr", "nr.", "no", "no.", "#", "row", "zeile"}
LINKS = {"url", "link", "href", "quelle", "lien", "enlace"}
TAGS = {
    "category",
    "categories",
    "kategorie",
    "catégorie",
    "categoría",
    "topic",
    "thema",
    "thème",
    "tema",
    "tag",
    "tags",
}
MARK = re.compile(r"([^\W_]+)[\s_-]*[\s_([-]([^\W_]+)(?:[_-][a-z]{2})?[)\]]?")
"""A name with a mark behind it: "question (en)", "frage de", "answer_pt-br"."""
OTHER_WORDS = {"id", "no"}
"""Codes of languages that are other words behind a name."""
DATES = {"date", "updated", "modified", "datum", "stand", "fecha"}
BODIES = {"body", "details", "description", "beschreibung"}


class Pair(NamedTuple):
    """The columns of a question and its answer, and their language if the header says it."""

    question: int
    answer: int
    language: str


class Columns(NamedTuple):
    """Columns of an FAQ sheet by position; `others` are added to the answers with their names."""

    pairs: tuple[Pair, ...]
    id: int | None
    url: int | None
    tags: int | None
    date: int | None
    body: int | None
    others: tuple[int, ...]


def faq_columns(header: Sequence[str]) -> Columns | None:
    """The columns of an FAQ sheet, or None if its header has no question or no answer."""
    names = [_name(cell) for cell in header]
    pairs = _pairs(_with_plain_names([_without_mark(name) for name in names]))
    if not pairs:
        return None
    ids, links, tags, dates, bodies = (_find(names, words) for words in (IDS, LINKS, TAGS, DATES, BODIES))
    known = {ids, links, tags, dates, bodies, *(column for pair in pairs for column in (pair.question, pair.answer))}
    others = tuple(number for number, name in enumerate(names) if name and name not in COUNTS and number not in known)
    return Columns(pairs, ids, links, tags, dates, bodies, others)


def _with_plain_names(names: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The names with languages; the only column that a longer name says to be of questions or answers is named so."""
    plain = list(names)
    for words, word in ((QUESTIONS, "question"), (ANSWERS, "answer")):
        longer = [number for number, (name, _) in enumerate(names) if is_named_by(name, words)]
        if len(longer) == 1 and not any(name in words for name, _ in names):
            plain[longer[0]] = (word, names[longer[0]][1])
    return plain


def _pairs(names: Sequence[tuple[str, str]]) -> tuple[Pair, ...]:
    """Each question with the next answer that is left and in its language; names are with their languages."""
    answers = [(number, language) for number, (name, language) in enumerate(names) if name in ANSWERS]
    pairs = []
    for question, (name, language) in enumerate(names):
        if name in QUESTIONS:
            same = (answer for answer in answers if answer[1] == language)
            other = (answer for answer in answers if not language or not answer[1])
            answer = next(chain(same, other), None)
            if answer is not None:
                answers.remove(answer)
                pairs.append(Pair(question, answer[0], language or answer[1]))
    return tuple(pairs)


def faq_records(
    table: Table, columns: Columns, *, prefix: str, where: str, repairs: Repairs, has_unique_ids: bool
) -> Iterator[Item]:
    """A record for each question of a row, with its language if it is not the first; rows without an answer rejected.

    The id is `prefix` with the row's id in the sheet or its number; the id in the sheet alone if `has_unique_ids`.
    A row that has only a category names that of the rows below it.
    """
    section = ""
    for number, row in enumerate(table.rows, table.first_row):
        location = f"{where}:{number}"
        name = _cell(row, columns.id)
        name = name if name and has_unique_ids else f"{prefix}{name or number}"
        filled = [pair for pair in columns.pairs if row[pair.question] or row[pair.answer]]
        category = _cell(row, columns.tags)
        if category and sum(map(bool, row)) == 1:
            section = category
            continue
        section = "" if category else section
        for pair in filled or columns.pairs[:1]:
            answer = row[pair.answer]
            question = plain_field(row[pair.question], answer)
            if not question or not field_text(answer).text:
                missing = "question" if not question else "answer"
                reason = f"Expected a question and its answer, but got no {missing}; add it or drop the row."
                yield Reject(location, reason)
                continue
            is_first = pair == columns.pairs[0]
            more = [f"{table.header[column]}: {row[column]}" for column in columns.others if row[column]]
            date = _cell(row, columns.date)
            text, is_markdown = field_text(answer, *more)
            yield Record(
                repairs.clean(name if is_first else f"{name}:{pair.language or columns.pairs.index(pair) + 1}"),
                repairs.clean(" ".join(question.split())),
                repairs.clean(text),
                body=repairs.clean(plain_field(_cell(row, columns.body))),
                url=repairs.clean(_cell(row, columns.url)),
                where=location,
                markdown=is_markdown,
                kind="pair",
                positions=(Position(0, row=number),),
                date=iso_date(date) or first_day(date),
                language=pair.language,
                tags=tuple(filter(None, (tag.strip() for tag in re.split(r"[,;]", category or section)))),
            )


def _cell(row: Sequence[str], column: int | None) -> str:
    return "" if column is None else row[column].strip()


def _name(cell: str) -> str:
    return cell.strip().strip(":?").strip().lower()


def _without_mark(name: str) -> tuple[str, str]:
    """The name of a column without the mark of its language, and the language (ISO 639), "" without a mark."""
    match = MARK.fullmatch(name)
    language = language_code(match[2]) if match and match[2] not in OTHER_WORDS else ""
    return (match[1], language) if match and language in LANGUAGES else (name, "")


def _find(names: Sequence[str], words: set[str]) -> int | None:
    return next((number for number, name in enumerate(names) if name in words), None)
