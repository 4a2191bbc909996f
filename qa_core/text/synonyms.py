"""Synonyms of English words that have exactly one sense, from WordNet 3.0, and of German words, from OpenThesaurus.

`synonyms.tsv` is written by `qa_lab.fit.synonym_table`, `german_synonyms.tsv` by `qa_lab.fit.language.synonym_table`;
their licences are in `WORDNET-LICENSE` and `OPENTHESAURUS-LICENSE`. Each line holds a word, in English also an
inflected form of one, and the other words of its sense or senses. The files are memory-mapped, so nothing is loaded at
start.
"""

from __future__ import annotations

import mmap
from functools import cache, lru_cache
from pathlib import Path

TABLE = Path(__file__).with_name("synonyms.tsv")
GERMAN_TABLE = Path(__file__).with_name("german_synonyms.tsv")


@lru_cache(maxsize=4_096)
def synonyms(word: str) -> tuple[str, ...]:
    """The synonyms of a single word, in lower case; () if it is unknown or has several senses."""
    return _others(TABLE, word.casefold())


def german_synonyms(word: str) -> tuple[str, ...]:
    """The synonyms of a German word in its base form, of all its senses; nouns have capitals. () if it is unknown."""
    return _others(GERMAN_TABLE, word)


def _others(table: Path, word: str) -> tuple[str, ...]:
    line = find_line(_lines(table), f"{word}\t".encode())
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
def _lines(table: Path) -> bytes | mmap.mmap:
    """The table, mapped into memory; an empty file cannot be."""
    with table.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if table.stat().st_size else b""
