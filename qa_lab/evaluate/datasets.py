"""Reads judged questions over a collection from a folder in BEIR's layout, ours or the published one, or MS MARCO's.

    corpus.jsonl[.gz]                                 documents for `qa-bot add`
    SPLIT.queries.jsonl, SPLIT.qrels.tsv              ours
    queries.jsonl, qrels/SPLIT.tsv                    published: one file of queries for all splits
    collection.tsv[.gz]                               MS MARCO's passages: an id and a text
    queries.SPLIT.tsv, qrels.SPLIT.tsv                MS MARCO's: an id and a text; TREC's four columns

A query in JSON is `{"_id", "text"}`, or `{"_id", "title", "body", "summary"}`: a question as written, and its meaning
in the words of an annotator.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from qa_core.measures.runs import Qrels, read_qrels
from qa_core.types import Question

log = logging.getLogger(__name__)

SPLIT = "dev"
CORPORA = ("corpus.jsonl", "corpus.jsonl.gz", "collection.tsv", "collection.tsv.gz")


class DatasetError(ValueError):
    """Unsuitable evaluation data; the message says what was expected and what the folder holds."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and its meaning in the words of an annotator (may be empty)."""

    question: Question
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """The judged queries of one split, in the order of their file, and the judgements of these queries."""

    name: str
    split: str
    corpus: Path
    queries: tuple[Query, ...]
    qrels: Qrels


@dataclass(frozen=True, slots=True)
class _Split:
    queries: Path
    qrels: Path


def read_dataset(folder: Path, *, split: str = SPLIT, limit: int | None = None) -> Dataset:
    """One split of a BEIR folder; `limit` keeps its first judged queries.

    Raises:
        DatasetError: for a missing folder, file or split, a malformed line, or no judged query.
    """
    if not folder.is_dir():
        raise DatasetError(f"Expected a folder in BEIR layout, but {folder} is not a folder; name it with --data.")
    files = _split(folder, split)
    queries = list(_queries(files.queries))
    qrels = _qrels(files.qrels)
    judged = [query for query in queries if query.question.id in qrels][:limit]
    if not judged:
        raise DatasetError(
            f"Expected queries of {files.queries} that {files.qrels} judges, but got none among {len(queries)} queries "
            f"and {len(qrels)} judged ids; check that the two belong together."
        )
    _warn_missing({query.question.id for query in queries}, qrels, files)
    grades = {query.question.id: qrels[query.question.id] for query in judged}
    return Dataset(folder.resolve().name, split, _corpus(folder), tuple(judged), grades)


def splits(folder: Path) -> list[str]:
    """The splits with judgements in a folder, in either layout."""
    ours = {path.name.removesuffix(".qrels.tsv") for path in folder.glob("*.qrels.tsv")}
    marco = {path.name.removeprefix("qrels.").removesuffix(".tsv") for path in folder.glob("qrels.*.tsv")}
    return sorted(ours | marco | {path.stem for path in (folder / "qrels").glob("*.tsv")})


def _split(folder: Path, split: str) -> _Split:
    layouts = (
        _Split(folder / f"{split}.queries.jsonl", folder / f"{split}.qrels.tsv"),
        _Split(folder / "queries.jsonl", folder / "qrels" / f"{split}.tsv"),
        _Split(folder / f"queries.{split}.tsv", folder / f"qrels.{split}.tsv"),
    )
    for files in layouts:
        if files.queries.is_file() and files.qrels.is_file():
            return files
    expected = " or ".join(f"{f.queries.relative_to(folder)} with {f.qrels.relative_to(folder)}" for f in layouts)
    names = splits(folder)
    known = f"judgements of the splits {', '.join(names)}" if names else "judgements of no split"
    raise DatasetError(f"Expected {expected} in {folder}, but got {known}; choose one with --split or fetch the files.")


def _corpus(folder: Path) -> Path:
    for name in CORPORA:
        if (folder / name).is_file():
            return folder / name
    raise DatasetError(f"Expected {' or '.join(CORPORA)} in {folder}, but got neither; fetch the collection.")


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    try:
        return read_qrels(path)
    except ValueError as error:
        raise DatasetError(str(error)) from error


def _warn_missing(queries: set[str], qrels: Qrels, files: _Split) -> None:
    missing = sorted(qrels.keys() - queries)
    if missing:
        log.warning(
            "%s judges %d queries that are not in %s (such as %s); they are left out.",
            files.qrels,
            len(missing),
            files.queries,
            missing[0],
        )


def _queries(path: Path) -> Iterator[Query]:
    seen: set[str] = set()
    for number, line in _lines(path):
        position = f"{path}:{number}"
        query = _row(line, position) if path.suffix == ".tsv" else _query(line, position)
        if query.question.id in seen:
            raise DatasetError(
                f"{path}:{number}: Expected distinct ids, but got {query.question.id!r} again; rename one."
            )
        seen.add(query.question.id)
        yield query


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    repaired = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            text = line.decode("utf-8", "replace").removeprefix("\ufeff")
            repaired += "\ufffd" in text and "\ufffd".encode() not in line
            if text.strip():
                yield number, text
    if repaired:
        log.warning("%s: lines with invalid UTF-8: %d; the bytes were replaced.", path, repaired)


def _row(line: str, position: str) -> Query:
    """A query of MS MARCO."""
    id_, _, text = line.strip().partition("\t")
    if not text.strip():
        raise DatasetError(
            f"{position}: Expected an id, a tab and a question, but got {line.strip()[:80]!r}; add them."
        )
    return Query(Question(text.strip(), "", id_.strip()))


def _query(line: str, position: str) -> Query:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DatasetError(f"{position}: Expected a JSON object, but got: {error}; correct the line.") from None
    if not isinstance(fields, dict):
        raise DatasetError(f"{position}: Expected a JSON object, but got {line.strip()[:80]!r}; correct the line.")
    id_ = fields.get("_id", fields.get("qid", fields.get("id")))
    title = _text(fields, "title", position) or _text(fields, "text", position)
    body = _text(fields, "body", position)
    if not isinstance(id_, str | int) or not f"{title}{body}".strip():
        names = ", ".join(fields) or "nothing"
        raise DatasetError(f"{position}: Expected _id with text, or with title and body, but got {names}; add them.")
    question = Question(title, body, str(id_), _text(fields, "category", position))
    return Query(question, _text(fields, "summary", position))


def _text(fields: Mapping[str, Any], name: str, position: str) -> str:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise DatasetError(f"{position}: Expected a string in the field {name}, but got {value!r}; put it in quotes.")
    return (value or "").strip()
