"""Sorts lines of text by their bytes in numpy, without a Python object per line, which would be several times slower.

A radix sort from the first byte: lines with an equal prefix form a group, which is sorted by its next eight bytes after
skipping what all its lines share. Small groups are sorted together, by the group's number and four bytes at a time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_LARGE = 1 << 12  # lines of a group that is sorted alone
_DEEPEST, _FEWEST = 256, 256  # beyond this prefix, or below this many lines, Python's sort is faster
_PIECE = 1 << 14  # lines joined at a time
_LONG = 1 << 9  # average bytes of a line from which slices are faster than gathering bytes
_LEADING = np.array([(0xFFFFFFFFFFFFFFFF << (8 * (8 - length))) % (1 << 64) for length in range(9)], np.uint64)
_END = np.uint64(0xFF)
_HALF = np.uint64(32)

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines as one text with begins and ends; eight padding bytes follow the text."""

    text: NDArray[np.uint8]
    begins: Numbers  # (N,)
    ends: Numbers  # (N,), indices of the newlines

    @classmethod
    def of(cls, pieces: Iterable[bytes]) -> Lines:
        """Of pieces that consist of whole lines."""
        text = np.frombuffer(b"".join(chain(pieces, [bytes(8)])), np.uint8)
        ends = np.flatnonzero(text == 0x0A)
        begins = np.empty_like(ends)
        begins[:1], begins[1:] = 0, ends[:-1] + 1
        return cls(text, begins, ends)

    def __len__(self) -> int:
        return len(self.ends)

    def line(self, i: int) -> bytes:
        """Without its newline."""
        return self.text[self.begins[i] : self.ends[i]].tobytes()

    def between(self, first: int, last: int) -> bytes:
        """The text of the lines `first` to `last` (exclusive)."""
        return self.text[self.begins[first] : self.ends[last - 1] + 1].tobytes() if first < last else b""

    def write(self, file: BinaryIO, order: Numbers, *, end: bool) -> None:
        """Write the lines in this order, with newlines if `end`."""
        file.writelines(self._joined(order[at : at + _PIECE], end) for at in range(0, len(order), _PIECE))

    def _joined(self, order: Numbers, end: bool) -> bytes:
        begins = self.begins[order]
        lengths = self.ends[order] - begins + int(end)
        if lengths.sum() > _LONG * len(order):
            return b"".join(self.text[b : b + n].tobytes() for b, n in zip(begins, lengths, strict=True))
        taken = np.repeat(begins - (np.cumsum(lengths) - lengths), lengths)
        taken += np.arange(len(taken))
        joined: bytes = self.text[taken].tobytes()
        return joined


def ordered(lines: Lines) -> tuple[Numbers, Flags]:
    """The order of the lines (N,), and whether each line, in that order, differs from the previous one (N,).

    Lines must not hold bytes below 0x20.
    """
    ordering = _Ordering(lines)
    if len(lines):
        ordering.sort()
    return ordering.order, ordering.first


class _Ordering:
    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self.order, self.first = np.arange(len(lines)), np.zeros(len(lines), bool)
        self.first[:1] = True
        self._small: list[tuple[Numbers, Numbers]] = []  # ranks of lines, next bytes

    def sort(self) -> None:
        large = [(0, len(self.order), 0)]
        while large:
            large += self._split(*large.pop())
        self._small.sort(key=lambda group: int(group[0][0]))
        if self._small:
            at, reading = (np.concatenate(columns) for columns in zip(*self._small, strict=True))
            self._sort_rest(self._sort_small(at, reading))

    def _split(self, start: int, end: int, depth: int) -> list[tuple[int, int, int]]:
        """Sort the lines of ranks `start` to `end`, equal up to `depth`, by the next bytes; the large groups left."""
        members = self.order[start:end]
        reading, ends = self._lines.begins[members] + depth, self._lines.ends[members]
        keys = _eight(self._lines.text, reading, ends)
        while depth < _DEEPEST and keys[0] & _END and (keys == keys[0]).all():
            depth += 8
            reading += 8
            keys = _eight(self._lines.text, reading, ends)
        sorting = np.argsort(keys)
        keys, self.order[start:end], reading = keys[sorting], members[sorting], reading[sorting]
        heads = np.flatnonzero(_differs(keys))
        self.first[start + heads] = True
        sizes = np.diff(heads, append=end - start)
        open_ = (sizes > 1) & ((keys[heads] & _END) != 0)  # lines that have ended are equal
        large = open_ & (sizes >= _LARGE) & (depth < _DEEPEST)
        small = np.flatnonzero(np.repeat(open_ & ~large, sizes))
        if len(small):
            self._small.append((start + small, reading[small] + 8))
        begins = start + heads[large]
        return [(a, a + n, depth + 8) for a, n in zip(begins.tolist(), sizes[large].tolist(), strict=True)]

    def _sort_small(self, at: Numbers, reading: Numbers) -> Numbers:
        """Sort within the groups at these ranks. Returns the ranks of lines that are still equal."""
        order, first = self.order, self.first
        for _ in range(_DEEPEST // 4):
            if len(at) < _FEWEST:
                break
            members = order[at]
            keys = np.cumsum(first[at], dtype=np.uint64) << _HALF
            keys |= _eight(self._lines.text, reading, self._lines.ends[members]) >> _HALF
            sorting = np.argsort(keys)
            keys, order[at], reading = keys[sorting], members[sorting], reading[sorting]
            differs = _differs(keys)
            first[at] |= differs
            alike = ~differs
            alike[:-1] |= ~differs[1:]
            alike &= (keys & _END) != 0
            at, reading = at[alike], reading[alike] + 4
        return at

    def _sort_rest(self, at: Numbers) -> None:
        groups = np.cumsum(self.first[at]).tolist()
        keys = sorted((group, self._lines.line(i), i) for group, i in zip(groups, self.order[at].tolist(), strict=True))
        self.order[at] = np.array([i for _, _, i in keys], np.int64)
        self.first[at[1:]] |= np.array([a[:2] != b[:2] for a, b in pairwise(keys)], bool)


def _differs(keys: NDArray[np.uint64]) -> Flags:
    """Which of sorted keys differ from the previous one."""
    differs = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=differs[1:])
    return differs


def _eight(text: NDArray[np.uint8], begins: Numbers, ends: Numbers) -> NDArray[np.uint64]:
    """Eight bytes from each begin as numbers in the order of the bytes; zeros after a line's end."""
    words: NDArray[Any] = np.ndarray(len(text) - 7, "<u8", text, strides=(1,))
    keys: NDArray[np.uint64] = words[begins].byteswap(inplace=True)
    left = ends - begins
    short = np.flatnonzero(left < 8)
    keys[short] &= _LEADING[left[short]]
    return keys
