"""What people rate: the replies of several systems to the same contexts.

JSON lines `{"context", "replies": {SYSTEM: [text, …]}, "hint"?, "id"?}`. `benchmarks/voices_study.py --out` writes
some.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qa_lab.evaluate.datasets import DatasetError

LONGEST = 2_000
"""Characters of a context or a reply, at most."""


@dataclass(frozen=True, slots=True)
class Case:
    """A context and the replies of each system to it."""

    id: str
    context: str
    hint: str  # the topic that replies should have; "" without one
    replies: Mapping[str, tuple[str, ...]]


def read_cases(path: Path) -> list[Case]:
    """The cases of a file, which all have the same systems.

    Raises:
        DatasetError: a line is no case, an id repeats, systems differ, or there is nothing to compare.
        FileNotFoundError: the file does not exist.
    """
    cases: dict[str, Case] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                case = _case(line, number, f"{path}:{number}")
                if case.id in cases:
                    raise DatasetError(f"{path}:{number}: Expected distinct ids, but got {case.id!r} again; rename it.")
                cases[case.id] = case
                first = next(iter(cases.values()))
                if case.replies.keys() != first.replies.keys():
                    differing = ", ".join(sorted(case.replies.keys() ^ first.replies.keys()))
                    raise DatasetError(
                        f"{path}:{number}: Expected replies of the same systems in every line, but {differing} are in "
                        "some only; complete them."
                    )
    if not cases or len(next(iter(cases.values())).replies) < 2:
        raise DatasetError(f"{path}: Expected replies of two systems or more, but got fewer; give more.")
    return list(cases.values())


def write_cases(path: Path, cases: Sequence[Case]) -> None:
    """The file that `read_cases` reads."""
    lines = ({"id": case.id, "context": case.context, "hint": case.hint, "replies": {**case.replies}} for case in cases)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def _case(line: bytes, number: int, where: str) -> Case:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise DatasetError(f"{where}: Expected a JSON object, but got {error}; correct the line.") from None
    if not isinstance(fields, dict):
        raise DatasetError(f"{where}: Expected a JSON object, but got {type(fields).__name__}; correct the line.")
    replies = fields.get("replies")
    if not isinstance(replies, dict):
        raise DatasetError(f"{where}: Expected replies by system, but got {replies!r:.60}; add them.")
    texts = {str(name): _texts(value, f"{where}: replies of {name}") for name, value in replies.items()}
    return Case(
        _text(fields.get("id", str(number)), f"{where}: id"),
        _text(fields.get("context"), f"{where}: context"),
        _text(fields["hint"], f"{where}: hint") if fields.get("hint") else "",
        texts,
    )


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise DatasetError(f"{where}: Expected a list of texts, but got {value!r:.60}; correct it.")
    return tuple(_text(item, where) for item in value)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST:
        raise DatasetError(
            f"{where}: Expected a text of up to {LONGEST:,} characters, but got {value!r:.60}; correct it."
        )
    return value.strip()
