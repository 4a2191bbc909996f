"""Short texts for a counting grid: turns of dialogues, pairs of question and answer, lines of text files, and sentences
of whatever else `qa-bot add` reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats import jsonl
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Item, Limits, Notice, Record, Reject
from qa_core.text.sentences import sentences
from qa_lab.train.errors import TrainingDataError

SHORT = 400
"""Characters of a record that is one text; a longer one is taken by sentence."""
_SAID = ("turns", "context", "positive_responses")
"""Fields with what people said to each other."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Distinct texts in the order of the data."""

    texts: tuple[str, ...]
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()
    repeated: int = 0  # texts that stood there before

    @property
    def pairs(self) -> Sequence[str]:
        """The texts, as the reports of what was read count them."""
        return self.texts


def read_texts(paths: Sequence[Path], *, limit: int | None = None) -> Texts:
    """The texts of files and folders, the first `limit` of them.

    Raises:
        TrainingDataError: there is no text at all.
        FileNotFoundError: nothing is at a path.
    """
    found: dict[str, None] = {}
    rejects: list[Reject] = []
    notices: list[Notice] = []
    read_in_all = 0
    for item in _items(paths):
        match item:
            case Reject():
                rejects.append(item)
            case Notice():
                notices.append(item)
            case Record():
                for text in _texts(item):
                    read_in_all += 1
                    found[text] = None
        if limit is not None and len(found) >= limit:
            break
    if not found:
        named = ", ".join(map(str, paths))
        first = f": {rejects[0].where}: {rejects[0].reason}" if rejects else "; is there any file?"
        raise TrainingDataError(f"Expected texts in {named}, but got none{first}")
    texts = tuple(found)[:limit]
    return Texts(texts, tuple(rejects), tuple(notices), read_in_all - len(found))


def split_texts(texts: Iterable[str], share: float) -> tuple[list[str], list[str]]:
    """Those for training and those held out, about `share` of all; a hash of each decides, alike for every order."""
    parts: tuple[list[str], list[str]] = ([], [])
    for text in texts:
        digest = hashlib.blake2b(" ".join(text.casefold().split()).encode(), digest_size=8).digest()
        parts[int.from_bytes(digest, "big") < share * 2**64].append(text)
    return parts


def _items(paths: Sequence[Path]) -> Iterator[Item]:
    budget = ByteBudget(Limits())
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"Expected a file or a folder, but got {path}, which does not exist; check --data.")
        yield from read(path, budget=budget, readers={"jsonl": _jsonl, "text": _lines})


def _texts(record: Record) -> Iterator[str]:
    """The whole record, or its sentences where it is long."""
    parts = dict.fromkeys(part.strip() for part in (record.title, record.body, record.text) if part.strip())
    whole = " ".join(parts)
    if 0 < len(whole) <= SHORT:
        yield whole
        return
    for part in parts:
        yield from (text for start, end in sentences(part) if (text := part[start:end].strip()))


def _jsonl(leaf: SourceFile) -> Iterator[Item]:
    for number, line in leaf.lines():
        where = f"{leaf.where}:{number}"
        if line is None:
            yield Reject(where, over_record_limit(leaf.limits))
        elif line.strip():
            yield from _said(line, where) or [
                jsonl.parsed(line, where=where, default_id=f"{leaf.name}#{number}", leaf=leaf)
            ]


def _said(line: bytes, where: str) -> list[Item]:
    """The turns of a dialogue, each a record; nothing where the line is something else."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(fields, Mapping) or not (names := [name for name in _SAID if name in fields]):
        return []
    values = [fields[name] for name in names]
    if not all(isinstance(value, list) and all(isinstance(turn, str) for turn in value) for value in values):
        return [Reject(where, f"Expected a list of texts in the fields {', '.join(names)}; correct the line.")]
    turns = [turn for value in values for turn in value if turn.strip()]
    if not turns:
        return [Reject(where, f"Expected texts in the fields {', '.join(names)}, but got none; drop the line.")]
    return [Record("", "", turn, where=where) for turn in turns]


def _lines(leaf: SourceFile) -> Iterator[Item]:
    for number, line in leaf.lines():
        where = f"{leaf.where}:{number}"
        if line is None:
            yield Reject(where, over_record_limit(leaf.limits))
        elif text := line.decode().strip("\ufeff\t "):
            yield Record("", "", text, where=where)
