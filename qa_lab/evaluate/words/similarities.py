"""Reads published lists of word pairs with human similarity scores.

    WORD<TAB>WORD<TAB>SCORE           WS-353 SIM and REL (with or without their `#` lines), RG-65, YP-130, the sets of
                                      Faruqui and Dyer 2014; further columns are single ratings (RW)
    WORD,WORD,SCORE                   WS-353, MTurk; also separated by `;` (RG-65) or spaces (MEN)
    WORD<TAB>WORD<TAB>POS<TAB>SCORE   SimVerb, and lists with a heading that names the score (SimLex-999)

MEN's lemma form marks parts of speech (`sun-n`); the marks are removed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qa_lab.evaluate.datasets import DatasetError

SCORES = (
    "simlex999",
    "human (mean)",
    "human",
    "score",
    "similarity",
    "relatedness",
    "rating",
    "mean",
    "average",
    "gold",
)
"""Headings of the score column, in lower case, in order of preference."""

_MARKS = re.compile(r"(.+)-[nvjra]")
_SEPARATORS = ("\t", ";", ",")


@dataclass(frozen=True, slots=True)
class Scored:
    """Two lower-case words and their human similarity score."""

    left: str
    right: str
    score: float


@dataclass(frozen=True, slots=True)
class SimilarityList:
    name: str
    pairs: tuple[Scored, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Distinct words, in order of first appearance."""
        return tuple(dict.fromkeys(word for pair in self.pairs for word in (pair.left, pair.right)))


def read_lists(data: Path) -> list[SimilarityList]:
    """The list in a file, or in every `.txt`, `.tsv`, `.tab` and `.csv` file of a folder (without a readme), by name.

    Raises:
        DatasetError: without files, or for a malformed line.
    """
    if data.is_dir():
        suffixes = {".txt", ".tsv", ".tab", ".csv"}
        paths = sorted(path for path in data.iterdir() if path.suffix in suffixes and "readme" not in path.name.lower())
    else:
        paths = [data] if data.is_file() else []
    if not paths:
        raise DatasetError(f"Expected a list of scored word pairs, or a folder of them, but got {data}; check --data.")
    return [read_list(path) for path in paths]


def read_list(path: Path) -> SimilarityList:
    """One list. Raises DatasetError with the line number for a malformed line."""
    rows = _rows(path)
    column = _score_column(rows[0][1]) if rows else None
    if column is not None:
        rows = rows[1:]
    pairs = [_pair(cells, column, f"{path}:{number}") for number, cells in rows]
    if len(pairs) < 2:
        raise DatasetError(f"Expected at least two scored word pairs in {path}, but got {len(pairs)}.")
    if all(_MARKS.fullmatch(word) for pair in pairs for word in (pair.left, pair.right)):
        pairs = [Scored(pair.left[:-2], pair.right[:-2], pair.score) for pair in pairs]
    return SimilarityList(path.name.partition(".")[0], tuple(pairs))


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Numbered lines as cells, without comments and blank lines."""
    text = path.read_bytes().decode("utf-8-sig", "replace")
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, _cells(line)) for number, line in lines if line and not line.startswith("#")]


def _cells(line: str) -> list[str]:
    separator = next((character for character in _SEPARATORS if character in line), None)
    return [cell.strip() for cell in line.split(separator)]


def _score_column(heading: Sequence[str]) -> int | None:
    """The score column that a heading names; None if the line is not a heading."""
    names = ["", "", *(name.lower() for name in heading[2:])]
    return next((names.index(name) for name in SCORES if name in names), None)


def _pair(cells: Sequence[str], column: int | None, position: str) -> Scored:
    if column is not None:
        score = _number(cells[column]) if column < len(cells) else None
    else:
        score = next((number for cell in cells[2:4] if (number := _number(cell)) is not None), None)
    if score is None or not cells[0] or not cells[1]:
        raise DatasetError(
            f"{position}: Expected two words and their score, but got {' | '.join(cells)[:80]!r}; correct the line."
        )
    return Scored(cells[0].lower(), cells[1].lower(), score)


def _number(cell: str) -> float | None:
    return float(cell) if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", cell, re.IGNORECASE) else None
