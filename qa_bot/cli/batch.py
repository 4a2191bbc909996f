"""`ask --batch`: questions of a file, one answer object a line, in order; an interrupted run can be continued."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, partial
from itertools import chain, islice, repeat, takewhile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from qa_bot.answering.answer_json import as_dict
from qa_bot.answering.ask import Ask
from qa_bot.answering.models.personas import PersonaError
from qa_bot.answering.scope import NAMES, Scope, ScopeError
from qa_bot.answering.verification.configured_verifier import configured_verifier
from qa_bot.bot import Bot
from qa_bot.cli.context import say
from qa_bot.documents.question_lines import QuestionLine, WrongLine, parsed_lines
from qa_bot.documents.sources.under import IdPaths, by_ids, id_paths
from qa_core.arguments import ArgumentError, expect_number
from qa_core.measures.runs import escape_id
from qa_core.text.safe_text import escaped_json
from qa_core.types import Answer, AnswerSource, Question

RUN_DEPTH = 100
OPTIONS = {"persona": "persona", "hint": "hint", "deadline": "seconds", "top": "top"}
"""Keys of a line that replace an option of the command, with their fields of `Ask`."""
KEYS = frozenset({"_id", "qid", "id", "title", "question", "text", "body", "category", *OPTIONS, *NAMES})
"""All keys of a line that have a meaning."""
STANDARD = Path("-")
"""Standard input as the file of questions, standard output as that of answers."""


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
    a crash cut short is answered again; standard output holds none. The TREC run holds the ranked documents before
    tiling, best first.

    Args:
        ask: everything but the question and its scope; a line's `persona`, `hint`, `deadline` and `top` replace it.
        narrowing: the fields of a scope that hold for all lines; a line's field replaces the one of the same name.

    Raises:
        BatchError: `out` or `run` belongs to other questions.
        PersonaError: the persona is unknown.
    """
    ask, unknown = ask or Ask(Question("")), set[str]()
    if ask.persona:
        bot.voices.parts(ask.persona)
    _check_distinct(source, out, run)
    questions = _read_lines(source)
    done = [] if out == STANDARD else _resume(out, questions)
    answered, failed, processed = sum(line.answered for line in done), sum(line.failed for line in done), len(done)
    find = cache(partial(id_paths, store=bot.store.sources))
    if run:
        _resume_run(run, {escape_id(line.qid).encode() for line in done if line.qid is not None})
    if (verifier := configured_verifier(bot.config.ranking, bot.home.models)) is not None:
        verifier.ready()  # or the first question would wait for the models
    with _opened_answers(out) as answers, run.open("ab") if run else nullcontext() as ranked:
        for number, line in islice(enumerate(parsed_lines(questions), start=1), len(done), None):
            if isinstance(line, WrongLine):
                payload, lines = {"qid": line.qid, "error": f"{source}:{number}: {line.error}"}, b""
            else:
                _warn_of_unknown(line.fields, f"{source}:{number}", unknown)
                fields = {**(narrowing or {}), **{k: v for k, v in line.fields.items() if v is not None}}
                payload, lines = _answer_line(bot, ask, QuestionLine(line.question, fields), f"{source}:{number}", find)
            if ranked:  # before the answer: after a crash the run may hold too much, which is cut, but never too little
                ranked.write(lines)
                ranked.flush()
            answers.write(escaped_json(orjson.dumps(payload)) + b"\n")
            answers.flush()
            answered += bool(payload.get("answered"))
            failed += "error" in payload
            processed = number
            progress(processed)
    return Answered(answered, processed, len(done), failed)


def _check_distinct(source: Path, out: Path, run: Path | None) -> None:
    if run == STANDARD:
        raise BatchError("Expected a file as --run, but got -; standard output takes the answers only.")
    paths = [path.absolute() for path in (source, out, run) if path and path != STANDARD]
    if len({path.resolve() for path in paths}) < len(paths):
        raise BatchError(f"Expected different files, but got {', '.join(map(str, paths))}; rename one.")


def _read_lines(source: Path) -> list[bytes]:
    """The lines of a file of questions, or of standard input."""
    with nullcontext(sys.stdin.buffer) if source == STANDARD else source.open("rb") as lines:
        return list(lines)


def _opened_answers(out: Path) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdout.buffer) if out == STANDARD else out.open("ab")


def _answer_line(
    bot: Bot, ask: Ask, line: QuestionLine, where: str, find: Callable[[str], IdPaths]
) -> tuple[dict[str, Any], bytes]:
    """The answer object of a line, and the lines of the run."""
    try:
        scope = replace(Scope.of(by_ids(line.fields, find)), leave_out=line.question.id)
        return _answer(bot, _with_options(replace(ask, question=line.question, scope=scope), line.fields))
    except (ScopeError, ArgumentError, PersonaError, AttributeError, TypeError) as error:
        return {"qid": line.question.id, "error": f"{where}: {error}"}, b""


def _with_options(ask: Ask, fields: Mapping[str, Any]) -> Ask:
    """The question with the options of its line. Raises ArgumentError for a value of another type or range."""
    options = {OPTIONS[name]: value for name, value in fields.items() if name in OPTIONS}
    if "seconds" in options:
        expect_number("deadline", options["seconds"])
    described = replace(ask, **options)
    described.expect_usable()
    return described


def _warn_of_unknown(fields: Mapping[str, Any], where: str, known: set[str]) -> None:
    """Name on standard error the keys of a line that have no meaning, each once: `known` holds those named before."""
    for key in fields.keys() - KEYS - known:
        near = "".join(f"; the nearest is `{name}`" for name in get_close_matches(key.casefold(), KEYS, n=1))
        say(f"{where}: the key `{key}` has no meaning here{near}. It is ignored.", err=True)
        known.add(key)


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


def _resume(out: Path, questions: Iterable[bytes]) -> list[_DoneLine]:
    """The complete lines of an earlier run, checked against the questions; an incomplete last line is removed."""
    if not out.exists():
        return []
    done: list[_DoneLine] = []
    size = 0
    with out.open("rb") as lines:
        for line, question in zip(lines, chain(parsed_lines(questions), repeat(None)), strict=False):
            if not line.endswith(b"\n"):
                break
            done.append(_done_line(line, question, out, len(done) + 1))
            size += len(line)
    os.truncate(out, size)
    return done


def _done_line(line: bytes, parsed: QuestionLine | WrongLine | None, out: Path, number: int) -> _DoneLine:
    """The parsed line; raises BatchError if it does not answer this question."""
    question = parsed.question if isinstance(parsed, QuestionLine) else parsed
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
