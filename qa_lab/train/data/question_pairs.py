"""Questions that ask the same, from the formats they come in.

Quora's TSV (`label question question id`) and its published files with a header (`question1`, `question2`,
`is_duplicate`; TSV or CSV); JSONL with `questions`, all of which ask the same, or `question` with `similar` and
`different`, each a text or a list, or with the published names. Of MedQuAD, questions of one type about one concept:
the type is `qtype`, the concept the whole list of UMLS identifiers of an entry. Types and concepts that bring more
than `VARIANTS` questions gather the members of a family and tell nothing. Whatever else `qa-bot add` reads brings its
titles, which are only told apart from the others.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats import medquad, tsv
from qa_bot.documents.ingest.formats.xml import Handler, XmlError, stream
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Item, Limits, Notice, Record, Reject
from qa_lab.train.errors import TrainingDataError
from retrievers.training.questions import Labelled, QuestionSet, folded

VARIANTS = 4  # questions of one type and concept; of 630 groups of MedQuAD 586 are within it, a larger one has 43
EACH_WITH_EACH = 20  # of a larger group each question is paired with the next only: what follows is the same

_LABELS = {"0": False, "1": True}
_QUORA = ("label", "first", "second", "id")
_NAMES = {"question1": "first", "question2": "second", "is_duplicate": "label", "duplicate": "label"}
_WANTED = {"first", "second", "label"}


@dataclass(frozen=True, slots=True)
class _Found(Record):
    """What one place of a file tells of questions; `concept` gathers those of other places."""

    pairs: tuple[Labelled, ...] = ()
    concept: str = ""


@dataclass(frozen=True, slots=True)
class QuestionPairs:
    """The questions of a data set; what could not be read of it, and pairs that stood there before."""

    questions: QuestionSet
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()
    repeated: int = 0

    @property
    def pairs(self) -> Sequence[object]:
        """The similar ones, as the reports of what was read count them."""
        pairs: list[object] = self.questions.similar.tolist()
        return pairs


def read_question_pairs(paths: Sequence[Path], *, limit: int | None = None) -> QuestionPairs:
    """The questions of files and folders; `limit` counts places of the files, labelled pairs of a TSV.

    Raises:
        TrainingDataError: there is no pair of similar questions.
        FileNotFoundError: nothing is at a path.
    """
    read_ = _gathered(paths, limit)
    if not len(read_.questions):
        named = ", ".join(map(str, paths))
        first = f": {read_.rejects[0].where}: {read_.rejects[0].reason}" if read_.rejects else "."
        raise TrainingDataError(f"Expected pairs of similar questions in {named}, but got none{first}")
    return read_


def read_titles(paths: Sequence[Path]) -> Iterator[str]:
    """Questions and titles of whatever `qa-bot add` reads."""
    return (item.title for item in _items(paths) if isinstance(item, Record) and item.title.strip())


def _gathered(paths: Sequence[Path], limit: int | None) -> QuestionPairs:
    pairs: list[Labelled] = []
    others: list[str] = []
    concepts: dict[str, dict[str, str]] = {}
    rejects: list[Reject] = []
    notices: list[Notice] = []
    places = 0
    for item in _items(paths):
        match item:
            case Reject():
                rejects.append(item)
                continue
            case Notice():
                notices.append(item)
                continue
            case _Found():
                pairs += item.pairs
        if item.title:
            others.append(item.title)
        if isinstance(item, _Found) and item.concept:
            concepts.setdefault(item.concept, {}).setdefault(folded(item.title), item.title)
        places += 1
        if places == limit:
            break
    variants = [tuple(group.values()) for group in concepts.values() if 1 < len(group) <= VARIANTS]
    pairs += [pair for group in variants for pair in _paired(group)]
    questions = QuestionSet.of(pairs, others)
    repeated = len(pairs) - len({(*sorted((folded(pair.first), folded(pair.second))), pair.similar) for pair in pairs})
    return QuestionPairs(questions, tuple(rejects), tuple(notices), repeated)


def _items(paths: Sequence[Path]) -> Iterator[Item]:
    budget = ByteBudget(Limits())
    readers = {"jsonl": _jsonl, "tsv": _tsv, "text": _text, "medquad": _medquad}
    for path in paths:
        yield from read(path, budget=budget, readers=readers)


def _paired(group: Sequence[str]) -> Iterator[Labelled]:
    chosen = combinations(group, 2) if len(group) <= EACH_WITH_EACH else pairwise(group)
    return (Labelled(first, second) for first, second in chosen)


def _pair(first: str, second: str, label: str, where: str) -> _Found | Reject:
    first, second, label = first.strip(), second.strip(), label.strip()
    if label not in _LABELS:
        return Reject(where, f"Expected the label 0 or 1, but got {label!r}; correct the line.")
    if not first or not second:
        return Reject(where, "Expected two questions, but one side is empty; add it or drop the line.")
    if folded(first) == folded(second):
        return Reject(where, f"Expected two different questions, but got {first!r} twice; drop the line.")
    return _Found("", "", "", where=where, pairs=(Labelled(first, second, _LABELS[label]),))


# --- formats --------------------------------------------------------------------------------------------------------


def _jsonl(leaf: SourceFile) -> Iterator[Item]:
    for number, line in leaf.lines():
        where = f"{leaf.where}:{number}"
        if line is None:
            yield Reject(where, over_record_limit(leaf.limits))
        elif line.strip():
            try:
                yield _object(json.loads(line), where)
            except (ValueError, RecursionError) as error:
                yield Reject(
                    where, str(error) if isinstance(error, _LineError) else f"Expected JSON, but got: {error}."
                )


class _LineError(ValueError):
    """A line that is JSON but not what was expected."""


def _object(fields: Any, where: str) -> Item:
    if not isinstance(fields, dict):
        raise _LineError(f"Expected a JSON object, but got {fields!r}; correct the line.")
    if "questions" in fields:
        distinct: dict[str, str] = {}
        for text in _texts(fields, "questions"):
            distinct.setdefault(folded(text), text)
        group = tuple(distinct.values())
        if not group:
            raise _LineError("Expected questions, but got none; add them or drop the line.")
        return _Found("", group[0], "", where=where, pairs=tuple(_paired(group)))
    if {"question1", "question2", "is_duplicate"} <= fields.keys():
        first, second, label = (str(fields[name]) for name in ("question1", "question2", "is_duplicate"))
        return _pair(first, second, label, where)
    return _around(fields, where)


def _around(fields: Mapping[str, Any], where: str) -> Item:
    """A question and those similar to it, different from it, or neither."""
    own = fields.get("question", fields.get("title"))
    if not isinstance(own, str) or not own.strip():
        told = ", ".join(map(str, fields)) or "nothing"
        raise _LineError(f"Expected questions, or a question with similar ones, but got {told}; add them.")
    given = [(text, name == "similar") for name in ("similar", "different") for text in _texts(fields, name)]
    pairs = tuple(Labelled(own.strip(), text, label) for text, label in given if folded(text) != folded(own))
    return _Found("", own.strip(), "", where=where, pairs=pairs)


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts of a list, or the only one; an empty one is an error, since it was meant to be something."""
    value = fields.get(name, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(each, str) and each.strip() for each in texts):
        raise _LineError(f"Expected texts in the field {name}, none empty, but got {value!r}; correct the line.")
    return tuple(each.strip() for each in texts)


def _tsv(leaf: SourceFile) -> Iterator[Item]:
    head = leaf.head.split(b"\n", 1)[0].decode("utf-8", "replace").strip("\ufeff\r")
    cells = head.split("\t")
    if (names := _names(cells)) is not None:
        yield from _rows(leaf, names, skip=1)
    elif len(cells) == len(_QUORA) and cells[0].strip() in _LABELS:
        yield from _rows(leaf, _QUORA, skip=0)
    else:
        yield from tsv.records(leaf)


def _names(cells: Sequence[str]) -> tuple[str, ...] | None:
    names = tuple(_NAMES.get(name, name) for name in (cell.strip().strip('"').lower() for cell in cells))
    return names if _WANTED.issubset(names) else None


def _rows(leaf: SourceFile, names: Sequence[str], *, skip: int) -> Iterator[Item]:
    """A pair a line; a quotation mark opens nothing, as the published file has single ones."""
    for number, line in leaf.lines():
        where = f"{leaf.where}:{number}"
        if line is None:
            yield Reject(where, over_record_limit(leaf.limits))
        elif number > skip and line.strip():
            cells = [_unquoted(cell) for cell in line.decode().strip("\ufeff").split("\t")]
            yield _row(cells, names, where)


def _row(cells: Sequence[str], names: Sequence[str], where: str) -> Item:
    if len(cells) != len(names):
        return Reject(where, f"Expected {len(names)} columns, but got {len(cells)}; correct the line.")
    fields = dict(zip(names, cells, strict=True))
    return _pair(fields["first"], fields["second"], fields["label"], where)


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _text(leaf: SourceFile) -> Iterator[Item]:
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
            self.found.append(_Found("", text, "", where=where, concept=key))


def _medquad(leaf: SourceFile) -> Iterator[Item]:
    if b"<QAPair" not in leaf.head and b"<FocusAnnotations" not in leaf.head:
        yield from medquad.records(leaf)
        return
    try:
        yield from stream(leaf, _Entry(leaf))
    except XmlError as error:
        yield Reject(f"{leaf.where}:{error.line}", f"Expected well-formed XML, but got: {error}")
