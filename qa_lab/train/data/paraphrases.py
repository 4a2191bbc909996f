"""Word paraphrases from lexicons: one word and its paraphrases a line, two columns, or PPDB's own lines.

    big large huge                                    a word, then its paraphrases
    big<TAB>large                                     two columns
    [JJ] ||| big ||| large ||| features ||| …         PPDB as published

Files may be packed. What is no pair of words (numbers, phrases) is left out and counted; a line that cannot be read
is rejected with its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from qa_bot.documents.ingest.example_lines import Line, read_lines
from qa_bot.documents.ingest.records import Notice, Reject
from qa_lab.train.errors import TrainingDataError

WordPair = tuple[str, str]
Columns = tuple[str, Sequence[str]]

PPDB = " ||| "
DIGITS, PHRASE, ODD, SAME, REPEATED = "with digits", "phrases", "no words", "of one word", "repeated or reversed"

_WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Distinct pairs of lower-case words, in the order of the data."""

    pairs: tuple[WordPair, ...]
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)  # pairs, by reason

    @property
    def repeated(self) -> int:
        """Pairs that stood there before, in this order or the other."""
        return self.left_out.get(REPEATED, 0)

    @property
    def words(self) -> tuple[str, ...]:
        """Each once, in the order of their first pair."""
        return tuple(dict.fromkeys(word for pair in self.pairs for word in pair))


def read_lexicon(paths: Sequence[Path], *, limit: int | None = None) -> Lexicon:
    """The pairs of files, or of all files of folders, the first `limit` of them.

    Raises:
        TrainingDataError: there is no pair at all.
        FileNotFoundError: nothing is at a path.
    """
    found: dict[WordPair, WordPair] = {}  # by the pair in alphabetical order
    rejects: list[Reject] = []
    notices: list[Notice] = []
    left_out: Counter[str] = Counter()
    for item in _items(paths, rejects, notices):
        if reason := _unfit(*item):
            left_out[reason] += 1
        elif (key := (min(item), max(item))) in found:
            left_out[REPEATED] += 1
        else:
            found[key] = item
            if len(found) == limit:
                break
    if not found:
        raise TrainingDataError(_nothing(paths, rejects, left_out))
    return Lexicon(tuple(found.values()), tuple(rejects), tuple(notices), dict(left_out))


def _items(paths: Sequence[Path], rejects: list[Reject], notices: list[Notice]) -> Iterator[WordPair]:
    for item in read_lines(paths, _columns):
        match item:
            case Reject():
                rejects.append(item)
            case Notice():
                notices.append(item)
            case Line(told=(word, others)):
                yield from ((word, other) for other in others)


def _columns(text: str) -> Columns:
    """A word and its paraphrases, in lower case; a ValueError says why the line cannot be read."""
    cells = _cells(text.lower())
    if len(cells) < 2 or not all(cells[:2]):
        raise ValueError(f"Expected a word and its paraphrases, but got {text[:80]!r}; add them or drop the line.")
    return cells[0], cells[1:]


def _cells(text: str) -> list[str]:
    if PPDB in text:
        return [cell.strip() for cell in text.split(PPDB)[1:3]]
    return [cell.strip() for cell in text.split("\t")] if "\t" in text else text.split()


def _unfit(left: str, right: str) -> str:
    """Why a pair is left out; empty for a pair of two different words."""
    if re.search(r"\d", left + right):
        return DIGITS
    if " " in left or " " in right:
        return PHRASE
    if not _WORD.fullmatch(left) or not _WORD.fullmatch(right):
        return ODD
    return SAME if left == right else ""


def _nothing(paths: Sequence[Path], rejects: Sequence[Reject], left_out: Mapping[str, int]) -> str:
    named = ", ".join(map(str, paths))
    if rejects:
        return f"Expected word paraphrases in {named}, but got none: {rejects[0].where}: {rejects[0].reason}"
    told = ", ".join(f"{count} pairs {reason}" for reason, count in left_out.items()) or "no line"
    return f"Expected word paraphrases in {named}, but got only {told}; name a lexicon with pairs of words."
