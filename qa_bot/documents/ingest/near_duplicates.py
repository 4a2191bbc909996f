"""Near-duplicate texts by super-shingles (Broder, Glassman, Manasse and Zweig 1997, "Syntactic clustering of the web").

The three-word shingles of a text are hashed 12 ways; the minimum of each way is equal for two texts with
probability J, their Jaccard similarity. Four such values make one super-shingle, so that two texts share it with
probability J⁴, and at least two of three with 3 J⁸ - 2 J¹²: .93 at J = .96 (one word of 150 changed), .73 at .9,
.37 at .8, .01 at .5.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

SuperShingles = tuple[int, int, int]

SHINGLE = 3
GROUPS = 3
WAYS = 4  # values in a group
SHORT = 12  # words; a shorter text has too few shingles to compare
AT_ONCE = 32  # texts; their words need a few hundred kilobytes
WORD = re.compile(r"\w+")
LARGEST = np.uint64(2**64 - 1)

Hashes = NDArray[np.uint64]


def super_shingles(text: str) -> SuperShingles:
    """Three 63-bit values, the same in every process and on every machine."""
    return super_shingles_of([text])[0]


def super_shingles_of(texts: Sequence[str]) -> list[SuperShingles]:
    """The values of each text; many texts at once take little more than half the time of one after the other."""
    values: list[SuperShingles] = []
    for start in range(0, len(texts), AT_ONCE):
        values += _of_some(texts[start : start + AT_ONCE])
    return values


def _of_some(texts: Sequence[str]) -> list[SuperShingles]:
    values: dict[int, SuperShingles] = {}
    words: list[bytes] = []
    starts: dict[int, int] = {}  # of the words of longer texts
    for index, text in enumerate(texts):
        own_words = WORD.findall(text.casefold())
        normalised = (" ".join(own_words) or text.strip()).encode("utf-8", "replace")
        if len(own_words) < SHORT:
            values[index] = _exact(normalised)
        else:
            starts[index] = len(words)
            words += normalised.split(b" ")
    if starts:
        values |= zip(starts, _of_words(words, [*starts.values()]), strict=True)
    return [values[index] for index in range(len(texts))]


def _of_words(words: Sequence[bytes], starts: Sequence[int]) -> list[SuperShingles]:
    """Of texts that begin at the words `starts`."""
    hashes = np.fromiter(map(zlib.crc32, words), np.uint64, len(words))
    ways = _shingles(hashes) * MULTIPLIERS + OFFSETS  # (GROUPS * WAYS, W - 2)
    for end in starts[1:]:
        ways[:, end - SHINGLE + 1 : end] = LARGEST  # shingles of two texts
    minima = _mixed(np.minimum.reduceat(ways, starts, axis=1)).reshape(GROUPS, WAYS, len(starts))
    return [*map(_triple, np.bitwise_xor.reduce(_mixed(minima * POSITIONS[:, None]), axis=1).T)]


def near(left: SuperShingles, right: SuperShingles) -> bool:
    """Whether two texts count as near-duplicates: two of their three values are equal."""
    return sum(one == other for one, other in zip(left, right, strict=True)) >= 2


def _exact(normalised: bytes) -> SuperShingles:
    digest = blake2b(normalised, digest_size=8 * GROUPS).digest()
    return _triple(np.frombuffer(digest, "<u8"))


def _triple(values: Hashes) -> SuperShingles:
    one, two, three = values.tolist()
    return one >> 1, two >> 1, three >> 1


def _shingles(words: Hashes) -> Hashes:
    """One value for each run of three words, (N,) to (N - 2,)."""
    count = len(words) - SHINGLE + 1
    rows = sum(words[i : i + count] * POSITIONS[i] for i in range(SHINGLE))
    return _mixed(np.asarray(rows, dtype=np.uint64))


def _mixed(values: Hashes) -> Hashes:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014): each bit of the input moves half of the output."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _constants(first: int, count: int) -> Hashes:
    """Fixed odd numbers without a pattern."""
    steps = np.arange(first, first + count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return _mixed(steps) | np.uint64(1)


POSITIONS = _constants(1, WAYS)
MULTIPLIERS = _constants(101, GROUPS * WAYS)[:, None]
OFFSETS = _constants(201, GROUPS * WAYS)[:, None]
