"""Word paraphrases from lexicons: one word and its paraphrases a line, two columns, or PPDB's own lines.

    big large huge                                    a word, then its paraphrases
    big<TAB>large                                     two columns
    [JJ] ||| big ||| large ||| features ||| …         PPDB as published

Files may be gzipped. What is no pair of words (numbers, phrases) is left out and counted; a line that cannot be read
is rejected with its place.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from qa_bot.ingest.records import Notice, Reject
from qa_bot.training.pairs import TrainingDataError

WordPair = tuple[str, str]
Columns = tuple[str, Sequence[str]]

PPDB = " ||| "
DIGITS, PHRASE, ODD, SAME, REPEATED = "with digits", "phrases", "no words", "of one word", "repeated or reversed"

_WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_LONGEST = 1 << 20  # bytes of a line


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
        TrainingDataError: there is no pair at all, or a file is damaged.
        FileNotFoundError: nothing is at a path.
    """
    found: dict[WordPair, WordPair] = {}  # by the pair in alphabetical order
    rejects: list[Reject] = []
    left_out: Counter[str] = Counter()
    for item in _items(paths):
        if isinstance(item, Reject):
            rejects.append(item)
        elif reason := _unfit(*item):
            left_out[reason] += 1
        elif (key := (min(item), max(item))) in found:
            left_out[REPEATED] += 1
        else:
            found[key] = item
            if len(found) == limit:
                break
    if not found:
        raise TrainingDataError(_nothing(paths, rejects, left_out))
    return Lexicon(tuple(found.values()), tuple(rejects), left_out=dict(left_out))


def _items(paths: Sequence[Path]) -> Iterator[WordPair | Reject]:
    for path in _files(paths):
        for number, line in _lines(path):
            columns = _columns(line)
            if isinstance(columns, str):
                yield Reject(f"{path}:{number}", columns)
            else:
                yield from ((columns[0], other) for other in columns[1])


def _columns(line: bytes | None) -> Columns | str:
    """A word and its paraphrases, in lower case, or why the line cannot be read."""
    if line is None:
        return f"Expected at most {_LONGEST:,} bytes in a line, but got more; split it."
    try:
        text = line.decode("utf-8").strip().lower()
    except UnicodeDecodeError as error:
        return f"Expected UTF-8, but got {error.object[error.start]:#04x}; save the file as UTF-8."
    cells = _cells(text)
    if len(cells) < 2 or not all(cells[:2]):
        return f"Expected a word and its paraphrases, but got {text[:80]!r}; add them or drop the line."
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


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"Expected a file or a folder, but got {path}, which does not exist; check --data.")
        yield from sorted(each for each in path.iterdir() if each.is_file()) if path.is_dir() else [path]


def _lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines that are not blank; None stands for one that is too long."""
    number = 0
    with _opened(path) as file:
        while line := file.readline(_LONGEST):
            number += 1
            whole = line.endswith(b"\n") or len(line) < _LONGEST
            while line and not line.endswith(b"\n") and not whole:
                line = file.readline(_LONGEST)  # the rest of it
            if not whole:
                yield number, None
            elif line.strip():
                yield number, line


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as plain:
        packed = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        try:
            yield gzip.GzipFile(fileobj=plain) if packed else plain  # type: ignore[misc] # a GzipFile reads as any binary file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TrainingDataError(f"{path}: Expected a whole gzip file, but got: {error}; fetch it again.") from None


def _nothing(paths: Sequence[Path], rejects: Sequence[Reject], left_out: Mapping[str, int]) -> str:
    named = ", ".join(map(str, paths))
    if rejects:
        return f"Expected word paraphrases in {named}, but got none: {rejects[0].where}: {rejects[0].reason}"
    told = ", ".join(f"{count} pairs {reason}" for reason, count in left_out.items()) or "no line"
    return f"Expected word paraphrases in {named}, but got only {told}; name a lexicon with pairs of words."
