"""Many questions from a file: an answer object a line, in order, going on where an earlier run stopped."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain, islice, repeat, takewhile
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import orjson

from qa_bot.answering.answer_json import as_dict
from qa_bot.bot import Bot
from qa_core.types import Answer, AnswerSource, Question

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
    persona: str = "",
    hint: str = "",
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[int, int]:
    """Answer every question of `source` into `out`; how many were answered, and how many questions there are.

    A line that is no question gets an object with an `error`. Lines that `out` holds already are not asked again; a
    line cut short by a crash is. The TREC run holds the ranked documents, best first, before tiling.

    Raises:
        BatchError: `out` or `run` belongs to other questions.
        PersonaError: a persona that nobody knows.
    """
    options = {"deadline": deadline, "trace": trace, "persona": persona, "hint": hint}
    if persona:
        bot.voices.parts(persona)
    _expect_apart(source, out, run)
    done = _resume(out, source)
    answered, processed = sum(each.answered for each in done), len(done)
    if run:
        _resume_run(run, {unspaced(each.qid).encode() for each in done if each.qid is not None})
    with out.open("ab") as answers, run.open("ab") if run else nullcontext() as ranked:
        for number, asked in islice(enumerate(questions_of(source), start=1), len(done), None):
            told, lines = _answered(bot, asked, source, number, top=top, **options)
            if ranked:  # before the answer: a crash in between leaves a run that is cut back, never one that lacks
                ranked.write(lines)
                ranked.flush()
            answers.write(orjson.dumps(told) + b"\n")
            answers.flush()
            answered += bool(told.get("answered"))
            processed = number
            progress(processed)
    return answered, processed


def _expect_apart(source: Path, out: Path, run: Path | None) -> None:
    paths = [path.absolute() for path in (source, out, run) if path]
    if len({path.resolve() for path in paths}) < len(paths):
        raise BatchError(f"Expected different files, but got {', '.join(map(str, paths))}; rename one.")


def _answered(
    bot: Bot, asked: Question | str, source: Path, number: int, **options: Any
) -> tuple[dict[str, Any], bytes]:
    if isinstance(asked, str):
        return {"qid": None, "error": f"{source}:{number}: {asked}"}, b""
    top = options.pop("top")
    answer = bot.ask(asked, top=max(top, RUN_DEPTH), **options)
    used = sum(each.span is not None for each in answer.sources)
    styled = answer.styled and replace(answer.styled, lines=answer.styled.lines[:top])
    shown = replace(answer, sources=answer.sources[: max(top, used)], styled=styled)
    return {"qid": asked.id, **as_dict(shown)}, _run_lines(asked.id, answer)


def _run_lines(qid: str, answer: Answer) -> bytes:
    """`qid Q0 document rank score tag`; white space in ids is percent-encoded, since a run cannot hold it.

    Of two documents with the same id in different collections the better one stands for both. The triples of a fact are
    no documents.
    """
    best: dict[str, AnswerSource] = {}
    ranked = (each for each in answer.sources if answer.kind != "fact" or each.span is None)
    for each in sorted(ranked, key=lambda source: -source.score):
        best.setdefault(each.document, each)
    lines = (
        f"{unspaced(qid)} Q0 {unspaced(each.document)} {rank} {each.score:.6f} qa-bot\n"
        for rank, each in enumerate(best.values(), start=1)
    )
    return "".join(lines).encode()


def unspaced(identifier: str) -> str:
    """An id that a TREC file can hold: white space is percent-encoded."""
    return re.sub(r"\s", lambda space: quote(space[0]), identifier)


def questions_of(source: Path) -> Iterator[Question | str]:
    """A question a line, or what is wrong with the line; an empty line and a repeated id are wrong."""
    seen: set[str] = set()
    with source.open("rb") as lines:
        for line in lines:
            asked = _parsed(line)
            if isinstance(asked, Question):
                if asked.id in seen:
                    asked = f"Expected ids that differ, but got {asked.id!r} again; rename this one."
                else:
                    seen.add(asked.id)
            yield asked


def _parsed(line: bytes) -> Question | str:
    try:
        return _question(orjson.loads(line))
    except orjson.JSONDecodeError as error:
        return f"Expected a JSON object, but got: {error}"


def _question(fields: object) -> Question | str:
    if not isinstance(fields, Mapping):
        return f"Expected a JSON object, but got {type(fields).__name__}."
    qid = fields.get("_id", fields.get("qid", fields.get("id")))
    title = fields.get("title") or fields.get("question") or fields.get("text") or ""
    body = fields.get("body") or ""
    if qid is None or not isinstance(title, str) or not isinstance(body, str) or not (title.strip() or body.strip()):
        return 'Expected {"_id" or "qid", "title", "body"} with text in title or body.'
    return Question(title, body, id=str(qid), category=str(fields.get("category") or ""))


class _Done(NamedTuple):
    """What counts of a line that an earlier run wrote; `qid` is None where the question's line was bad."""

    qid: str | None
    answered: bool


def _resume(out: Path, source: Path) -> list[_Done]:
    """The whole lines of an earlier run, checked against the questions; a last line that was cut short is removed."""
    if not out.exists():
        return []
    done: list[_Done] = []
    kept = 0
    with out.open("rb") as lines:
        for line, asked in zip(lines, chain(questions_of(source), repeat(None)), strict=False):
            if not line.endswith(b"\n"):
                break
            done.append(_done(line, asked, out, len(done) + 1))
            kept += len(line)
    os.truncate(out, kept)
    return done


def _done(line: bytes, asked: Question | str | None, out: Path, number: int) -> _Done:
    """Raises BatchError where the line is not the answer to what was asked."""
    expected = asked.id if isinstance(asked, Question) else None
    try:
        told = orjson.loads(line)
        if asked is not None and told["qid"] == expected:
            return _Done(told["qid"], bool(told.get("answered")))
        found = repr(told["qid"])
    except (orjson.JSONDecodeError, TypeError, KeyError):
        found = "something else"
    wanted = "no further line" if asked is None else f"the answer to {expected!r}"
    raise BatchError(f"Expected {wanted} in {out}:{number}, but got {found}; name another --out, or remove that file.")


def _resume_run(run: Path, done: set[bytes]) -> None:
    """Cut a run back to the questions that are done, whose lines must be there; none may have found a document."""
    if not done:
        run.write_bytes(b"")
        return
    if not run.exists():
        raise BatchError(
            f"Expected the run of what was answered before in {run}, but there is no such file; name it, or remove the "
            "file of --out to ask everything again."
        )
    kept = 0
    with run.open("rb") as lines:
        for line in takewhile(lambda line: line.split(b" ", 1)[0] in done, lines):
            kept += len(line)
    if not kept and run.stat().st_size:
        raise BatchError(f"Expected the run of these questions in {run}, but got that of others; name another --run.")
    os.truncate(run, kept)
