"""Kept vectors: records whose checksum is wrong are made anew, so damage costs only time."""

from __future__ import annotations

import json
from pathlib import Path

from qa_bot.home.folder import Home
from qa_bot.home.kept_vectors import FINGERPRINT, SUFFIX, damaged_files
from qa_bot.home.starter import TRANSFORMER


def check_vectors(home: Home) -> str:
    """Raises OSError if a file of kept vectors is damaged."""
    if not home.vectors.is_dir():
        return "none kept"
    if damaged := damaged_vectors(home):
        names = ", ".join(path.name for path in damaged)
        raise OSError(f"{home.vectors} has damaged records in {names}; run `qa-bot repair`, which removes them.")
    return "every checksum is right"


def damaged_vectors(home: Home) -> list[Path]:
    """The files that `repair` removes, and the note on their encoder if it is not readable."""
    if not home.vectors.is_dir():
        return []
    note = home.vectors / FINGERPRINT
    if not note.exists() and not any(home.vectors.glob(f"*{SUFFIX}")):  # begun on a full disk; the next run makes it
        return []
    is_readable = note.is_file() and len(text := note.read_bytes()) == 64 and text.isalnum()
    dimension = json.loads((TRANSFORMER / "config.json").read_bytes())["hidden_size"]
    return ([] if is_readable else [note]) + damaged_files(home.vectors, dimension)
