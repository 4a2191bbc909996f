"""Readers of the published formats of word vectors: GloVe text, word2vec text and binary, fastText `.vec`.

A line of text holds a word and its numbers, separated by single spaces; the text of word2vec and fastText starts with
a line "COUNT DIMENSION". Binary files (Mikolov et al. 2013, `word2vec -binary 1`) start with the same line; then come,
for each word, the word, a space, DIMENSION little-endian float32 and usually a line break. Files may be gzipped.
gensim reads the same formats, but neither GloVe words with spaces nor a selection of words without parsing all.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, cast

import numpy as np

from qa_core.types import FloatArray

Format = Literal["glove", "word2vec", "word2vec-binary", "fasttext"]

_HEADER = re.compile(rb"(\d{1,12}) (\d{1,12})[ \r]*\n")
_LONGEST_LINE = 1 << 22
_LONGEST_WORD = 1 << 14
_WIDEST = 1 << 16


@dataclass(frozen=True, slots=True)
class Row:
    """A word, its position ("line 3", "word 3") and its vector as unparsed bytes or text."""

    word: str
    position: str
    numbers: bytes
    binary: bool

    def vector(self) -> FloatArray:
        """(D,) float32. Raises ValueError for a number that cannot be parsed or is not finite."""
        if self.binary:
            vector = np.frombuffer(self.numbers, dtype="<f4").astype(np.float32)
        else:
            with np.errstate(over="ignore"):
                vector = np.array([float(number) for number in self.numbers.split(b" ")]).astype(np.float32)
        if not np.isfinite(vector).all():
            raise ValueError(f"the vector of {self.word!r} is not finite")
        return vector


def detect(path: Path) -> Format:
    """Guess the format from the first lines; fastText counts as word2vec text."""
    with _readable(path) as file:
        if _HEADER.fullmatch(_line(file)) is None:
            return "glove"
        return "word2vec" if _is_text(_line(file)) else "word2vec-binary"


def rows(path: Path, kind: Format) -> Iterator[Row]:
    """Every word with its unparsed vector, in the order of the file.

    Raises ValueError with file and position for a damaged header, a wrong dimension, invalid UTF-8, and fewer or more
    words than the header says.
    """
    with _readable(path) as file:
        yield from _binary(file) if kind == "word2vec-binary" else _text(file, headed=kind != "glove")


@contextmanager
def _readable(path: Path) -> Iterator[BinaryIO]:
    """The file, unpacked if its first bytes are those of gzip; errors are prefixed with its name."""
    with path.open("rb") as file:
        gzipped = file.read(2) == b"\x1f\x8b"
    with gzip.open(path) if gzipped else path.open("rb") as plain:
        try:
            yield cast(BinaryIO, plain)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path}: Expected a whole gzip file, but got {error}; fetch it again.") from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def _is_text(line: bytes) -> bool:
    """Whether a line is UTF-8 without control characters, which binary numbers hardly ever are."""
    try:
        return all(character >= " " for character in line.decode("utf-8").rstrip("\r\n").replace("\t", " "))
    except UnicodeDecodeError:
        return False


def _line(file: BinaryIO) -> bytes:
    return file.readline(_LONGEST_LINE)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _header(file: BinaryIO) -> tuple[int, int]:
    line = _line(file)
    header = _HEADER.fullmatch(line)
    count, width = (int(header[1]), int(header[2])) if header else (0, 0)
    if not 0 < width <= _WIDEST:
        raise ValueError(
            f'Expected "COUNT DIMENSION" in line 1, but got {line[:60]!r}; name the format, or fetch again.'
        )
    return count, width


def _text(file: BinaryIO, *, headed: bool) -> Iterator[Row]:
    count, width = _header(file) if headed else (None, 0)
    seen = 0
    for number, line in enumerate(iter(lambda: _line(file), b""), 2 if headed else 1):
        fields = line.rstrip(b" \r\n")
        if not fields:
            continue
        width = width or _width(fields)
        seen += 1
        yield _text_row(fields, width, f"line {number}")
    if count not in (None, seen):
        raise ValueError(
            f"Expected {count} words, as line 1 says, but got {seen}; the file is damaged, fetch it again."
        )


def _width(fields: bytes) -> int:
    """The number of trailing numbers in the first line; a word may contain spaces (". . ." in GloVe)."""
    numbers = [_is_number(field) for field in fields.split(b" ")[1:]]
    return next((n for n, good in enumerate(reversed(numbers)) if not good), len(numbers)) or 1


def _text_row(fields: bytes, width: int, position: str) -> Row:
    parts = fields.split(b" ")
    got = len(parts) - 1
    if got < width or (got > width and _is_number(parts[-width - 1])):
        raise ValueError(f"Expected {width} numbers after the word in {position}, but got {got}; the file is damaged.")
    return Row(_decoded(b" ".join(parts[:-width]), position), position, b" ".join(parts[-width:]), binary=False)


def _binary(file: BinaryIO) -> Iterator[Row]:
    count, width = _header(file)
    stream = _Stream(file)
    for number in range(1, count + 1):
        word, numbers = stream.until(b" ", _LONGEST_WORD), stream.take(4 * width)
        if word is None or numbers is None:
            raise ValueError(
                f"Expected {count} words, as line 1 says, but the file ends in word {number}; fetch it again."
            )
        yield Row(_decoded(word.lstrip(b"\n"), f"word {number}"), f"word {number}", numbers, binary=True)
    if (stream.take(1) or b"\n") != b"\n" or stream.take(1):
        raise ValueError(
            f"Expected {count} words, as line 1 says, but got more; the file or its first line is damaged."
        )


def _decoded(word: bytes, position: str) -> str:
    try:
        text = word.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"Expected a word in UTF-8 in {position}, but got {word[:40]!r}; convert the file.") from None
    if "\n" in text:
        raise ValueError(f"Expected a word in {position}, but got {word[:40]!r}; is the dimension in line 1 right?")
    return text


class _Stream:
    """A file read in blocks, that is consumed up to a mark or by a number of bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._block = b""
        self._at = 0

    def take(self, size: int) -> bytes | None:
        """The next `size` bytes, or None if the file is shorter."""
        if not self._fill(size):
            return None
        self._at += size
        return self._block[self._at - size : self._at]

    def until(self, mark: bytes, longest: int) -> bytes | None:
        """The bytes before the next mark, which is skipped; None without a mark within `longest` bytes."""
        self._fill(longest)
        end = self._block.find(mark, self._at, self._at + longest)
        if end < 0:
            return None
        before, self._at = self._block[self._at : end], end + len(mark)
        return before

    def _fill(self, size: int) -> bool:
        if len(self._block) - self._at < size:
            self._block = self._block[self._at :] + self._file.read(max(size, 1 << 20))
            self._at = 0
        return len(self._block) - self._at >= size
