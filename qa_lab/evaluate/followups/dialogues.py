"""Reads conversations with raw turns and manual rewrites: TREC CAsT 2019 and 2020, and JSON lines.

A line of JSON is a dialogue: `id` and `turns`, each with `raw`, `manual` and optionally `wanted` (ids of the documents
that answer it); `home` names the collection, and `part` the half that the dialogue belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

MANUAL = "manual_rewritten_utterance"
RESOLVED = "annotated_resolved"


class DialogueError(ValueError):
    """An unreadable file of conversations; the message names the file."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A raw turn, its standalone rewrite, and the relevant documents."""

    raw: str
    manual: str
    relevant: tuple[str, ...] = ()

    @property
    def stands_alone(self) -> bool:
        return " ".join(self.raw.split()) == " ".join(self.manual.split())


@dataclass(frozen=True, slots=True)
class Dialogue:
    name: str
    turns: tuple[Turn, ...]
    home: str = ""
    part: str = ""


def read_dialogues(path: Path, *, part: str = "") -> dict[str, list[Dialogue]]:
    """Dialogues by file name, from one JSON file or from all files of a folder that have manual rewrites.

    A file of JSON lines gives a group per `home`, of one `part` if it is named. A file of topics holds the rewrites
    (CAsT 2020), or a table `*annotated_resolved*.tsv` beside it does, with a line `TOPIC_TURN<tab>text` per turn
    (CAsT 2019).

    Raises:
        DialogueError: for another format, or without rewrites.
    """
    if path.suffix == ".jsonl":
        return _by_home(path, part)
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    resolved = _resolved(path if path.is_dir() else path.parent, files)
    groups = {file.name: list(_dialogues(file, resolved.get(file, {}))) for file in files}
    groups = {name: dialogues for name, dialogues in groups.items() if dialogues}
    if not groups:
        raise DialogueError(f"Expected conversations with manual rewrites in {path}, but got none; see TREC CAsT.")
    return groups


def first_turns(groups: Mapping[str, Sequence[Dialogue]], limit: int | None) -> dict[str, list[Dialogue]]:
    """The groups up to their `limit`-th follow-up; the first turn of a dialogue is none. Empty groups are left out."""
    if limit is None:
        return {name: list(dialogues) for name, dialogues in groups.items()}
    chosen: dict[str, list[Dialogue]] = {}
    remaining = limit
    for name, dialogues in groups.items():
        for dialogue in dialogues:
            turns = dialogue.turns[: remaining + 1]
            if remaining and len(turns) > 1:
                chosen.setdefault(name, []).append(replace(dialogue, turns=turns))
                remaining -= len(turns) - 1
    return chosen


def _by_home(path: Path, part: str) -> dict[str, list[Dialogue]]:
    groups: dict[str, list[Dialogue]] = {}
    for dialogue in _lines(path):
        if part in ("", dialogue.part):
            groups.setdefault(f"{path.name} {dialogue.home}".strip(), []).append(dialogue)
    if not groups:
        raise DialogueError(f"Expected dialogues{f' of the part {part!r}' if part else ''} in {path}, but got none.")
    return groups


def _lines(path: Path) -> Iterator[Dialogue]:
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            fields = orjson.loads(line)
            turns = tuple(Turn(turn["raw"], turn["manual"], tuple(turn.get("wanted", ()))) for turn in fields["turns"])
            yield Dialogue(str(fields["id"]), turns, fields.get("home", ""), fields.get("part", ""))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DialogueError(
                f"Expected a dialogue with `id` and `turns` of `raw` and `manual`, but got {error!r} "
                f"({path}, line {number})."
            ) from error


def _resolved(folder: Path, files: Iterable[Path]) -> dict[Path, dict[str, str]]:
    """The rewrites of each file, from the tables with the same start of their name ("…evaluation_topics")."""
    tables = sorted(folder.glob(f"*{RESOLVED}*.tsv"))
    return {
        file: {key: text for table in tables if _same_topics(file, table) for key, text in _table(table)}
        for file in files
    }


def _same_topics(file: Path, table: Path) -> bool:
    return file.name.partition("_v")[0] == table.name.partition(f"_{RESOLVED}")[0]


def _table(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        key, tab, text = line.partition("\t")
        if not tab:
            raise DialogueError(
                f"Expected TOPIC_TURN, a tab and a text, but got {line[:40]!r} ({path}, line {number})."
            )
        yield key.strip(), text.strip()


def _dialogues(path: Path, resolved: dict[str, str]) -> Iterator[Dialogue]:
    try:
        topics = orjson.loads(path.read_bytes())
        for topic in topics:
            turns = tuple(_turns(topic, resolved))
            if turns:
                yield Dialogue(str(topic["number"]), turns)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise DialogueError(f"Expected a list of topics with `number` and `turn`, but got {error} ({path}).") from error


def _turns(topic: dict[str, Any], resolved: dict[str, str]) -> Iterator[Turn]:
    for turn in topic["turn"]:
        manual = turn.get(MANUAL) or resolved.get(f"{topic['number']}_{turn['number']}")
        if manual is not None:
            yield Turn(turn["raw_utterance"].strip(), manual.strip())
