"""Judged questions over a collection, from a folder in BEIR's layout: ours or the published one.

    corpus.jsonl[.gz]                                 documents, for `qa-bot add` to read
    SPLIT.queries.jsonl, SPLIT.qrels.tsv              ours
    queries.jsonl, qrels/SPLIT.tsv                    published: one file of queries for all splits

A query is `{"_id", "text"}`, or `{"_id", "title", "body", "summary"}` with a question as people write it and what a
person understood of it.
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
CORPORA = ("corpus.jsonl", "corpus.jsonl.gz")


class DatasetError(ValueError):
    """Data that cannot be evaluated on; the message says what was looked for and what is there."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it was asked, and in a person's words what it means (empty where nobody said)."""

    question: Question
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """The judged queries of one split, in the order of their file; `qrels` speaks of no others."""

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
        DatasetError: no such folder, file or split; a line that cannot be read; no query that was judged.
    """
    if not folder.is_dir():
        raise DatasetError(f"Expected a folder in BEIR layout, but got {folder}, which is none; name it with --data.")
    files = _split(folder, split)
    asked = list(_queries(files.queries))
    qrels = _qrels(files.qrels)
    judged = [query for query in asked if query.question.id in qrels][:limit]
    if not judged:
        raise DatasetError(
            f"Expected queries of {files.queries} that {files.qrels} judges, but got none among {len(asked)} queries "
            f"and {len(qrels)} judged ids; check that the two belong together."
        )
    _tell_missing({query.question.id for query in asked}, qrels, files)
    kept = {query.question.id: qrels[query.question.id] for query in judged}
    return Dataset(folder.resolve().name, split, _corpus(folder), tuple(judged), kept)


def splits(folder: Path) -> list[str]:
    """The splits that a folder holds judgements of, in either layout."""
    ours = {path.name.removesuffix(".qrels.tsv") for path in folder.glob("*.qrels.tsv")}
    return sorted(ours | {path.stem for path in (folder / "qrels").glob("*.tsv")})


def _split(folder: Path, split: str) -> _Split:
    layouts = (
        _Split(folder / f"{split}.queries.jsonl", folder / f"{split}.qrels.tsv"),
        _Split(folder / "queries.jsonl", folder / "qrels" / f"{split}.tsv"),
    )
    for files in layouts:
        if files.queries.is_file() and files.qrels.is_file():
            return files
    wanted = " or ".join(f"{f.queries.relative_to(folder)} with {f.qrels.relative_to(folder)}" for f in layouts)
    there = splits(folder)
    known = f"judgements of the splits {', '.join(there)}" if there else "judgements of no split"
    raise DatasetError(f"Expected {wanted} in {folder}, but got {known}; choose one with --split or fetch the files.")


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


def _tell_missing(asked: set[str], qrels: Qrels, files: _Split) -> None:
    missing = sorted(qrels.keys() - asked)
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
        query = _query(line, f"{path}:{number}")
        if query.question.id in seen:
            raise DatasetError(
                f"{path}:{number}: Expected ids that differ, but got {query.question.id!r} again; rename one."
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


def _query(line: str, place: str) -> Query:
    try:
        told = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DatasetError(f"{place}: Expected a JSON object, but got: {error}; mend the line.") from None
    if not isinstance(told, dict):
        raise DatasetError(f"{place}: Expected a JSON object, but got {line.strip()[:80]!r}; mend the line.")
    id_ = told.get("_id", told.get("qid", told.get("id")))
    title = _text(told, "title", place) or _text(told, "text", place)
    body = _text(told, "body", place)
    if not isinstance(id_, str | int) or not f"{title}{body}".strip():
        fields = ", ".join(told) or "nothing"
        raise DatasetError(f"{place}: Expected _id with text, or with title and body, but got {fields}; add them.")
    question = Question(title, body, str(id_), _text(told, "category", place))
    return Query(question, _text(told, "summary", place))


def _text(told: Mapping[str, Any], name: str, place: str) -> str:
    value = told.get(name)
    if value is not None and not isinstance(value, str):
        raise DatasetError(f"{place}: Expected a string in the field {name}, but got {value!r}; put it in quotes.")
    return (value or "").strip()
