"""Dialogues to learn replies from.

JSONL with `turns`; with `context` and `positive_responses`, each of which is a reply to it (DailyDialog++); text with a
turn a line and an empty line between dialogues.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.records import Item, Record, Reject
from qa_lab.data.reading import Reading, TrainingData, by_line, read_records, string_list
from qa_lab.data.splitting import normalised, split_by_hash

CONTEXT = 2
"""Turns before a reply that are kept."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A reply, and the last turns before it."""

    context: tuple[str, ...]
    reply: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Turns in order; `replies` are alternatives that could follow the last of them."""

    turns: tuple[str, ...]
    replies: tuple[str, ...] = ()

    def exchanges(self) -> Iterator[Exchange]:
        """Each turn but the first as a reply, then the alternative ones."""
        for index in range(1, len(self.turns)):
            yield Exchange(self.turns[max(0, index - CONTEXT) : index], self.turns[index])
        for reply in self.replies:
            yield Exchange(self.turns[-CONTEXT:], reply)


@dataclass(frozen=True, slots=True)
class _DialogueRecord(Record):
    dialogue: Dialogue = Dialogue(())


def read_dialogues(paths: Sequence[Path], *, limit: int | None = None) -> TrainingData[tuple[Dialogue, ...]]:
    """The dialogues of files and folders, the first `limit` of them; exchanges are counted.

    Raises:
        TrainingDataError: no turn is a reply.
        FileNotFoundError: a path does not exist.
    """
    reading, dialogues = Reading(paths), list[Dialogue]()
    for record in reading.readable(read_records(paths, {"jsonl": by_line(_json_dialogue), "text": _text})):
        if isinstance(record, _DialogueRecord):
            dialogues.append(record.dialogue)
        else:
            reason = "Expected a dialogue, as JSONL with turns or a turn a line."
            reading.rejects.append(Reject(record.where, reason))
        if limit is not None and len(dialogues) >= limit:
            break
    count = len(exchanges(dialogues))
    repeated = sum(1 for dialogue in dialogues for _ in dialogue.exchanges()) - count
    return reading.result(
        tuple(dialogues), count, "dialogues of two turns or more", units=("reply", "replies"), repeated=repeated
    )


def exchanges(dialogues: Iterable[Dialogue]) -> list[Exchange]:
    """The distinct replies with their contexts."""
    return list(dict.fromkeys(exchange for dialogue in dialogues for exchange in dialogue.exchanges()))


def split_dialogues(dialogues: Iterable[Dialogue], share: float) -> tuple[list[Dialogue], list[Dialogue]]:
    """Dialogues for training and held-out ones, by a hash of the first turn: beginnings of one dialogue share it."""
    return split_by_hash(dialogues, share, lambda dialogue: normalised(dialogue.turns[0]))


def _json_dialogue(line: bytes, where: str, _leaf: SourceFile) -> Iterator[Item]:
    yield _record(_parsed(json.loads(line)), where)


def _text(leaf: SourceFile) -> Iterator[Item]:
    turns: list[str] = []
    where = f"{leaf.where}:1"
    for number, line in leaf.lines():
        if line is None:
            yield Reject(f"{leaf.where}:{number}", over_record_limit(leaf.limits))
        elif turn := line.decode().strip("\ufeff\t "):
            where = where if turns else f"{leaf.where}:{number}"
            turns.append(turn)
        elif turns:
            yield _record(Dialogue(tuple(turns)), where)
            turns = []
    if turns:
        yield _record(Dialogue(tuple(turns)), where)


def _parsed(fields: Any) -> Dialogue:
    if not isinstance(fields, dict):
        raise ValueError(f"Expected a JSON object, but got {fields!r}; correct the line.")
    if "turns" in fields:
        return Dialogue(_texts(fields, "turns"))
    if {"context", "positive_responses"} <= fields.keys():
        return Dialogue(_texts(fields, "context"), _texts(fields, "positive_responses"))
    raise ValueError(f"Expected turns, but got the fields {', '.join(map(str, fields)) or 'of nothing'}; add them.")


def _texts(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    """The texts of a list that are not empty."""
    texts = tuple(filter(None, string_list(fields, name)))
    if not texts:
        raise ValueError(f"Expected texts in the field {name}, but got none; add them or drop the line.")
    return texts


def _record(dialogue: Dialogue, where: str) -> _DialogueRecord:
    return _DialogueRecord("", dialogue.turns[0], "", where=where, dialogue=dialogue)
