"""Files of questions, a JSON object a line: what `ask --batch` and `compare --questions` read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from qa_core.types import Question


class QuestionLine(NamedTuple):
    """A question and all fields of its line."""

    question: Question
    fields: Mapping[str, Any]


def read_questions(path: Path) -> Iterator[Question | str]:
    """A question for each line, or the error of that line; empty lines and repeated ids are errors."""
    for line in read_question_lines(path):
        yield line if isinstance(line, str) else line.question


def read_question_lines(path: Path) -> Iterator[QuestionLine | str]:
    """Each line with its question, or its error; see `read_questions`."""
    seen: set[str] = set()
    with path.open("rb") as lines:
        for line in lines:
            parsed = _parse(line)
            if isinstance(parsed, QuestionLine):
                if parsed.question.id in seen:
                    parsed = f"Expected ids that differ, but got {parsed.question.id!r} again; rename this one."
                else:
                    seen.add(parsed.question.id)
            yield parsed


def _parse(line: bytes) -> QuestionLine | str:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return f"Expected a JSON object, but got: {error}"
    if not isinstance(fields, Mapping):
        return f"Expected a JSON object, but got {type(fields).__name__}."
    qid = fields.get("_id", fields.get("qid", fields.get("id")))
    title = fields.get("title") or fields.get("question") or fields.get("text") or ""
    body = fields.get("body") or ""
    if qid is None or not isinstance(title, str) or not isinstance(body, str) or not (title.strip() or body.strip()):
        return 'Expected {"_id" or "qid", "title", "body"} with text in title or body.'
    question = Question(title, body, id=str(qid), category=str(fields.get("category") or ""))
    return QuestionLine(question, fields)
