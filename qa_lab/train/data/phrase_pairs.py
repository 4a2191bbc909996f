"""Pairs of phrases as they are published, with a human score where there is one.

    [NP] ||| the town meeting ||| town council ||| p(e|f)=1.2 … ||| 0-0 1-1 ||| Equivalence  (PPDB 1.0 and 2.0)
    town meeting ||| town council ||| 4.2               (the same without the rest; the score may be missing)
    town meeting<TAB>town council<TAB>4.2               (Annotated-PPDB, and lexicons without a score)
    1<TAB>how old is it?<TAB>what is its age?<TAB>17    (label, pair, number: Quora)
    participant3 adjectivenouns 2 town meeting town council 5    (rated bigrams of Mitchell and Lapata)
    big large huge                                      (a word and its paraphrases)

Each line is read by what it looks like; files may be packed. A phrase may be a bracketed parse. The ratings of one
pair of bigrams by several people are averaged.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from qa_bot.documents.ingest.example_lines import Line, read_lines
from qa_bot.documents.ingest.records import Notice, Reject
from qa_lab.train.errors import TrainingDataError

BARS = "|||"
_HEAD = re.compile(r"\[\S+\]")
_BIGRAMS = re.compile(r"\S+\s+(adjectivenouns|compoundnouns|verbobjects)((?:\s+\S+){6})\s*")
_TITLES = re.compile(r"participant\s+\S*type\b.*", re.IGNORECASE)
_LABELS = {"0", "1"}


@dataclass(frozen=True, slots=True)
class PhrasePair:
    """Two phrases, `gold` as people scored them, PPDB's own `features` by name, and the line as it stood."""

    left: str
    right: str
    gold: float | None = None
    group: str = ""  # of bigrams: which kind of them
    features: Mapping[str, float] = field(default_factory=dict)
    line: str = ""


@dataclass(frozen=True, slots=True)
class PhrasePairs:
    """In the order of the data; some or all with a human score."""

    pairs: tuple[PhrasePair, ...]
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()
    repeated: int = 0

    @property
    def annotated(self) -> bool:
        """Whether every pair has a human score, and not all the same."""
        gold = {pair.gold for pair in self.pairs}
        return None not in gold and len(gold) > 1


def read_phrase_pairs(paths: Sequence[Path], *, limit: int | None = None) -> PhrasePairs:
    """The pairs of files, or of all files of folders, the first `limit` of them.

    Raises:
        TrainingDataError: there is no pair at all.
        FileNotFoundError: nothing is at a path.
    """
    found: list[PhrasePair] = []
    rejects: list[Reject] = []
    notices: list[Notice] = []
    for item in read_lines(paths, _parsed):
        match item:
            case Reject():
                rejects.append(item)
            case Notice():
                notices.append(item)
            case Line(told=pairs):
                found += pairs
        if limit is not None and len(found) >= limit:
            break
    if not found:
        first = f": {rejects[0].where}: {rejects[0].reason}" if rejects else "; is there any line?"
        raise TrainingDataError(f"Expected pairs of phrases in {', '.join(map(str, paths))}, but got none{first}")
    return PhrasePairs(tuple(_averaged(found[:limit])), tuple(rejects), tuple(notices))


def _parsed(text: str) -> list[PhrasePair]:
    return [] if _TITLES.fullmatch(text) else parsed_line(text)


def parsed_line(text: str) -> list[PhrasePair]:
    """The pairs of a line. Raises ValueError that says what is wrong with it."""
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
    """Numbers by name; what is no number (such as a word) is left out."""
    found = {}
    for part in cell.split():
        name, equals, value = part.rpartition("=")
        try:
            if equals and math.isfinite(number := float(value)):
                found[name] = number
        except ValueError:
            continue
    return found


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
    """The pairs, those of rated bigrams once each with their mean rating."""
    ratings: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for pair in pairs:
        if pair.group and pair.gold is not None:
            ratings[pair.group, pair.left, pair.right].append(pair.gold)
    for pair in pairs:
        if not pair.group:
            yield pair
        elif of := ratings.pop((pair.group, pair.left, pair.right), []):
            yield replace(pair, gold=sum(of) / len(of))
