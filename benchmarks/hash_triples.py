"""The triple index of Wang (2018), ch. 4.3.2: hash tables in memory, two for each of SP→O, OP→S and SO→P.

One table holds keys with a single value, the other keys with several. It is compared with
`kg_index/triples/triple_index.py`, which opens at once, takes at most a third of the bytes, and gives the same results.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kg_index.triples.columns import Ids
from kg_index.triples.ranges import Groups
from kg_index.triples.triple_index import TripleIndex
from qa_core.types import IntArray

Keys = NDArray[np.uint64]
_FREE = np.uint64(0xFFFF_FFFF_FFFF_FFFF)  # not a pair of ids, since the last id is unused
_FACTOR = 0x9E37_79B9_7F4A_7C15  # 2⁶⁴ / golden ratio (Knuth, The Art of Computer Programming 3, 6.4)
_WORD = 0xFFFF_FFFF_FFFF_FFFF


class HashTriples:
    """Triples by any two of their three terms; gives the same results as `TripleIndex`."""

    def __init__(self, s: IntArray, p: IntArray, o: IntArray) -> None:
        """Index triples from three columns (N,) in any order; duplicates count once."""
        self._sp_o, self._op_s, self._so_p = _PairMap(s, p, o), _PairMap(o, p, s), _PairMap(s, o, p)

    @classmethod
    def of(cls, index: TripleIndex) -> HashTriples:
        return cls(*index.columns())

    def __len__(self) -> int:
        return self._sp_o.size

    @property
    def nbytes(self) -> int:
        """Size of all tables in bytes."""
        return self._sp_o.nbytes + self._op_s.nbytes + self._so_p.nbytes

    def objects(self, s: int, p: int) -> IntArray:
        """Sorted ids (N,)."""
        return self._sp_o.get(s, p)

    def subjects(self, p: int, o: int) -> IntArray:
        """Sorted ids (N,)."""
        return self._op_s.get(o, p)

    def predicates(self, s: int, o: int) -> IntArray:
        """Sorted ids (N,)."""
        return self._so_p.get(s, o)

    def objects_many(self, s: IntArray, p: IntArray) -> Groups:
        return self._sp_o.get_many(s, p)

    def subjects_many(self, p: IntArray, o: IntArray) -> Groups:
        return self._op_s.get_many(o, p)

    def predicates_many(self, s: IntArray, o: IntArray) -> Groups:
        return self._so_p.get_many(s, o)


class _PairMap:
    """(first, second) → sorted values: `single` maps a key to its value, `several` to a row of `bounds`."""

    def __init__(self, first: IntArray, second: IntArray, values: IntArray) -> None:
        order = np.lexsort((values, second, first))
        keys, sorted_values = _keys(first[order], second[order]), values[order].astype(np.uint32)
        fresh = np.ones(len(keys), bool)
        fresh[1:] = (keys[1:] != keys[:-1]) | (sorted_values[1:] != sorted_values[:-1])
        keys, sorted_values = keys[fresh], sorted_values[fresh]
        distinct, begins, counts = np.unique(keys, return_index=True, return_counts=True)
        self.size, alone = len(keys), counts == 1
        self._single = _Table(distinct[alone], sorted_values[begins[alone]])
        self._several = _Table(distinct[~alone], np.arange(int((~alone).sum()), dtype=np.uint32))
        self._values: Ids = sorted_values[np.repeat(~alone, counts)]
        self._bounds = np.concatenate([[0], np.cumsum(counts[~alone])])

    @property
    def nbytes(self) -> int:
        return self._single.nbytes + self._several.nbytes + self._values.nbytes + self._bounds.nbytes

    def get(self, first: int, second: int) -> IntArray:
        key = (first << 32) | second
        if (value := self._single.get(key)) >= 0:
            return np.array([value], np.int64)
        if (row := self._several.get(key)) >= 0:
            return self._values[self._bounds[row] : self._bounds[row + 1]].astype(np.int64)
        return np.empty(0, np.int64)

    def get_many(self, first: IntArray, second: IntArray) -> Groups:
        keys = _keys(first, second)
        alone, rows = self._single.get_many(keys), self._several.get_many(keys)  # (N,), -1 for none
        several = rows >= 0
        lengths = (alone >= 0).astype(np.int64)
        lengths[several] = self._bounds[rows[several] + 1] - self._bounds[rows[several]]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        values = np.empty(bounds[-1], np.int64)
        values[bounds[:-1][alone >= 0]] = alone[alone >= 0]
        mask = np.repeat(several, lengths)
        starts = np.repeat(self._bounds[rows[several]] - bounds[:-1][several], lengths[several])
        values[mask] = self._values[np.flatnonzero(mask) + starts]
        return Groups(values, bounds)


class _Table:
    """Distinct keys (N,) to values (N,): open addressing with linear probing, at most half full."""

    def __init__(self, keys: Keys, values: Ids) -> None:
        bits = max((2 * len(keys)).bit_length(), 1)
        self._shift, self._mask = 64 - bits, (1 << bits) - 1
        self._keys, self._values = np.full(1 << bits, _FREE), np.zeros(1 << bits, np.uint32)
        self._insert(keys, values)
        self._key_view, self._value_view = self._keys.data, self._values.data

    @property
    def nbytes(self) -> int:
        return self._keys.nbytes + self._values.nbytes

    def get(self, key: int) -> int:
        """-1 for a key that is not there."""
        slot = (key * _FACTOR & _WORD) >> self._shift
        while (stored := self._key_view[slot]) != key:
            if stored == _WORD:
                return -1
            slot = (slot + 1) & self._mask
        return self._value_view[slot]

    def get_many(self, keys: Keys) -> IntArray:
        """(N,), -1 for keys that are not there."""
        values = np.full(len(keys), -1, np.int64)
        pending, slots = np.arange(len(keys)), self._slots(keys)
        while len(pending):
            stored = self._keys[slots]
            hit = stored == keys[pending]
            values[pending[hit]] = self._values[slots[hit]]
            onward = ~hit & (stored != _FREE)
            pending, slots = pending[onward], (slots[onward] + 1) & self._mask
        return values

    def _insert(self, keys: Keys, values: Ids) -> None:
        slots = self._slots(keys)
        while len(keys):
            free = self._keys[slots] == _FREE
            self._keys[slots[free]] = keys[free]  # the last of several keys for one slot remains
            placed = self._keys[slots] == keys
            self._values[slots[placed]] = values[placed]
            keys, values, slots = keys[~placed], values[~placed], (slots[~placed] + 1) & self._mask

    def _slots(self, keys: Keys) -> IntArray:
        return ((keys * np.uint64(_FACTOR)) >> np.uint64(self._shift)).astype(np.int64)


def _keys(first: IntArray, second: IntArray) -> Keys:
    return (first.astype(np.uint64) << np.uint64(32)) | second.astype(np.uint64)
