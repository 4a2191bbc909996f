"""Files of questions, a JSON object a line: what `ask --batch` and `compare --questions` read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from qa_core.types import Question


def read_questions(path: Path) -> Iterator[Question | str]:
    """A question for each line, or the error of that line; empty lines and repeated ids are errors."""
    seen: set[str] = set()
    with path.open("rb") as lines:
        for line in lines:
            question = _parse(line)
            if isinstance(question, Question):
                if question.id in seen:
                    question = f"Expected ids that differ, but got {question.id!r} again; rename this one."
                else:
                    seen.add(question.id)
            yield question


def _parse(line: bytes) -> Question | str:
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
    return Question(title, body, id=str(qid), category=str(fields.get("category") or ""))
