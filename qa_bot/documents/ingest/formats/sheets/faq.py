"""Sheets of questions with their answers: a record for each row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qa_bot.documents.ingest.files.decoding import Repairs
from qa_bot.documents.ingest.formats.office.properties import iso_date
from qa_bot.documents.ingest.formats.sheets.sheet_tables import Table
from qa_bot.documents.ingest.records import Item, Position, Record, Reject

QUESTIONS = {
    *("q", "question", "questions", "frage", "fragen", "pregunta", "preguntas", "domanda", "domande"),
    *("vraag", "vragen", "pergunta", "perguntas", "fråga", "spørgsmål", "spørsmål", "kysymys", "pytanie"),
    *("вопрос", "質問", "问题"),
}
ANSWERS = {
    *("a", "answer", "answers", "antwort", "antworten", "réponse", "réponses", "reponse", "reponses"),
    *("respuesta", "respuestas", "risposta", "risposte", "antwoord", "antwoorden", "resposta", "respostas"),
    *("svar", "vastaus", "odpowiedź", "ответ", "回答", "答案"),
}
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
DATES = {"date", "updated", "modified", "datum", "stand", "fecha"}
BODIES = {"body", "details", "description", "beschreibung"}


class Columns(NamedTuple):
    """Columns of an FAQ sheet by position; `others` are added to the answer with their names."""

    question: int
    answer: int
    id: int | None
    url: int | None
    tags: int | None
    date: int | None
    body: int | None
    others: tuple[int, ...]


def faq_columns(header: Sequence[str]) -> Columns | None:
    """The columns of an FAQ sheet, or None if its header has no question or no answer."""
    names = [_name(cell) for cell in header]
    questions, answers = _find(names, QUESTIONS), _find(names, ANSWERS)
    if questions is None or answers is None:
        return None
    ids, links, tags, dates, bodies = (_find(names, words) for words in (IDS, LINKS, TAGS, DATES, BODIES))
    known = {questions, answers, ids, links, tags, dates, bodies}
    others = tuple(number for number, name in enumerate(names) if name and name not in COUNTS and number not in known)
    return Columns(questions, answers, ids, links, tags, dates, bodies, others)


def faq_records(table: Table, columns: Columns, *, prefix: str, where: str, repairs: Repairs) -> Iterator[Item]:
    """A record for each row, with the id `prefix` + row, unless the sheet has ids; rows without an answer rejected."""
    for number, row in enumerate(table.rows, table.first_row):
        question, answer = row[columns.question], row[columns.answer]
        location = f"{where}:{number}"
        if not question or not answer:
            missing = "question" if not question else "answer"
            yield Reject(location, f"Expected a question and its answer, but got no {missing}; add it or drop the row.")
            continue
        more = [f"{table.header[column]}: {row[column]}" for column in columns.others if row[column]]
        yield Record(
            repairs.clean(_cell(row, columns.id) or f"{prefix}{number}"),
            repairs.clean(" ".join(question.split())),
            repairs.clean("\n\n".join([answer, *more])),
            body=repairs.clean(_cell(row, columns.body)),
            url=repairs.clean(_cell(row, columns.url)),
            where=location,
            kind="pair",
            positions=(Position(0, row=number),),
            date=iso_date(_cell(row, columns.date)),
            tags=tuple(filter(None, (tag.strip() for tag in re.split(r"[,;]", _cell(row, columns.tags))))),
        )


def _cell(row: Sequence[str], column: int | None) -> str:
    return "" if column is None else row[column].strip()


def _name(cell: str) -> str:
    return cell.strip().strip(":?").strip().lower()


def _find(names: Sequence[str], words: set[str]) -> int | None:
    return next((number for number, name in enumerate(names) if name in words), None)
