"""Many questions from a file: an answer object a line, in order, going on where an earlier run stopped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from qa_bot.bot import Bot
from qa_bot.presentation import as_dict
from qa_core.types import Answer, Question

RUN_DEPTH = 100


class BatchError(ValueError):
    """The files of a batch do not fit."""


def answer_all(
    bot: Bot,
    source: Path,
    out: Path,
    *,
    run: Path | None = None,
    deadline: float | None = None,
    top: int = 10,
    trace: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[int, int]:
    """Answer every question of `source` into `out`; how many were answered, and how many questions there are.

    A line that is no question gets an object with an `error`. Lines that `out` holds already are not asked again; a
    line cut short by a crash is. The TREC run holds the ranked documents, best first, before tiling.

    Raises:
        BatchError: `out` belongs to other questions.
    """
    done = _resume(out, source)
    answered = sum(bool(line.get("answered")) for line in done)
    processed = len(done)
    with out.open("ab") as answers, _run_file(run, fresh=not done) as ranked:
        for number, asked in enumerate(_questions(source), start=1):
            if number <= len(done):
                continue
            told, lines = _answered(bot, asked, source, number, deadline=deadline, top=top, trace=trace)
            ranked.write(lines)
            ranked.flush()
            answers.write(orjson.dumps(told) + b"\n")
            answers.flush()
            answered += bool(told.get("answered"))
            processed = number
            progress(processed)
    return answered, processed


def _answered(
    bot: Bot, asked: Question | str, source: Path, number: int, **options: Any
) -> tuple[dict[str, Any], bytes]:
    if isinstance(asked, str):
        return {"qid": None, "error": f"{source}:{number}: {asked}"}, b""
    top = options.pop("top")
    answer = bot.ask(asked, top=max(top, RUN_DEPTH), **options)
    used = sum(each.span is not None for each in answer.sources)
    shown = replace(answer, sources=answer.sources[: max(top, used)])
    return {"qid": asked.id, **as_dict(shown)}, _run_lines(asked.id, answer)


def _run_lines(qid: str, answer: Answer) -> bytes:
    """`qid Q0 document rank score tag`; white space in ids is percent-encoded, since a run cannot hold it."""
    ranked = sorted(answer.sources, key=lambda source: -source.score)
    lines = (
        f"{_unspaced(qid)} Q0 {_unspaced(each.document)} {rank} {each.score:.6f} qa-bot\n"
        for rank, each in enumerate(ranked, start=1)
    )
    return "".join(lines).encode()


def _unspaced(identifier: str) -> str:
    return re.sub(r"\s", lambda space: quote(space[0]), identifier)


def _questions(source: Path) -> Iterator[Question | str]:
    """A question a line, or what is wrong with the line; empty lines count as wrong ones."""
    with source.open("rb") as lines:
        for line in lines:
            try:
                fields = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                yield f"Expected a JSON object, but got: {error}"
                continue
            yield _question(fields)


def _question(fields: object) -> Question | str:
    if not isinstance(fields, Mapping):
        return f"Expected a JSON object, but got {type(fields).__name__}."
    qid = fields.get("_id", fields.get("qid", fields.get("id")))
    title = fields.get("title") or fields.get("question") or fields.get("text") or ""
    body = fields.get("body") or ""
    if qid is None or not isinstance(title, str) or not isinstance(body, str) or not (title.strip() or body.strip()):
        return 'Expected {"_id" or "qid", "title", "body"} with text in title or body.'
    return Question(title, body, id=str(qid), category=str(fields.get("category") or ""))


def _resume(out: Path, source: Path) -> list[Mapping[str, Any]]:
    """The whole lines of an earlier run, checked against the questions; what was cut short is removed."""
    if not out.exists():
        return []
    done: list[Mapping[str, Any]] = []
    kept = 0
    with out.open("rb") as lines:
        for line in lines:
            try:
                done.append(orjson.loads(line))
            except orjson.JSONDecodeError:
                break
            kept += len(line)
    with out.open("r+b") as file:
        file.truncate(kept)
    for number, (told, asked) in enumerate(zip(done, _questions(source), strict=False), start=1):
        expected = asked.id if isinstance(asked, Question) else None
        if told.get("qid") != expected:
            raise BatchError(
                f"Expected the answer to {expected!r} in {out}:{number}, but got {told.get('qid')!r}; "
                "name another --out, or remove that file."
            )
    return done


def _run_file(run: Path | None, *, fresh: bool) -> Any:
    return (run or Path("/dev/null")).open("wb" if fresh else "ab")
