"""The error that every local engine raises if its files are damaged."""

from __future__ import annotations

from pathlib import Path


class CorruptIndexError(RuntimeError):
    """An index that exists but cannot be read; a missing index is a `FileNotFoundError`."""

    def __init__(self, path: Path, got: object) -> None:
        super().__init__(f"Expected a readable index in {path}, but got: {got}; run qa-bot repair to rebuild it.")
