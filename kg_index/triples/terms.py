"""The terms of a triple index, mapped: ids are places in the order of the terms' UTF-8 bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from pathlib import Path

from kg_index.triples.columns import CorruptGraphError, map_bytes, view_column

_SIGNS, _SIGN = 8192, 200  # terms kept in memory, and bytes of each, that tell where to look


class TermTable:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "terms.text"
        self._text, self._begins = map_bytes(self._path), view_column(folder, "terms.begins")
        if self._begins[-1] != len(self._text):
            raise CorruptGraphError(folder / "terms.begins", f"an end at byte {self._begins[-1]} of {len(self._text)}")

    def __len__(self) -> int:
        return len(self._begins) - 1

    def id_of(self, term: str) -> int | None:
        """None for a term that is not in the graph."""
        key = term.encode(errors="surrogatepass")  # lone surrogates are in no file, but may be in a question
        text, begins, enough = self._text, self._begins, len(key) + 1  # enough of a long literal to compare

        def start(i: int) -> bytes:
            begin = begins[i]
            return text[begin : min(begins[i + 1], begin + enough)]

        found = bisect_left(range(len(self)), key, *self._around(key), key=start)
        return found if found < len(self) and start(found) == key else None

    def term(self, number: int) -> str:
        """Raises IndexError for an id that is none, CorruptGraphError where the file holds no text there."""
        if not 0 <= number < len(self):
            raise IndexError(f"Expected an id below {len(self)}, but got {number}; it may be of another index.")
        try:
            return self._text[self._begins[number] : self._begins[number + 1]].decode()
        except UnicodeDecodeError as error:
            raise CorruptGraphError(self._path, f"bytes that are not UTF-8 at term {number}") from error

    def _around(self, key: bytes) -> tuple[int, int]:
        """Places between which the key must stand: looking at few terms in the file saves half the time."""
        signs, step = self._signs
        low, high = bisect_left(signs, key[:_SIGN]), bisect_right(signs, key[:_SIGN])
        return max(low - 1, 0) * step, min(high * step, len(self))

    @cached_property
    def _signs(self) -> tuple[list[bytes], int]:
        """How every `step`-th term begins; read at the first question, a few ms."""
        step = len(self) // _SIGNS + 1
        begins = ((self._begins[i], self._begins[i + 1]) for i in range(0, len(self), step))
        return [self._text[begin : min(end, begin + _SIGN)] for begin, end in begins], step
