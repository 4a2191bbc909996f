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
        entry = orjson.loads(line)
        if "turns" not in entry:
            yield _question(str(entry["_id"]), entry, entry.get("type", "all"))
            return
        earlier: tuple[str, ...] = ()
        for number, turn in enumerate(entry["turns"]):
            kind = turn.get("type", FOLLOW_UP if number else FIRST_TURN)
            yield _question(f"{entry['_id']}/{number}", turn, kind, earlier=earlier, dialogue=str(entry["_id"]))
            earlier = (*earlier, turn["title"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DatasetError(
            f"{where}: Expected a JSON object with _id, title, type and gold, or with _id and turns, but got "
            f"{error!r}; correct the line."
        ) from None


def _question(id_: str, fields: Mapping[str, Any], type_: str, **of_turn: Any) -> GradedQuestion:
    gold = tuple(tuple(map(_checked, _list(group))) for group in _list(fields["gold"]))
    return GradedQuestion(
        id_,
        Turn(_text(fields["title"]), body=_text(fields.get("body", "")), **of_turn),
        type_,
        gold,
        tuple(map(_checked, _list(fields.get("wrong", [])))),
        tuple(map(_text, _list(fields.get("documents") or []))),
        int(fields.get("lead", LEAD)),
    )


def _list(value: object) -> list[Any]:
    """A list; a string in its place would be taken for its letters."""
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {value!r}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a string, got {value!r}")
    return value


def _checked(value: object) -> str:
    """The text of a gold, checked if it is a regular expression."""
    text = _text(value)
    if text.startswith("re:"):
        try:
            re.compile(text[3:])
        except re.error as error:
            raise ValueError(f"invalid regular expression {text[3:]!r}: {error}") from None
    return text
