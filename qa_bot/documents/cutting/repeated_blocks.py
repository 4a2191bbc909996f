"""Boilerplate: blocks that repeat over the documents of a source, such as legal footers and navigation.

A block is boilerplate if at least 5 documents, and a fifth of the documents, of a source with at least 10 documents
have it; case and white space do not count. Digits do: lines of a template with other numbers are facts. The first
document with the block keeps it, so that it is never lost to search; if that is gone or loses it, another one is cut
again. Documents are counted in the order in which they were added, and the counts of frequent blocks are kept for the
next time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

LEAST_DOCUMENTS, LEAST_COPIES, LEAST_SHARE = 10, 5, 0.2
SHORTEST = 20
"""Characters; shorter blocks ("See also:") are not counted."""
CAPACITY = 5000
"""Blocks that are counted at once. If there are more, the rarest are forgotten: in documents of 30 blocks, those that
less than one in 150 has, far from a fifth."""
KEPT, KEPT_SHARE = 500, 0.05
"""Blocks that are kept for the next time, and the share of documents that have them."""


class _Count(NamedTuple):
    copies: int
    first: str  # id of the first document


class RepeatedBlocks:
    """Counts the blocks of a source's documents."""

    def __init__(
        self, documents: int = 0, counts: Mapping[str, tuple[int, str]] | None = None, heirs: Iterable[str] = ()
    ) -> None:
        self.documents = documents
        self.heirs = set(heirs)
        """Documents that are to be cut again, because they are the first now with a block that they did not keep."""
        self._counts = {digest: _Count(*count) for digest, count in (counts or {}).items()}

    def count(self, document: str, digests: Collection[str]) -> None:
        """Add a new document with the digests of its blocks."""
        self.documents += 1
        for digest in sorted(set(digests)):
            copies, first = self._counts.get(digest, (0, document))
            self._counts[digest] = _Count(copies + 1, first)
        if len(self._counts) > 2 * CAPACITY:
            self._counts = dict(self._most_frequent(CAPACITY))

    def boilerplate(self, document: str, digests: Collection[str]) -> frozenset[str]:
        """Those of a document's blocks that are boilerplate, and not its own to keep."""
        least = max(LEAST_COPIES, LEAST_SHARE * self.documents)
        if self.documents < LEAST_DOCUMENTS:
            return frozenset()
        counts = {digest: self._counts.get(digest, _Count(0, document)) for digest in digests}
        return frozenset(
            digest for digest, count in counts.items() if count.copies >= least and count.first != document
        )

    def has_earlier(self, document: str, digests: Collection[str]) -> bool:
        """Whether a document has blocks of earlier ones. Without, none of its blocks can become boilerplate in it."""
        return any(self._counts[digest].first != document for digest in digests if digest in self._counts)

    def frequent(self) -> dict[str, str]:
        """The document that keeps each block which may be boilerplate, by the digest of the block."""
        if self.documents < LEAST_DOCUMENTS:
            return {}
        return {digest: count.first for digest, count in self._counts.items() if count.copies >= LEAST_COPIES}

    def bequeath(self, digest: str, document: str) -> None:
        """Another document keeps a block from now on; it is to be cut again."""
        self._counts[digest] = _Count(self._counts[digest].copies - 1, document)
        self.heirs.add(document)

    def _most_frequent(self, number: int) -> list[tuple[str, _Count]]:
        return sorted(self._counts.items(), key=lambda item: -item[1].copies)[:number]

    def as_dict(self) -> dict[str, Any]:
        """For a manifest: the frequent blocks."""
        least = max(2.0, KEPT_SHARE * self.documents)
        counts = {digest: [*count] for digest, count in self._most_frequent(KEPT) if count.copies >= least}
        known = {"documents": self.documents, "blocks": counts}
        return {**known, "heirs": sorted(self.heirs)} if self.heirs else known

    @classmethod
    def of(cls, saved: object) -> RepeatedBlocks:
        """From `as_dict`; empty if it is something else."""
        if not isinstance(saved, Mapping) or not isinstance(saved.get("documents"), int):
            return cls()
        blocks = saved.get("blocks")
        known = blocks.items() if isinstance(blocks, Mapping) else ()
        counts = {str(digest): (count[0], count[1]) for digest, count in known if _is_count(count)}
        heirs = saved.get("heirs")
        return cls(max(0, saved["documents"]), counts, filter(_is_id, heirs) if isinstance(heirs, list) else ())


def _is_id(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _is_count(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and len(value) == 2 and isinstance(value[0], int) and isinstance(value[1], str)


def digest_of(block: str) -> str:
    """The digest of a block's text without case and white space; "" if it is short."""
    if len(block) < SHORTEST:
        return ""
    folded = " ".join(block.casefold().split())
    return hashlib.blake2b(folded.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
