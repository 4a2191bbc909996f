"""What a home knows of the blocks that repeat over the documents of each source; the index's manifest keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from qa_bot.documents.cutting.repeated_blocks import RepeatedBlocks, digest_of
from qa_bot.home.store import SourceStore

KEY = "repeated_blocks"
"""Of the manifest."""


class Boilerplate:
    """The repeated blocks of each source, by its number or, for documents without a source, by their collection."""

    def __init__(self, manifest: Mapping[str, Any] | None = None) -> None:
        known = (manifest or {}).get(KEY)
        self._sources = {str(key): RepeatedBlocks.of(value) for key, value in known.items()} if known else {}

    def of(self, source: str) -> RepeatedBlocks:
        return self._sources.setdefault(source, RepeatedBlocks())

    def as_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return {KEY: {source: blocks.as_dict() for source, blocks in self._sources.items() if blocks.documents}}


def choose_heirs(
    blocks: RepeatedBlocks, before: Mapping[str, str], store: SourceStore, source: int, generation: int
) -> set[str]:
    """Have other documents keep the blocks whose document is gone or lost them, and return the files of these.

    Args:
        before: what `blocks.frequent` was before the documents were read.
        source: the source that the blocks are counted of.
        generation: the one that is being built.
    """
    keepers = {digest: id_ for digest, id_ in blocks.frequent().items() if before.get(digest) == id_}
    born = store.generations_of(source, set(keepers.values()))
    changed = {id_ for id_, number in born.items() if number == generation}
    texts, former = (store.texts_of(source, changed, retired=number) for number in (None, generation))
    lost = {digest for digest, id_ in keepers.items() if id_ not in born}
    for id_ in changed - blocks.heirs:
        lost |= {digest for digest in _digests(former[id_]) if keepers.get(digest) == id_}.difference(
            _digests(texts[id_])
        )
    blocks.heirs -= changed
    files: set[str] = set()
    for id_, file, text in store.unsearched(source) if lost else ():
        for digest in lost.intersection(_digests([text])):
            blocks.bequeath(digest, id_)
            lost.discard(digest)
            files.add(file)
        if not lost:
            break
    return files


def _digests(texts: Iterable[str]) -> Iterator[str]:
    """The digests of texts and of the blocks in them."""
    return (digest_of(block) for text in texts for block in (text, *text.split("\n\n")))
