"""`ask --batch`: questions of a file, one answer object a line, in order; an interrupted run can be continued."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice, repeat, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from qa_bot.answering.answer_json import as_dict
from qa_bot.answering.ask import Ask
from qa_bot.answering.scope import Scope, ScopeError
from qa_bot.answering.verification.configured_verifier import configured_verifier
from qa_bot.bot import Bot
from qa_bot.documents.question_lines import QuestionLine, WrongLine, read_question_lines, read_questions
from qa_bot.documents.sources.under import IdPaths, by_ids, id_paths
from qa_core.measures.runs import escape_id
from qa_core.types import Answer, AnswerSource, Question

RUN_DEPTH = 100


class BatchError(ValueError):
    """The files of a batch do not belong together."""


class Answered(NamedTuple):
    """Numbers of questions: with an answer, in all, of earlier runs, and with an error in place of an answer."""

    answered: int
    questions: int
    earlier: int
    failed: int


def answer_all(
    bot: Bot,
    source: Path,
    out: Path,
    *,
    run: Path | None = None,
    ask: Ask | None = None,
    narrowing: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Answered:
    """Answer every question of `source` into `out`.

    An invalid line gets an object with an `error`. Questions whose line `out` already holds are skipped; a line that
    a crash cut short is answered again. The TREC run holds the ranked documents before tiling, best first.

    Args:
        ask: everything but the question and its scope, the same for all.
        narrowing: the fields of a scope that hold for all lines; a line's field replaces the one of the same name.

    Raises:
        BatchError: `out` or `run` belongs to other questions.
        PersonaError: the persona is unknown.
    """
    ask = ask or Ask(Question(""))
    if ask.persona:
        bot.voices.parts(ask.persona)
    _check_distinct(source, out, run)
    done = _resume(out, source)
    answered, failed, processed = sum(line.answered for line in done), sum(line.failed for line in done), len(done)
    find = cache(partial(id_paths, store=bot.store.sources))
    if run:
        _resume_run(run, {escape_id(line.qid).encode() for line in done if line.qid is not None})
    if (verifier := configured_verifier(bot.config.ranking, bot.home.models)) is not None:
        verifier.ready()  # or the first question would wait for the models
    with out.open("ab") as answers, run.open("ab") if run else nullcontext() as ranked:
        for number, line in islice(enumerate(read_question_lines(source), start=1), len(done), None):
            if isinstance(line, WrongLine):
                payload, lines = {"qid": line.qid, "error": f"{source}:{number}: {line.error}"}, b""
            else:
                fields = {**(narrowing or {}), **{k: v for k, v in line.fields.items() if v is not None}}
                payload, lines = _answer_line(bot, ask, QuestionLine(line.question, fields), f"{source}:{number}", find)
            if ranked:  # before the answer: after a crash the run may hold too much, which is cut, but never too little
                ranked.write(lines)
                ranked.flush()
            answers.write(orjson.dumps(payload) + b"\n")
            answers.flush()
            answered += bool(payload.get("answered"))
            failed += "error" in payload
            processed = number
            progress(processed)
    return Answered(answered, processed, len(done), failed)


def _check_distinct(source: Path, out: Path, run: Path | None) -> None:
    paths = [path.absolute() for path in (source, out, run) if path]
    if len({path.resolve() for path in paths}) < len(paths):
        raise BatchError(f"Expected different files, but got {', '.join(map(str, paths))}; rename one.")


def _answer_line(
    bot: Bot, ask: Ask, line: QuestionLine, where: str, find: Callable[[str], IdPaths]
) -> tuple[dict[str, Any], bytes]:
    """The answer object of a line, and the lines of the run."""
    try:
        scope = replace(Scope.of(by_ids(line.fields, find)), leave_out=line.question.id)
        return _answer(bot, replace(ask, question=line.question, scope=scope))
    except (ScopeError, AttributeError, TypeError) as error:
        return {"qid": line.question.id, "error": f"{where}: {error}"}, b""


def _answer(bot: Bot, ask: Ask) -> tuple[dict[str, Any], bytes]:
    """The answer object with at most `ask.top` sources, and the lines of the run."""
    answer = bot.ask(replace(ask, top=max(ask.top, RUN_DEPTH)))
    used = sum(source.span is not None for source in answer.sources)
    styled = answer.styled and replace(answer.styled, lines=answer.styled.lines[: ask.top])
    shown = replace(answer, sources=answer.sources[: max(ask.top, used)], styled=styled)
    return {"qid": ask.question.id, **as_dict(shown)}, _run_lines(ask.question.id, answer)


def _run_lines(qid: str, answer: Answer) -> bytes:
    """`qid Q0 document rank score tag`, without the triples of a fact.

    Of documents with the same id in different collections only the best is listed.
    """
    best: dict[str, AnswerSource] = {}
    documents = (source for source in answer.sources if answer.kind != "fact" or source.span is None)
    for source in sorted(documents, key=lambda source: -source.score):
        best.setdefault(source.document, source)
    lines = (
        f"{escape_id(qid)} Q0 {escape_id(source.document)} {rank} {source.score:.6f} qa-bot\n"
        for rank, source in enumerate(best.values(), start=1)
    )
    return "".join(lines).encode()


class _DoneLine(NamedTuple):
    """A line that an earlier run wrote; `qid` is None if the line of the question had none."""

    qid: str | None
    answered: bool
    failed: bool


def _resume(out: Path, source: Path) -> list[_DoneLine]:
    """The complete lines of an earlier run, checked against the questions; an incomplete last line is removed."""
    if not out.exists():
        return []
    done: list[_DoneLine] = []
    size = 0
    with out.open("rb") as lines:
        for line, question in zip(lines, chain(read_questions(source), repeat(None)), strict=False):
            if not line.endswith(b"\n"):
                break
            done.append(_done_line(line, question, out, len(done) + 1))
            size += len(line)
    os.truncate(out, size)
    return done


def _done_line(line: bytes, question: Question | WrongLine | None, out: Path, number: int) -> _DoneLine:
    """The parsed line; raises BatchError if it does not answer this question."""
    qid, title = (question.id, question.title) if isinstance(question, Question) else (question and question.qid, None)
    try:
        payload = orjson.loads(line)
        done = payload["qid"], payload.get("question", title)  # a line with an error has no question
        if question is not None and done == (qid, title):
            return _DoneLine(qid, bool(payload.get("answered")), "error" in payload)
        got = repr(done[0] if done[0] != qid else done[1])
    except (orjson.JSONDecodeError, TypeError, KeyError, AttributeError):
        got = "something else"
    expected = "no further line" if question is None else f"the answer to {qid!r} ({title})"
    raise BatchError(f"Expected {expected} in {out}:{number}, but got {got}; name another --out, or remove that file.")


def _resume_run(run: Path, done: set[bytes]) -> None:
    """Cut a run back to the questions that are done; a question without documents has no line there."""
    if not done:
        run.write_bytes(b"")
        return
    if not run.exists():
        raise BatchError(
            f"Expected the run of the questions answered before in {run}, but there is no such file; name it, or "
            "remove the file of --out to ask everything again."
        )
    with run.open("rb") as lines:
        size = sum(len(line) for line in takewhile(lambda line: line.split(b" ", 1)[0] in done, lines))
    if not size and run.stat().st_size:
        raise BatchError(f"Expected the run of these questions in {run}, but got that of others; name another --run.")
    os.truncate(run, size)
