"""Finds names of entities in a text by a memory-mapped trie (Wang (2018), ch. 4.3.3).

A table is an immutable folder:

    words.marisa     a trie over the folded names; a name's id in it is its key
    offsets.npy      (names + 1,) first row of each name
    entities.npy     (rows,) by descending count within a name
    counts.npy       (rows,)
    mentions.json    sizes and checksums, written last: without it the table does not exist

Wang uses an Aho-Corasick automaton. A trie takes a fortieth of the memory, opens at once, and matches only at the start
of a word.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path
from types import TracebackType
from typing import Self

import marisa_trie
import numpy as np

from kg_index.linking.mention_files import (
    COUNTS,
    ENTITIES,
    HEAD,
    LARGEST,
    OFFSETS,
    WORDS,
    CorruptMentionsError,
    mapped_array,
    merged,
    ordered,
    read_head,
    write_arrays,
    write_head,
)
from kg_index.linking.name_folding import is_function_name, key_of, looks_like_name, name_words
from kg_index.triples.columns import checksum
from qa_core.types import IntArray

LONGEST_NAME = 32  # words; longer labels are sentences
LONGEST_KEY = 400  # characters
MOST = 1000  # entities of one name, by descending count


@dataclass(frozen=True, slots=True)
class Mention:
    """`text` at `[start, end)` of the question is the name `key` of the table, `words` words long."""

    start: int
    end: int
    text: str
    key: int
    words: int = 1


class MentionWriter:
    """Collects rows on disk and writes the table when the `with` block ends without an error.

    Building the trie takes about 120 bytes of memory per row. `skipped` counts rows whose text has no word or is too
    long for a name.
    """

    def __init__(self, folder: Path, *, salience: Callable[[IntArray], IntArray] | None = None) -> None:
        """`salience` orders entities with the same count for a name."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in (HEAD, WORDS, OFFSETS, ENTITIES, COUNTS):
            (folder / name).unlink(missing_ok=True)  # the head first: without it the table does not exist
        self.folder, self.skipped = folder, 0
        self._salience = salience
        self._keys = (folder / "keys.partial").open("w", encoding="utf-8", newline="\n")
        self._entities, self._counts = array("I"), array("I")

    def add(self, text: str, entity: int, count: int = 1) -> None:
        """Add a row; counts of the same name and entity are summed."""
        if not 0 <= entity <= LARGEST:
            raise ValueError(f"Expected an entity's id from 0 to {LARGEST}, but got {entity} for {text[:80]!r}.")
        if count < 1:
            raise ValueError(f"Expected a count of 1 or more, but got {count} for {text[:80]!r}.")
        key = key_of(text[: 4 * LONGEST_KEY])
        if not key or len(key) > LONGEST_KEY or key.count(" ") >= LONGEST_NAME:
            self.skipped += 1
            return
        self._keys.write(f"{key}\n")
        self._entities.append(entity)
        self._counts.append(min(count, LARGEST))

    def finish(self) -> None:
        """Write the table, which cannot be opened before."""
        self._keys.close()
        trie = marisa_trie.Trie(line for line, _ in groupby(self._lines()))  # labels and titles often agree
        (self.folder / WORDS).write_bytes(trie.tobytes())  # `save` raises a bare RuntimeError if the disk is full
        keys = np.fromiter(map(trie.key_id, self._lines()), dtype=np.uint32, count=len(self._entities))
        rows = merged(keys, np.array(self._entities, np.uint32), np.array(self._counts, np.uint32))
        keys, entities, counts = ordered(*rows, self._salience)
        write_arrays(self.folder, len(trie), keys, entities, counts)
        (self.folder / "keys.partial").unlink()
        write_head(self.folder, names=len(trie), rows=len(keys))

    def _lines(self) -> Iterator[str]:
        with (self.folder / "keys.partial").open(encoding="utf-8", newline="\n") as file:
            yield from (line[:-1] for line in file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
            return
        self._keys.close()
        (self.folder / "keys.partial").unlink(missing_ok=True)


def write_mentions(
    rows: Iterable[tuple[str, int, int]], folder: Path, *, salience: Callable[[IntArray], IntArray] | None = None
) -> Mentions:
    """Write a table of rows (text, entity, count) and open it."""
    with MentionWriter(folder, salience=salience) as writer:
        for text, entity, count in rows:
            writer.add(text, entity, count)
    return Mentions(folder)


class Mentions:
    """An open table of names.

    Opening maps the files and compares the trie's checksum (1 ms per MB), since a damaged trie can crash the process.
    Damaged arrays give wrong entities at worst; `verify` finds them.

    Raises:
        FileNotFoundError: the table does not exist or is unfinished.
        CorruptMentionsError: files are missing, truncated, changed, or inconsistent.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._head = read_head(folder)
        self._verify(WORDS)
        self._trie = _mapped_trie(folder / WORDS)
        self._offsets, self._entities, self._counts = (
            mapped_array(folder / name) for name in (OFFSETS, ENTITIES, COUNTS)
        )
        self._check()

    def __len__(self) -> int:
        """Number of distinct names."""
        return len(self._trie)

    @property
    def rows(self) -> int:
        """Number of pairs of a name and an entity."""
        return int(self._entities.size)

    def key(self, name: str) -> int | None:
        """The key of a name in any spelling that folds to it, or None."""
        key: int | None = self._trie.get(key_of(name))
        return key

    def name(self, key: int) -> str:
        """The folded name of a key."""
        return str(self._trie.restore_key(key))

    def entities(self, key: int, *, most: int = MOST) -> tuple[IntArray, IntArray]:
        """Entities of a name and their counts, (N,) each, at most `most`, by descending count."""
        start, end = int(self._offsets[key]), int(self._offsets[key + 1])
        end = min(end, start + most)
        return self._entities[start:end].astype(np.int64), self._counts[start:end].astype(np.int64)

    def find(self, text: str) -> list[Mention]:
        """All spans of whole words that are a name, overlapping ones too, by start and then by end.

        A name of stop words and single letters alone ("it", "the who") counts only if it is written as a name; see
        `kg_index.linking.name_folding.looks_like_name`. Takes one lookup in the trie per word.
        """
        words = name_words(text)
        starts = [0, *accumulate(len(word.folded) + 1 for word in words)]  # of each word in `joined`
        joined = " ".join(word.folded for word in words)
        ends = {start - 1: i for i, start in enumerate(starts)}
        mentions = []
        for i, word in enumerate(words):
            begin = starts[i]
            window = joined[begin : min(starts[min(i + LONGEST_NAME, len(words))] - 1, begin + LONGEST_KEY)]
            for name, key in self._trie.iter_prefixes_with_ids(window):
                after = ends.get(begin + len(name))
                if after is None:
                    continue  # ends within a word
                end = words[after - 1].end
                if not is_function_name(name) or looks_like_name(text, word.start, end):
                    mentions.append(Mention(word.start, end, text[word.start : end], key, after - i))
        return mentions

    def verify(self) -> None:
        """Compare the checksums of all files. Raises CorruptMentionsError if one differs."""
        for name in self._head["files"]:
            self._verify(name)

    def _verify(self, name: str) -> None:
        expected, actual = self._head["files"][name][1], checksum(self.folder / name)
        if actual != expected:
            raise CorruptMentionsError(self.folder / name, f"checksum {actual:08x} instead of {expected:08x}")

    def _check(self) -> None:
        names, rows = self._head["names"], self._head["rows"]
        sizes = {
            WORDS: (len(self._trie), names),
            OFFSETS: (self._offsets.size, names + 1),
            ENTITIES: (self._entities.size, rows),
            COUNTS: (self._counts.size, rows),
        }
        for name, (size, expected) in sizes.items():
            if size != expected:
                raise CorruptMentionsError(self.folder / name, f"{size} entries instead of {expected}")
        if int(self._offsets[-1]) != rows:
            raise CorruptMentionsError(self.folder / OFFSETS, f"an end at {int(self._offsets[-1])} instead of {rows}")


def resolve(mentions: Sequence[Mention], *, salience: Callable[[Mention], float] = lambda _: 0.0) -> list[Mention]:
    """Mentions without overlaps, by start.

    Of two overlapping ones that with more words wins, then the more salient, then the longer, then the earlier.
    """
    taken = bytearray(max((mention.end for mention in mentions), default=0))
    chosen = []
    for mention in sorted(mentions, key=lambda m: (-m.words, -salience(m), m.start - m.end, m.start)):
        if not any(taken[mention.start : mention.end]):
            taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
            chosen.append(mention)
    return sorted(chosen, key=lambda m: m.start)


def _mapped_trie(path: Path) -> marisa_trie.Trie:
    try:
        return marisa_trie.Trie().mmap(str(path))
    except RuntimeError as error:
        raise CorruptMentionsError(path, error) from None
