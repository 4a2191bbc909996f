"""Sentences with the label 1 or 0, as of the Stanford Sentiment Treebank (Socher et al. 2013) without neutral ones.

A table with the columns `sentence` and `label`, as GLUE has it, or lines that begin with the label, as Kim (2014) has
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from qa_lab.errors import TrainingDataError

COLUMNS = {"sentence", "label"}


class Sentence(NamedTuple):
    text: str
    positive: bool


def read_sentences(path: Path) -> list[Sentence]:
    """The sentences of a file.

    Raises:
        TrainingDataError: a line has another label, or there are no sentences.
        FileNotFoundError: the file does not exist.
    """
    sentences = list(_sentences(path))
    if not sentences:
        raise TrainingDataError(f"Expected sentences with labels in {path}, but got none; name another file.")
    return sentences


def _sentences(path: Path) -> Iterator[Sentence]:
    lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    names = [name.strip().lower() for name in lines[0].split("\t")] if lines else []
    has_names = COLUMNS.issubset(names)
    for number, line in enumerate(lines[has_names:], 1 + has_names):
        if not line.strip():
            continue
        cells = dict(zip(names, line.split("\t"), strict=False)) if has_names else _labelled(line)
        label, text = (cells.get(name, "").strip() for name in ("label", "sentence"))
        if label not in ("0", "1") or not text:
            raise TrainingDataError(
                f"{path}:{number}: Expected a sentence and the label 0 or 1, but got {line[:80]!r}; correct the line."
            )
        yield Sentence(text, label == "1")


def _labelled(line: str) -> dict[str, str]:
    label, *rest = line.split(maxsplit=1)
    return {"label": label, "sentence": rest[0] if rest else ""}
