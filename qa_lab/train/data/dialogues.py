"""Dialogues to learn replies from.

JSONL with `turns`; with `context` and `positive_responses`, each of which is a reply to it (DailyDialog++); text with a
turn a line and an empty line between dialogues.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Item, Limits, Notice, Record, Reject
from qa_lab.train.errors import TrainingDataError

CONTEXT = 2
"""Turns before a reply that are kept."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A reply, and the last turns before it."""

    context: tuple[str, ...]
    reply: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Turns in order; `replies` are several that could follow the last of them."""

    turns: tuple[str, ...]
    replies: tuple[str, ...] = ()

    def exchanges(self) -> Iterator[Exchange]:
        """Each turn but the first as a reply, then the alternative ones."""
        for place in range(1, len(self.turns)):
            yield Exchange(self.turns[max(0, place - CONTEXT) : place], self.turns[place])
        for reply in self.replies:
            yield Exchange(self.turns[-CONTEXT:], reply)


@dataclass(frozen=True, slots=True)
class _Found(Record):
    dialogue: Dialogue = Dialogue(())


@dataclass(frozen=True, slots=True)
class Dialogues:
    """What files drive, and what of them could not be read."""

    dialogues: tuple[Dialogue, ...]
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def pairs(self) -> Sequence[Exchange]:
        """All exchanges, each once."""
        return exchanges(self.dialogues)

    @property
    def repeated(self) -> int:
        return sum(1 for dialogue in self.dialogues for _ in dialogue.exchanges()) - len(self.pairs)


def read_dialogues(paths: Sequence[Path], *, limit: int | None = None) -> Dialogues:
    """The dialogues of files and folders, the first `limit` of them.

    Raises:
        TrainingDataError: nobody replies to anything.
        FileNotFoundError: nothing is at a path.
    """
    dialogues: list[Dialogue] = []
    rejects: list[Reject] = []
    notices: list[Notice] = []
    for item in _items(paths):
        match item:
            case Reject():
                rejects.append(item)
            case Notice():
                notices.append(item)
            case _Found():
                dialogues.append(item.dialogue)
            case Record():
                rejects.append(Reject(item.where, "Expected a dialogue, as JSONL with turns or a turn a line."))
        if limit is not None and len(dialogues) >= limit:
            break
    if not any(True for dialogue in dialogues for _ in dialogue.exchanges()):
        named = ", ".join(map(str, paths))
        first = f": {rejects[0].where}: {rejects[0].reason}" if rejects else "; is there any file?"
        raise TrainingDataError(f"Expected dialogues of two turns or more in {named}, but got none{first}")
    return Dialogues(tuple(dialogues), tuple(rejects), tuple(notices))


def exchanges(dialogues: Iterable[Dialogue]) -> list[Exchange]:
    """Replies with their contexts, each once."""
    return list(dict.fromkeys(each for dialogue in dialogues for each in dialogue.exchanges()))


def split_dialogues(dialogues: Iterable[Dialogue], share: float) -> tuple[list[Dialogue], list[Dialogue]]:
    """Those for training and those held out, about `share` of all; a hash decides, alike for every order.

    It is that of the first turn, which all beginnings of one dialogue share.
    """
    parts: tuple[list[Dialogue], list[Dialogue]] = ([], [])
    for dialogue in dialogues:
        first = " ".join(dialogue.turns[0].casefold().split())
        digest = hashlib.blake2b(first.encode(), digest_size=8).digest()
        parts[int.from_bytes(digest, "big") < share * 2**64].append(dialogue)
    return parts


def _items(paths: Sequence[Path]) -> Iterator[Item]:
    budget = ByteBudget(Limits())
    for path in paths:
        yield from read(path, budget=budget, readers={"jsonl": _jsonl, "text": _text})


def _jsonl(leaf: SourceFile) -> Iterator[Item]:
    for number, line in leaf.lines():
        where = f"{leaf.where}:{number}"
        if line is None:
            yield Reject(where, over_record_limit(leaf.limits))
        elif line.strip():
            try:
                yield _found(_parsed(json.loads(line)), where)
            except (ValueError, RecursionError) as error:
                told = str(error)
                yield Reject(where, told if told.startswith("Expected ") else f"Expected JSON, but got: {told}.")


def _text(leaf: SourceFile) -> Iterator[Item]:
    turns: list[str] = []
    where, number = f"{leaf.where}:1", 0
    for number, line in leaf.lines():
        if line is None:
            yield Reject(f"{leaf.where}:{number}", over_record_limit(leaf.limits))
        elif turn := line.decode().strip("\ufeff\t "):
            where = where if turns else f"{leaf.where}:{number}"
            turns.append(turn)
        elif turns:
            yield _found(Dialogue(tuple(turns)), where)
            turns = []
    if turns:
        yield _found(Dialogue(tuple(turns)), where)


def _parsed(fields: Any) -> Dialogue:
    if not isinstance(fields, dict):
        raise ValueError(f"Expected a JSON object, but got {fields!r}; correct the line.")
    if "turns" in fields:
        return Dialogue(_texts(fields, "turns"))
    if {"context", "positive_responses"} <= fields.keys():
        return Dialogue(_texts(fields, "context"), _texts(fields, "positive_responses"))
    raise ValueError(f"Expected turns, but got the fields {', '.join(map(str, fields)) or 'of nothing'}; add them.")


def _texts(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    """The texts of a list, empty ones left out."""
    value = fields[name]
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"Expected a list of texts in the field {name}, but got {value!r}; correct the line.")
    texts = tuple(each.strip() for each in value if each.strip())
    if not texts:
        raise ValueError(f"Expected texts in the field {name}, but got none; add them or drop the line.")
    return texts


def _found(dialogue: Dialogue, where: str) -> _Found:
    return _Found("", dialogue.turns[0], "", where=where, dialogue=dialogue)
