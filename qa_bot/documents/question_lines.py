"""Files of questions, a JSON object a line: what `ask --batch` and `compare --questions` read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from qa_core.types import Question


class QuestionLine(NamedTuple):
    """A question and all fields of its line."""

    question: Question
    fields: Mapping[str, Any]


class WrongLine(NamedTuple):
    """What is wrong with a line, and its id if it has one."""

    error: str
    qid: str | None = None


def read_questions(path: Path) -> Iterator[Question | WrongLine]:
    """A question for each line, or the error of that line; empty lines and repeated ids are errors."""
    with path.open("rb") as lines:
        for line in parsed_lines(lines):
            yield line if isinstance(line, WrongLine) else line.question


def parsed_lines(lines: Iterable[bytes]) -> Iterator[QuestionLine | WrongLine]:
    """Each line with its question, or its error; see `read_questions`."""
    seen: set[str] = set()
    for line in lines:
        parsed = _parse(line)
        if isinstance(parsed, QuestionLine):
            qid = parsed.question.id
            if qid in seen:
                parsed = WrongLine(f"Expected ids that differ, but got {qid!r} again; rename this one.", qid)
            seen.add(qid)
        yield parsed


def _parse(line: bytes) -> QuestionLine | WrongLine:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return WrongLine(f"Expected a JSON object, but got: {error}")
    if not isinstance(fields, Mapping):
        return WrongLine(f"Expected a JSON object, but got {type(fields).__name__}.")
    qid = fields.get("_id", fields.get("qid", fields.get("id")))
    title = fields.get("title") or fields.get("question") or fields.get("text") or ""
    body = fields.get("body") or ""
    if qid is None or not isinstance(title, str) or not isinstance(body, str) or not (title.strip() or body.strip()):
        expected = 'Expected {"_id" or "qid", "title", "body"} with text in title or body.'
        return WrongLine(expected, None if qid is None else str(qid))
    question = Question(title, body, id=str(qid), category=str(fields.get("category") or ""))
    return QuestionLine(question, fields)
