"""Questions that ask the same, from the formats they come in.

Quora's TSV (`label question question id`) and its published files with a header (`question1`, `question2`,
`is_duplicate`; TSV or CSV); JSONL with `questions`, all of which ask the same, or `question` with `similar` and
`different`, each a text or a list, or with the published names. In MedQuAD, questions of one type about one concept
ask the same: the type is `qtype`, the concept is the whole list of UMLS identifiers of an entry. Groups of more than
`VARIANTS` questions are not used: they gather the members of a family of diseases. Whatever else `qa-bot add` reads
gives its titles, which are questions without a pair.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.files.xml import Handler, XmlError, stream
from qa_bot.documents.ingest.formats.data import medquad, tsv
from qa_bot.documents.ingest.records import Item, Record, Reject
from qa_lab.data.reading import FileReader, Reading, TrainingData, by_line, read_records, string_list
from retrievers.training.questions import Labelled, QuestionSet, folded

VARIANTS = 4  # questions of one type and concept; of 630 groups of MedQuAD 586 are within it, a larger one has 43
EACH_WITH_EACH = 20  # in a larger group each question is paired with the next only, which gives the same closure

_LABELS = {"0": False, "1": True}
_QUORA = ("label", "first", "second", "id")
_NAMES = {"question1": "first", "question2": "second", "is_duplicate": "label", "duplicate": "label"}
_REQUIRED = {"first", "second", "label"}


@dataclass(frozen=True, slots=True)
class _Questions(Record):
    """Questions of one record: `title` is the first; records with the same `concept` ask the same."""

    pairs: tuple[Labelled, ...] = ()
    concept: str = ""


def read_question_pairs(paths: Sequence[Path], *, limit: int | None = None) -> TrainingData[QuestionSet]:
    """The questions of files and folders; `limit` counts records (in a TSV, labelled pairs). Similar pairs are counted.

    Raises:
        TrainingDataError: there is no pair of similar questions.
        FileNotFoundError: a path does not exist.
    """
    reading, pairs, titles = Reading(paths), list[Labelled](), list[str]()
    concepts: dict[str, dict[str, str]] = {}
    for number, record in enumerate(reading.readable(_records(paths)), start=1):
        if record.title:
            titles.append(record.title)
        if isinstance(record, _Questions):
            pairs += record.pairs
            if record.concept:
                concepts.setdefault(record.concept, {}).setdefault(folded(record.title), record.title)
        if number == limit:
            break
    groups = (tuple(variants.values()) for variants in concepts.values() if 1 < len(variants) <= VARIANTS)
    pairs += [pair for group in groups for pair in _paired(group)]
    questions = QuestionSet.of(pairs, titles)
    distinct = {(*sorted((folded(pair.first), folded(pair.second))), pair.similar) for pair in pairs}
    return reading.result(
        questions,
        len(questions),
        "pairs of similar questions",
        units=("pair of similar questions", "pairs of similar questions"),
        repeated=len(pairs) - len(distinct),
        advice="give questions that ask the same.",
        others={("pair of different ones", "pairs of different ones"): len(questions.different)},
    )


def read_titles(paths: Sequence[Path]) -> Iterator[str]:
    """Questions and titles of whatever `qa-bot add` reads."""
    return (record.title for record in Reading(paths).readable(_records(paths)) if record.title.strip())


def _records(paths: Sequence[Path]) -> Iterator[Item]:
    return read_records(
        paths, {"jsonl": by_line(_json_line), "tsv": _tsv, "csv": _csv, "text": _csv, "medquad": _medquad}
    )


def _paired(group: Sequence[str]) -> Iterator[Labelled]:
    chosen = combinations(group, 2) if len(group) <= EACH_WITH_EACH else pairwise(group)
    return (Labelled(first, second) for first, second in chosen)


def _pair(first: str, second: str, label: str, where: str) -> _Questions | Reject:
    first, second, label = first.strip(), second.strip(), label.strip()
    if label not in _LABELS:
        return Reject(where, f"Expected the label 0 or 1, but got {label!r}; correct the line.")
    if not first or not second:
        return Reject(where, "Expected two questions, but one side is empty; add it or drop the line.")
    if folded(first) == folded(second):
        return Reject(where, f"Expected two different questions, but got {first!r} twice; drop the line.")
    return _Questions("", "", "", where=where, pairs=(Labelled(first, second, _LABELS[label]),))


# --- formats --------------------------------------------------------------------------------------------------------


def _json_line(line: bytes, where: str, _leaf: SourceFile) -> Iterator[Item]:
    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise ValueError(f"Expected a JSON object, but got {fields!r}; correct the line.")
    if "questions" in fields:
        distinct: dict[str, str] = {}
        for text in _texts(fields, "questions"):
            distinct.setdefault(folded(text), text)
        group = tuple(distinct.values())
        if not group:
            raise ValueError("Expected questions, but got none; add them or drop the line.")
        yield _Questions("", group[0], "", where=where, pairs=tuple(_paired(group)))
    elif {"question1", "question2", "is_duplicate"} <= fields.keys():
        yield _pair(str(fields["question1"]), str(fields["question2"]), str(fields["is_duplicate"]), where)
    else:
        yield _around(fields, where)


def _around(fields: Mapping[str, Any], where: str) -> Item:
    """A question and those similar to it, different from it, or neither."""
    first = fields.get("question", fields.get("title"))
    if not isinstance(first, str) or not first.strip():
        names = ", ".join(map(str, fields)) or "nothing"
        raise ValueError(f"Expected questions, or a question with similar ones, but got {names}; add them.")
    others = [(text, name == "similar") for name in ("similar", "different") for text in _texts(fields, name)]
    pairs = tuple(Labelled(first.strip(), text, label) for text, label in others if folded(text) != folded(first))
    return _Questions("", first.strip(), "", where=where, pairs=pairs)


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts of a list, or the only one. Raises ValueError for an empty text."""
    texts = string_list(fields, name, single=True)
    if not all(texts):
        raise ValueError(f"Expected texts in the field {name}, but got an empty one; correct the line.")
    return texts


def _tsv(leaf: SourceFile) -> Iterator[Item]:
    head = leaf.head.split(b"\n", 1)[0].decode("utf-8", "replace").strip("\ufeff\r")
    cells = head.split("\t")
    if (names := _names(cells)) is not None:
        yield from _rows(names, skip=1)(leaf)
    elif len(cells) == len(_QUORA) and cells[0].strip() in _LABELS:
        yield from _rows(_QUORA, skip=0)(leaf)
    else:
        yield from tsv.read(leaf)


def _names(cells: Sequence[str]) -> tuple[str, ...] | None:
    names = tuple(_NAMES.get(name, name) for name in (cell.strip().strip('"').lower() for cell in cells))
    return names if _REQUIRED.issubset(names) else None


def _rows(names: Sequence[str], *, skip: int) -> FileReader:
    """A pair a line; a quotation mark alone does not open a cell, since the published file has single ones."""

    def row(line: bytes, where: str, _leaf: SourceFile) -> list[Item]:
        cells = [_unquoted(cell) for cell in line.decode().strip("\ufeff").split("\t")]
        return [_row(cells, names, where)]

    return by_line(row, skip=skip)


def _row(cells: Sequence[str], names: Sequence[str], where: str) -> Item:
    if len(cells) != len(names):
        return Reject(where, f"Expected {len(names)} columns, but got {len(cells)}; correct the line.")
    fields = dict(zip(names, cells, strict=True))
    return _pair(fields["first"], fields["second"], fields["label"], where)


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _csv(leaf: SourceFile) -> Iterator[Item]:
    """A CSV file under a header; its quoted cells may hold line breaks."""
    rejects: list[Reject] = []

    def within_limit() -> Iterator[str]:
        for number, line in leaf.lines():
            if line is None:
                rejects.append(Reject(f"{leaf.where}:{number}", over_record_limit(leaf.limits)))
            else:
                yield line.decode() + "\n"

    rows = csv.reader(within_limit())
    try:
        names = _names(next(rows, []))
        if names is None:
            yield Reject(leaf.where, "Expected question1, question2 and is_duplicate in the header, but got none.")
            return
        yield from (_row(cells, names, f"{leaf.where}:{rows.line_num}") for cells in rows if cells)
    except csv.Error as error:
        reason = f"Expected a row, but got: {error} (a quotation mark that never closes?); correct the cell."
        yield Reject(f"{leaf.where}:{rows.line_num}", reason)
    yield from rejects


class _Entry(Handler[Item]):
    """The questions of one entry of MedQuAD, with or without answers."""

    def __init__(self, leaf: SourceFile) -> None:
        super().__init__()
        self._where = leaf.where
        self._identifiers: list[str] = []
        self._type = ""
        self._open: list[str] | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in {"CUI", "Question"}:
            self._open, self._type = [], attributes.get("qtype", "")

    def data(self, text: str) -> None:
        if self._open is not None:
            self._open.append(text)

    def end(self, tag: str) -> None:
        if tag not in {"CUI", "Question"} or self._open is None:
            return
        text, self._open = " ".join("".join(self._open).split()), None
        if tag == "CUI":
            self._identifiers.append(text)
        elif text:
            concept = " ".join(sorted({*self._identifiers})) if self._identifiers else ""
            where = f"{self._where}:{self.line()}"
            key = f"{self._type}\t{concept}" if concept and self._type else ""
            self.results.append(_Questions("", text, "", where=where, concept=key))


def _medquad(leaf: SourceFile) -> Iterator[Item]:
    if b"<QAPair" not in leaf.head and b"<FocusAnnotations" not in leaf.head:
        yield from medquad.read(leaf)
        return
    try:
        yield from stream(leaf, _Entry(leaf))
    except XmlError as error:
        yield Reject(f"{leaf.where}:{error.line}", f"Expected well-formed XML, but got: {error}")
