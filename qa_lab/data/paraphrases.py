"""Word paraphrases from lexicons: one word and its paraphrases a line, two columns, or PPDB's own lines.

    big large huge                                    a word, then its paraphrases
    big<TAB>large                                     two columns
    [JJ] ||| big ||| large ||| features ||| …         PPDB as published

Files may be compressed. Pairs of anything but words (numbers, phrases) are left out and counted; a line that cannot be
read is rejected with its number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from qa_bot.documents.ingest.example_lines import read_lines
from qa_lab.data.reading import Reading, TrainingData

WordPair = tuple[str, str]
Columns = tuple[str, Sequence[str]]

PPDB = " ||| "
DIGITS, PHRASE, ODD, SAME, REPEATED = "with digits", "phrases", "no words", "of one word", "repeated or reversed"

_WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")


Lexicon = TrainingData[tuple[WordPair, ...]]
"""Distinct pairs of lower-case words."""


def read_lexicon(paths: Sequence[Path], *, limit: int | None = None) -> Lexicon:
    """The pairs of files, or of all files of folders, the first `limit` of them.

    Raises:
        TrainingDataError: there are no pairs.
        FileNotFoundError: a path does not exist.
    """
    reading, pairs, left_out = Reading(paths), dict[WordPair, WordPair](), Counter[str]()
    for pair in _word_pairs(reading):
        key = (min(pair), max(pair))
        if reason := _unfit(*pair) or (REPEATED if key in pairs else ""):
            left_out[reason] += 1
        else:
            pairs[key] = pair
            if len(pairs) == limit:
                break
    unused = ", ".join(f"{count} pairs {reason}" for reason, count in left_out.items())
    return reading.result(
        tuple(pairs.values()),
        len(pairs),
        "word paraphrases",
        units=("pair of words", "pairs of words"),
        repeated=left_out[REPEATED],
        left_out=dict(+left_out),
        advice=f"{unused and f'left out: {unused}; '}name a lexicon with pairs of words.",
    )


def distinct_words(pairs: Iterable[WordPair]) -> tuple[str, ...]:
    """Each word once, in the order of its first pair."""
    return tuple(dict.fromkeys(word for pair in pairs for word in pair))


def _word_pairs(reading: Reading) -> Iterator[WordPair]:
    for line in reading.readable(read_lines(reading.paths, _columns)):
        word, others = line.example
        yield from ((word, other) for other in others)


def _columns(text: str) -> Columns:
    """A word and its paraphrases, in lower case. Raises ValueError if the line cannot be read."""
    cells = _cells(text.lower())
    if len(cells) < 2 or not all(cells[:2]):
        raise ValueError(f"Expected a word and its paraphrases, but got {text[:80]!r}; add them or drop the line.")
    return cells[0], cells[1:]


def _cells(text: str) -> list[str]:
    if PPDB in text:
        return [cell.strip() for cell in text.split(PPDB)[1:3]]
    return [cell.strip() for cell in text.split("\t")] if "\t" in text else text.split()


def _unfit(left: str, right: str) -> str:
    """Why a pair is left out; empty for two different words."""
    if re.search(r"\d", left + right):
        return DIGITS
    if " " in left or " " in right:
        return PHRASE
    if not _WORD.fullmatch(left) or not _WORD.fullmatch(right):
        return ODD
    return SAME if left == right else ""
