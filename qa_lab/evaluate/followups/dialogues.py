"""Conversations with turns as they were typed and as people rewrote them: TREC CAsT 2019 and 2020, and JSON lines.

A line of JSON is a dialogue: `id` and `turns`, each with `raw`, `manual` and, where it is known, `wanted` (ids of
documents that answer it); `home` names what is spoken of, and `part` the half that the dialogue belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

MANUAL = "manual_rewritten_utterance"
RESOLVED = "annotated_resolved"


class DialogueError(ValueError):
    """A file of conversations that cannot be read; the message names the file."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What was typed, the same as a question that stands alone, and which documents answer it."""

    raw: str
    manual: str
    wanted: tuple[str, ...] = ()

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
    """Dialogues by the name of their file: of one JSON file, or of those of a folder that have manual rewrites.

    A file of JSON lines gives those of each `home` by themselves, of one `part` where one is named.

    A file of topics holds the rewrites itself (CAsT 2020), or they lie beside it in `*annotated_resolved*.tsv`, a line
    `TOPIC_TURN<tab>text` for each turn (CAsT 2019).

    Raises:
        DialogueError: a file is no such file, or there is no rewrite.
    """
    if path.suffix == ".jsonl":
        return _by_home(path, part)
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    resolved = _resolved(path if path.is_dir() else path.parent, files)
    found = {file.name: list(_dialogues(file, resolved.get(file, {}))) for file in files}
    kept = {name: dialogues for name, dialogues in found.items() if dialogues}
    if not kept:
        raise DialogueError(f"Expected conversations with manual rewrites in {path}, but got none; see TREC CAsT.")
    return kept


def _by_home(path: Path, part: str) -> dict[str, list[Dialogue]]:
    found: dict[str, list[Dialogue]] = {}
    for dialogue in _lines(path):
        if part in ("", dialogue.part):
            found.setdefault(f"{path.name} {dialogue.home}".strip(), []).append(dialogue)
    if not found:
        raise DialogueError(f"Expected dialogues{f' of the part {part!r}' if part else ''} in {path}, but got none.")
    return found


def _lines(path: Path) -> Iterator[Dialogue]:
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            told = orjson.loads(line)
            turns = tuple(Turn(each["raw"], each["manual"], tuple(each.get("wanted", ()))) for each in told["turns"])
            yield Dialogue(str(told["id"]), turns, told.get("home", ""), told.get("part", ""))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DialogueError(
                f"Expected a dialogue with `id` and `turns` of `raw` and `manual`, but got {error!r} "
                f"({path}, line {number})."
            ) from error


def _resolved(folder: Path, files: Iterable[Path]) -> dict[Path, dict[str, str]]:
    """The rewrites of each file: of the tables that begin like it ("…evaluation_topics")."""
    tables = sorted(folder.glob(f"*{RESOLVED}*.tsv"))
    return {
        file: {key: text for table in tables if _alike(file, table) for key, text in _table(table)} for file in files
    }


def _alike(file: Path, table: Path) -> bool:
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
