"""The one error that both engines raise when their files are not as they were written."""

from __future__ import annotations

from pathlib import Path


class CorruptIndexError(RuntimeError):
    """An index that is there but cannot be read; an index that is not there is a `FileNotFoundError` instead."""

    def __init__(self, path: Path, found: object) -> None:
        super().__init__(f"Expected a readable index in {path}, but got: {found}; run qa-bot repair to rebuild it.")
        self.path = path
