"""The digest by which a file's content is known again."""

from __future__ import annotations

import hashlib
from pathlib import Path


def file_digest(location: str) -> str:
    """The digest of a file's bytes; "" if it cannot be read."""
    try:
        with Path(location).open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError:
        return ""
