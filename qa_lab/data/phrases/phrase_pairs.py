"""Pairs of phrases in published formats, with human scores if the data has them.

    [NP] ||| the town meeting ||| town council ||| p(e|f)=1.2 … ||| 0-0 1-1 ||| Equivalence  (PPDB 1.0 and 2.0)
    town meeting ||| town council ||| 4.2               (without tag and features; the score is optional)
    town meeting<TAB>town council<TAB>4.2               (Annotated-PPDB, and lexicons without a score)
    1<TAB>how old is it?<TAB>what is its age?<TAB>17    (label, pair, number: Quora)
    participant3 adjectivenouns 2 town meeting town council 5    (rated bigrams of Mitchell and Lapata)
    big large huge                                      (a word and its paraphrases)

The format of each line is detected; files may be compressed. A phrase may be a bracketed parse. The ratings of one pair
of bigrams by several people are averaged.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from qa_bot.documents.ingest.example_lines import read_lines
from qa_lab.data.reading import Reading, TrainingData

BARS = "|||"
_HEAD = re.compile(r"\[\S+\]")
_BIGRAMS = re.compile(r"\S+\s+(adjectivenouns|compoundnouns|verbobjects)((?:\s+\S+){6})\s*")
_TITLES = re.compile(r"participant\s+\S*type\b.*", re.IGNORECASE)
_LABELS = {"0", "1"}


@dataclass(frozen=True, slots=True)
class PhrasePair:
    """Two phrases, `gold` as people scored them, PPDB's own `features` by name, and the unchanged line."""

    left: str
    right: str
    gold: float | None = None
    group: str = ""  # the kind of bigrams
    features: Mapping[str, float] = field(default_factory=dict)
    line: str = ""


def read_phrase_pairs(paths: Sequence[Path], *, limit: int | None = None) -> TrainingData[tuple[PhrasePair, ...]]:
    """The pairs of files, or of all files of folders, the first `limit` of them.

    Raises:
        TrainingDataError: there are no pairs.
        FileNotFoundError: a path does not exist.
    """
    reading, pairs = Reading(paths), list[PhrasePair]()
    for line in reading.readable(read_lines(paths, _parsed)):
        pairs += line.example
        if limit is not None and len(pairs) >= limit:
            break
    averaged = tuple(_averaged(pairs[:limit]))
    return reading.result(
        averaged,
        len(averaged),
        "pairs of phrases",
        units=("pair of phrases", "pairs of phrases"),
        advice="is there any line?",
    )


def annotated(pairs: Iterable[PhrasePair]) -> bool:
    """Whether every pair has a human score, and not all the same."""
    scores = {pair.gold for pair in pairs}
    return None not in scores and len(scores) > 1


def _parsed(text: str) -> list[PhrasePair]:
    return [] if _TITLES.fullmatch(text) else parsed_line(text)


def parsed_line(text: str) -> list[PhrasePair]:
    """The pairs of a line. Raises ValueError if it cannot be read."""
    if BARS in text:
        return [_barred([cell.strip() for cell in text.split(BARS)], text)]
    if bigrams := _BIGRAMS.fullmatch(text):
        return [_rated(bigrams, text)]
    if "\t" in text:
        return [_tabbed([cell.strip() for cell in text.split("\t")], text)]
    word, *others = text.split()
    if not others:
        raise ValueError(f"Expected two phrases, but got only {text[:80]!r}; put a tab between them.")
    return [PhrasePair(word, other, line=text) for other in others]


def _barred(cells: list[str], line: str) -> PhrasePair:
    if _HEAD.fullmatch(cells[0]):
        cells = cells[1:]
        _check_phrases(cells, line)
        return PhrasePair(cells[0], cells[1], features=_features(cells[2]) if len(cells) > 2 else {}, line=line)
    _check_phrases(cells, line)
    return PhrasePair(cells[0], cells[1], gold=_number(cells[2], line) if len(cells) > 2 else None, line=line)


def _tabbed(cells: list[str], line: str) -> PhrasePair:
    gold = None
    if len(cells) == 4 and cells[0] in _LABELS:
        gold, cells = float(cells[0]), cells[1:3]
    elif len(cells) > 2 and cells[2]:
        gold = _number(cells[2], line)
    _check_phrases(cells, line)
    return PhrasePair(cells[0], cells[1], gold=gold, line=line)


def _rated(bigrams: re.Match[str], line: str) -> PhrasePair:
    _, a, b, c, d, rating = bigrams[2].split()
    return PhrasePair(f"{a} {b}", f"{c} {d}", gold=_number(rating, line), group=bigrams[1], line=line)


def _features(cell: str) -> dict[str, float]:
    """Numbers by name; other values are left out."""
    numbers = {}
    for part in cell.split():
        name, equals, value = part.rpartition("=")
        try:
            if equals and math.isfinite(number := float(value)):
                numbers[name] = number
        except ValueError:
            continue
    return numbers


def _check_phrases(cells: Sequence[str], line: str) -> None:
    if len(cells) < 2 or not cells[0] or not cells[1]:
        raise ValueError(f"Expected two phrases, but got an empty one in {line[:80]!r}; add it or drop the line.")


def _number(cell: str, line: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"Expected a score, but got {cell[:40]!r} in {line[:80]!r}; correct the number.")
    return number


def _averaged(pairs: Sequence[PhrasePair]) -> Iterator[PhrasePair]:
    """The pairs, rated bigrams once with their mean rating."""
    ratings: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for pair in pairs:
        if pair.group and pair.gold is not None:
            ratings[pair.group, pair.left, pair.right].append(pair.gold)
    for pair in pairs:
        if not pair.group:
            yield pair
        elif group := ratings.pop((pair.group, pair.left, pair.right), []):
            yield replace(pair, gold=sum(group) / len(group))
