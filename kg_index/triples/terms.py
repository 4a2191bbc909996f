"""The terms of a triple index, memory-mapped; a term's id is its rank in the order of UTF-8 bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from pathlib import Path

from kg_index.triples.columns import CorruptGraphError, map_bytes, view_column

_SAMPLES, _PREFIX = 8192, 200  # terms sampled in memory to narrow the search, and bytes of each


class TermTable:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "terms.text"
        self._text, self._begins = map_bytes(self._path), view_column(folder, "terms.begins")
        if self._begins[-1] != len(self._text):
            raise CorruptGraphError(folder / "terms.begins", f"an end at byte {self._begins[-1]} of {len(self._text)}")

    def __len__(self) -> int:
        return len(self._begins) - 1

    def id_of(self, term: str) -> int | None:
        """None if the graph does not have the term."""
        key = term.encode(errors="surrogatepass")  # a question may hold lone surrogates
        text, begins, enough = self._text, self._begins, len(key) + 1  # bytes that decide a comparison

        def start(i: int) -> bytes:
            begin = begins[i]
            return text[begin : min(begins[i + 1], begin + enough)]

        number = bisect_left(range(len(self)), key, *self._around(key), key=start)
        return number if number < len(self) and start(number) == key else None

    def term(self, number: int) -> str:
        """Raises IndexError for an id out of range, CorruptGraphError for bytes that are not UTF-8."""
        if not 0 <= number < len(self):
            raise IndexError(f"Expected an id below {len(self)}, but got {number}; it may be of another index.")
        try:
            return self._text[self._begins[number] : self._begins[number + 1]].decode()
        except UnicodeDecodeError as error:
            raise CorruptGraphError(self._path, f"bytes that are not UTF-8 at term {number}") from error

    def _around(self, key: bytes) -> tuple[int, int]:
        """Bounds of the id that the key can have, from the samples: touching few terms in the file halves the time."""
        samples, step = self._samples
        low, high = bisect_left(samples, key[:_PREFIX]), bisect_right(samples, key[:_PREFIX])
        return max(low - 1, 0) * step, min(high * step, len(self))

    @cached_property
    def _samples(self) -> tuple[list[bytes], int]:
        """The beginning of every `step`-th term; read by the first lookup, in a few ms."""
        step = len(self) // _SAMPLES + 1
        begins = ((self._begins[i], self._begins[i + 1]) for i in range(0, len(self), step))
        return [self._text[begin : min(end, begin + _PREFIX)] for begin, end in begins], step
