"""Judgements and ranked lists, and the TREC and BEIR files that hold them.

A run maps each query to the scores of its documents; qrels map each query to the grades of its judged documents.
"""

from __future__ import annotations

import hashlib
import logging
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import quote

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]
Rankings = Mapping[str, Sequence[str]]
"""Query to documents, best first."""

log = logging.getLogger(__name__)

BEIR_HEADER = ("query-id", "corpus-id", "score")


def tie_break(query: str, document: str) -> bytes:
    """Sort key of documents with equal scores: pseudo-random, independent of machine and file order."""
    return hashlib.blake2b(f"{query}\0{document}".encode(), digest_size=8).digest()


def ranking(query: str, scores: Mapping[str, float]) -> list[str]:
    """Documents best first, ties in the order of `tie_break`. Raises ValueError for NaN."""
    for document, score in scores.items():
        if math.isnan(score):
            raise ValueError(f"Expected a number as score of document {document!r} for query {query!r}, but got NaN.")
    return sorted(scores, key=lambda document: (-scores[document], tie_break(query, document)))


def rankings(run: Run) -> dict[str, list[str]]:
    return {query: ranking(query, scores) for query, scores in run.items()}


def run_of(ranked: Rankings) -> dict[str, dict[str, float]]:
    """A run without ties in the given order: the scores count down to 1."""
    return {
        query: {document: float(len(documents) - rank) for rank, document in enumerate(documents)}
        for query, documents in ranked.items()
    }


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Grades from `query-id TAB corpus-id TAB score` (BEIR, with or without header) or TREC's four columns.

    If a document has several judgements, the highest counts; a warning says how many documents have different ones.
    Raises ValueError with file and line for a line in another format, and for a grade that is not an integer.
    """
    qrels: dict[str, dict[str, int]] = {}
    differing = set()
    for number, line in _lines(path):
        fields = line.split("\t")
        if number == 1 and fields[-1] == BEIR_HEADER[-1]:
            continue
        query, document, grade = _judgement(fields if len(fields) == 3 else line.split(), line, f"{path}:{number}")
        grades = qrels.setdefault(query, {})
        if grades.setdefault(document, grade) != grade:
            differing.add((query, document))
        grades[document] = max(grades[document], grade)
    if differing:
        log.warning("%s: documents judged with different grades: %d; the highest counts.", path, len(differing))
    return qrels


def write_qrels(path: Path, qrels: Qrels, *, layout: Literal["beir", "trec"] = "beir") -> None:
    """Write BEIR's three columns with their header, or TREC's four. Raises ValueError for ids with separators."""
    rows = [(query, document, grade) for query, grades in qrels.items() for document, grade in grades.items()]
    if layout == "beir":
        table = [BEIR_HEADER, *((_unbroken(q, "\t"), _unbroken(d, "\t"), str(grade)) for q, d, grade in rows)]
        lines = ["\t".join(row) for row in table]
    else:
        lines = [f"{_unbroken(q)} 0 {_unbroken(d)} {grade}" for q, d, grade in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_run(path: Path, run: Run, *, tag: str = "qa-bot") -> None:
    """Write a TREC run, best first. Raises ValueError for an id with white space."""
    with path.open("w", encoding="utf-8") as file:
        for query, scores in run.items():
            for rank, document in enumerate(ranking(query, scores), start=1):
                line = f"{_unbroken(query)} Q0 {_unbroken(document)} {rank} {float(scores[document])!r} {tag}\n"
                file.write(line)


def escape_id(identifier: str) -> str:
    """An id that a TREC file can hold: white space is percent-encoded."""
    return re.sub(r"\s", lambda space: quote(space[0]), identifier)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise ValueError(f"{path}:{number}: Expected UTF-8, but got {error.object!r}.") from None
            if text.strip():
                yield number, text


def _judgement(fields: Sequence[str], line: str, position: str) -> tuple[str, str, int]:
    if len(fields) == 4:
        fields = (fields[0], fields[2], fields[3])
    if len(fields) != 3 or not _is_integer(fields[2]):
        raise ValueError(
            f"{position}: Expected 'query TAB document TAB grade' or 'query 0 document grade' with an integer grade, "
            f"but got {line!r}."
        )
    return fields[0], fields[1], int(fields[2])


def _is_integer(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True


def _unbroken(identifier: str, separator: str | None = None) -> str:
    """The id. Raises ValueError if it contains the separator (None: any white space) or a line end."""
    if identifier.split(separator) != [identifier] or identifier.splitlines() != [identifier]:
        kind = "white space" if separator is None else "tabs and line ends"
        raise ValueError(f"Expected an id without {kind}, but got {identifier!r}; give the document another id.")
    return identifier
