"""Mentions: which spans of a text may name which entities (thesis, section 4.3.3). The one door of marisa-trie.

A table is a folder, mapped into memory and never changed:

    words.marisa     a trie over the folded names; a name's id in it is its key
    offsets.npy      (names + 1,) where the rows of a name begin
    entities.npy     (rows,) most counted first within a name
    counts.npy       (rows,)
    mentions.json    numbers and checksums, written last: without it there is no table

A trie instead of the thesis' Aho-Corasick automaton: it takes a fortieth of the memory, opens at once, and names that
begin within a word cannot hide those that begin at one.
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

LONGEST_NAME = 32  # words; longer labels are sentences, which no question repeats
LONGEST_KEY = 400  # characters
MOST = 1000  # entities of one name that are looked at, the most counted first


@dataclass(frozen=True, slots=True)
class Mention:
    """`text` stands at `[start, end)` of the question; `key` is its name in the table, of `words` words."""

    start: int
    end: int
    text: str
    key: int
    words: int = 1


class MentionWriter:
    """Collects rows on disk and writes the table when the `with` block is left without an error.

    Memory: the names once while the trie is built, about 120 bytes a row in all; the trie itself is a twentieth of
    that. `skipped` counts the rows whose text
    holds no word or is longer than a name can be.
    """

    def __init__(self, folder: Path, *, salience: Callable[[IntArray], IntArray] | None = None) -> None:
        """`salience` gives the facts of entities: what orders those of a name that are counted alike."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in (HEAD, WORDS, OFFSETS, ENTITIES, COUNTS):
            (folder / name).unlink(missing_ok=True)  # the head first: what is half removed is no table
        self.folder, self.skipped = folder, 0
        self._salience = salience
        self._keys = (folder / "keys.partial").open("w", encoding="utf-8", newline="\n")
        self._entities, self._counts = array("I"), array("I")

    def add(self, text: str, entity: int, count: int = 1) -> None:
        """One row; those of the same name and entity are added up."""
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
        """Write the table; nobody can open it before this is done."""
        self._keys.close()
        trie = marisa_trie.Trie(line for line, _ in groupby(self._lines()))  # labels and titles often agree
        trie.save(str(self.folder / WORDS))
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
    """A table of rows (text, entity, count), opened."""
    with MentionWriter(folder, salience=salience) as writer:
        for text, entity, count in rows:
            writer.add(text, entity, count)
    return Mentions(folder)


class Mentions:
    """The names of a table; opening it maps the files and reads none but the trie through.

    The trie's checksum is compared, since a walk through a damaged one can end the process (zlib takes a millisecond a
    megabyte); what damage does to the arrays is a wrong entity at worst, and `verify` finds it.

    Raises:
        FileNotFoundError: there is no table, or its writer has not come to the end.
        CorruptMentionsError: files are missing, cut off, changed, or do not belong together.
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
        """Distinct names."""
        return len(self._trie)

    @property
    def rows(self) -> int:
        """Pairs of a name and an entity."""
        return int(self._entities.size)

    def key(self, name: str) -> int | None:
        """The key of a name however it is written, None where the table has none like it."""
        found: int | None = self._trie.get(key_of(name))
        return found

    def name(self, key: int) -> str:
        """The folded name of a key."""
        return str(self._trie.restore_key(key))

    def entities(self, key: int, *, most: int = MOST) -> tuple[IntArray, IntArray]:
        """Entities of a name and their counts, (N,) each, at most `most`, the most counted first."""
        start, end = int(self._offsets[key]), int(self._offsets[key + 1])
        end = min(end, start + most)
        return self._entities[start:end].astype(np.int64), self._counts[start:end].astype(np.int64)

    def find(self, text: str) -> list[Mention]:
        """Every span of whole words that is a name, by start and then by end; overlaps are kept.

        A name of stop words and single letters alone ("it", "the who") counts only where it is written as a name: see
        `kg_index.linking.name_folding.looks_like_name`. One look into the trie a word, whatever the length of the
        names.
        """
        words = name_words(text)
        starts = [0, *accumulate(len(word.folded) + 1 for word in words)]  # of each word in `joined`
        joined = " ".join(word.folded for word in words)
        ends = {start - 1: i for i, start in enumerate(starts)}
        found = []
        for i, word in enumerate(words):
            begin = starts[i]
            window = joined[begin : min(starts[min(i + LONGEST_NAME, len(words))] - 1, begin + LONGEST_KEY)]
            for name, key in self._trie.iter_prefixes_with_ids(window):
                after = ends.get(begin + len(name))
                if after is None:
                    continue  # ends within a word
                end = words[after - 1].end
                if not is_function_name(name) or looks_like_name(text, word.start, end):
                    found.append(Mention(word.start, end, text[word.start : end], key, after - i))
        return found

    def verify(self) -> None:
        """Read all files and compare their checksums; raises CorruptMentionsError."""
        for name in self._head["files"]:
            self._verify(name)

    def _verify(self, name: str) -> None:
        expected, found = self._head["files"][name][1], checksum(self.folder / name)
        if found != expected:
            raise CorruptMentionsError(self.folder / name, f"checksum {found:08x} instead of {expected:08x}")

    def _check(self) -> None:
        names, rows = self._head["names"], self._head["rows"]
        expected = {WORDS: names, OFFSETS: names + 1, ENTITIES: rows, COUNTS: rows}
        found = {WORDS: len(self._trie), OFFSETS: self._offsets.size, ENTITIES: self._entities.size}
        found[COUNTS] = self._counts.size
        for name, count in expected.items():
            if found[name] != count:
                raise CorruptMentionsError(self.folder / name, f"{found[name]} entries instead of {count}")
        if int(self._offsets[-1]) != rows:
            raise CorruptMentionsError(self.folder / OFFSETS, f"an end at {int(self._offsets[-1])} instead of {rows}")


def resolve(mentions: Sequence[Mention], *, salience: Callable[[Mention], float] = lambda _: 0.0) -> list[Mention]:
    """Mentions that do not overlap, by start: of two that do the one of more words stays, then the more salient.

    Then the one of more characters, then the earlier one.
    """
    taken = bytearray(max((mention.end for mention in mentions), default=0))
    kept = []
    for mention in sorted(mentions, key=lambda m: (-m.words, -salience(m), m.start - m.end, m.start)):
        if not any(taken[mention.start : mention.end]):
            taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
            kept.append(mention)
    return sorted(kept, key=lambda m: m.start)


def _mapped_trie(path: Path) -> marisa_trie.Trie:
    try:
        return marisa_trie.Trie().mmap(str(path))
    except RuntimeError as error:
        raise CorruptMentionsError(path, error) from None
