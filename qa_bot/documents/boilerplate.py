"""What a home knows of the blocks that repeat over the documents of each source; the index's manifest keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qa_bot.documents.cutting.repeated_blocks import RepeatedBlocks

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
