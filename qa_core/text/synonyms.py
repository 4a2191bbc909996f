"""Synonyms of English words that have exactly one sense, from WordNet 3.0.

`synonyms.tsv` is written by `qa_lab.fit.synonym_table`; its licence is in `WORDNET-LICENSE`. Each line holds a word, or
an inflected form of one, and the other words of its sense. The file is memory-mapped, so nothing is loaded at start.
"""

from __future__ import annotations

import mmap
from functools import cache, lru_cache
from pathlib import Path

TABLE = Path(__file__).with_name("synonyms.tsv")


@lru_cache(maxsize=4_096)
def synonyms(word: str) -> tuple[str, ...]:
    """The synonyms of a single word, in lower case; () if it is unknown or has several senses."""
    line = find_line(_table(), f"{word.casefold()}\t".encode())
    return tuple(line.decode().split("\t")[1:])


def find_line(lines: bytes | mmap.mmap, prefix: bytes) -> bytes:
    """The line that starts with `prefix`, found by bisection over lines in the order of their bytes; b"" if none."""
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high) // 2
        start = lines.rfind(b"\n", low, middle) + 1 or low
        end = lines.find(b"\n", middle)
        line = lines[start:end]
        if line.startswith(prefix):
            return line
        if line < prefix:
            low = end + 1
        else:
            high = start
    return b""


@cache
def _table() -> mmap.mmap:
    with TABLE.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
