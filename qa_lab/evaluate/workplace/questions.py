"""Reads questions with the texts that an answer must hold, one JSON object a line.

    {"_id", "title", "type", "gold": [[alternative, …], …], "wrong": [text, …], "documents": [path, …]}
    {"_id", "turns": [question, …]}                                        a dialogue, asked in one conversation

`lead` is the number of characters of the answer's lead if it is not 300.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.reference.replies import Turn

LEAD = 300
SHOWN = 60
"""Characters of a wrong value in a message."""
FIRST_TURN, FOLLOW_UP = "turn 1", "follow-up"

Groups = tuple[tuple[str, ...], ...]
"""Every group needs one of its alternatives in the answer; `re:` begins a regular expression."""


@dataclass(frozen=True, slots=True)
class GradedQuestion:
    """A turn with its gold, which is empty if the documents do not answer it; a turn's id is `DIALOGUE/NUMBER`."""

    id: str
    turn: Turn
    type: str
    gold: Groups = ()
    wrong: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    lead: int = LEAD


def read_questions(path: Path, *, limit: int | None = None) -> tuple[GradedQuestion, ...]:
    """The questions of a file in order, the turns of a dialogue one after another; `limit` keeps the first of them.

    Raises:
        DatasetError: for a missing file, an invalid line, or an id that repeats.
    """
    if not path.is_file():
        raise DatasetError(f"Expected a file of questions, but got {path}, which is no file; name it with --questions.")
    questions: dict[str, GradedQuestion] = {}
    lines = [line for line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1) if line[1].strip()]
    for number, line in lines:
        if limit is not None and len(questions) >= limit:
            break
        for question in _parsed(line, f"{path}:{number}"):
            if question.id in questions:
                raise DatasetError(
                    f"{path}:{number}: Expected distinct ids, but got {question.id!r} again; rename one."
                )
            questions[question.id] = question
    if not questions:
        raise DatasetError(f"Expected questions in {path}, one JSON object a line, but got none; add some.")
    return tuple(questions.values())[:limit]


def _parsed(line: str, where: str) -> Iterator[GradedQuestion]:
    try:
        yield from _questions(line)
    except _LineError as error:
        raise DatasetError(
            f"{where}: Expected a JSON object with _id, title, type and gold, or with _id and turns, but got {error}; "
            "correct the line."
        ) from None


def _questions(line: str) -> Iterator[GradedQuestion]:
    try:
        entry = _object(orjson.loads(line), "the line")
    except orjson.JSONDecodeError as error:
        raise _LineError(f"no JSON: {error}") from None
    id_ = str(_field(entry, "_id"))
    if "turns" not in entry:
        yield _question(id_, entry, "all")
        return
    earlier: tuple[str, ...] = ()
    for number, value in enumerate(_list(entry["turns"], "turns")):
        turn = _object(value, "a turn")
        yield _question(f"{id_}/{number}", turn, FOLLOW_UP if number else FIRST_TURN, earlier=earlier, dialogue=id_)
        earlier = (*earlier, turn["title"])


def _question(id_: str, fields: Mapping[str, Any], type_: str, **of_turn: Any) -> GradedQuestion:
    gold = tuple(tuple(map(_gold, _list(group, "a group of gold"))) for group in _list(_field(fields, "gold"), "gold"))
    lead = fields.get("lead", LEAD)
    if not isinstance(lead, int):
        raise _LineError(f"{_shown(lead)} as lead, which is a number of characters")
    return GradedQuestion(
        id_,
        Turn(_text(_field(fields, "title"), "title"), body=_text(fields.get("body", ""), "body"), **of_turn),
        _text(fields.get("type", type_), "type"),
        gold,
        tuple(map(_gold, _list(fields.get("wrong", []), "wrong"))),
        tuple(_text(document, "a document") for document in _list(fields.get("documents") or [], "documents")),
        lead,
    )


class _LineError(ValueError):
    """What a line has in place of a question, in words."""


def _field(fields: Mapping[str, Any], name: str) -> Any:
    if name not in fields:
        raise _LineError(f"no {name}")
    return fields[name]


def _object(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _LineError(f"{_shown(value)} as {name}, which is an object")
    return value


def _list(value: object, name: str) -> list[Any]:
    """A list; a string in its place would be taken for its letters."""
    if not isinstance(value, list):
        raise _LineError(f"{_shown(value)} as {name}, which is a list")
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise _LineError(f"{_shown(value)} as {name}, which is a string")
    return value


def _gold(value: object) -> str:
    """The text of a gold, checked if it is a regular expression."""
    text = _text(value, "a text of gold or wrong")
    if text.startswith("re:"):
        try:
            re.compile(text[3:])
        except re.error as error:
            raise _LineError(f"the invalid regular expression {text[3:]} ({error})") from None
    return text


def _shown(value: object) -> str:
    """As in the file."""
    return orjson.dumps(value).decode()[:SHOWN]
