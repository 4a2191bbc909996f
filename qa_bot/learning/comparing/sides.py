"""The two sides of a comparison: a file with answers, or a configuration of the bot that answers the same questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from qa_bot.bot import Bot
from qa_bot.cli.batch import questions_of
from qa_bot.documents.ingest.example_lines import Line, read_lines
from qa_bot.documents.ingest.records import Notice, Reject
from qa_bot.home.config import CONFIG_FILE, read_settings
from qa_core.measures.runs import Qrels
from qa_core.text.analysis import normalise, words
from qa_core.types import Question

HOME = "home"
"""The side that is the home as it is configured, where no file has this name."""
GRADES = (0, 1, 2, 3)
"""Bad, fair, good, excellent: judgements 1–4 of LiveQA."""

Progress = Callable[[int], None]


class ComparisonError(Exception):
    """Sides that cannot be compared; the message says what was expected, what came and what to do."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one side says to a question; an empty `text` is no answer."""

    question: Question
    text: str
    document: str = ""
    """The first source of the bot's answer."""
    grade: int | None = None
    """How good it is, from 0 to 3, where that is known."""


@dataclass(frozen=True, slots=True)
class Side:
    name: str
    replies: tuple[Reply, ...]
    wrong: tuple[str, ...] = ()
    """Lines that could not be used, with file, line and reason."""


def open_sides(
    a: Path,
    b: Path,
    *,
    home: Path | None = None,
    questions: Path | None = None,
    limit: int | None = None,
    progress: Progress = lambda _: None,
) -> tuple[Side, Side]:
    """Both sides, each with its answers: those of a file, or those that a configuration gives now.

    A file holds a JSON object a line: what `ask --batch` wrote, or `{"_id" or "qid" or "question", "answer"}` by
    people, with a `"grade"` where somebody gave one. A configuration is a TOML file whose keys stand above the home's,
    or another home, or the word `home` for this one as it is. It is asked what `questions` holds, as `ask --batch`
    reads it, or else what the other side answers; nothing of that is recorded.

    Args:
        limit: how many questions are asked.

    Raises:
        ComparisonError: a side is nothing of these, or there is nothing to ask.
        ConfigError and whatever else keeps a bot from opening.
    """
    named = ((a, a.name), (b, b.name)) if a.name != b.name else ((a, str(a)), (b, str(b)))
    read = [None if is_configuration(path) else read_answers(path, name) for path, name in named]
    wrong: list[str] = []
    asked = _asked(read, questions, wrong)
    if asked is None:
        first, second = (side for side in read if side is not None)
        return first, second
    asked = asked[:limit]
    one, other = (
        _answered(path, name, asked, home=home, progress=progress) if side is None else _among(side, asked)
        for side, (path, name) in zip(read, named, strict=True)
    )
    return replace(one, wrong=(*wrong, *one.wrong)), other


def is_configuration(path: Path) -> bool:
    """Whether answers have to be asked for; raises ComparisonError where nothing is at `path`."""
    if path.is_dir():
        if not any((path / name).exists() for name in ("index", CONFIG_FILE)):
            raise ComparisonError(f"Expected a home in the folder {path}, but it has neither index nor {CONFIG_FILE}.")
        return True
    if not path.exists() and str(path) != HOME:
        raise ComparisonError(
            f"Expected answers (JSONL), a configuration (TOML), a home or the word {HOME}, but there is no {path}."
        )
    return not path.exists() or path.suffix == ".toml"


def read_answers(path: Path, name: str) -> Side:
    """The answers of a file; raises ComparisonError where it has none."""
    return _side(name, str(path), _read(path))


def parse_answers(text: str, name: str) -> Side:
    """The answers of a text that is such a file; raises ComparisonError where it has none."""
    return _side(name, name, _split(text, name))


def folded(question: Question) -> str:
    """What two spellings of a question have in common: its words, without case and punctuation."""
    return " ".join(words(question.title or question.body)) or question.title


def graded(side: Side, qrels: Qrels) -> Side:
    """The side with the grades of the first documents behind its answers, where they are judged."""
    return replace(side, replies=tuple(_graded(each, qrels) for each in side.replies))


def _graded(reply: Reply, qrels: Qrels) -> Reply:
    grade = qrels.get(reply.question.id, {}).get(reply.document)
    return reply if grade is None else replace(reply, grade=min(max(grade, GRADES[0]), GRADES[-1]))


# --- answer files ---------------------------------------------------------------------------------------------------


def _side(name: str, source: str, lines: Iterable[tuple[str, Reply | str]]) -> Side:
    """The answers among lines, each a reply or what is wrong with it, behind its place."""
    replies: dict[str, Reply] = {}
    wrong: list[str] = []
    for where, told in lines:
        if isinstance(told, str):
            wrong.append(f"{where}: {told}")
        elif replies.setdefault(told.question.id or folded(told.question), told) is not told:
            wrong.append(f"{where}: Expected one answer to a question, but got another; the first counts.")
    if not replies:
        first = f": {wrong[0]}" if wrong else "; is it empty?"
        raise ComparisonError(f"Expected answers in {source}, but got none{first}")
    return Side(name, tuple(replies.values()), tuple(wrong))


def _read(path: Path) -> Iterator[tuple[str, Reply | str]]:
    for item in read_lines([path], _reply):
        match item:
            case Line():
                yield item.where, item.told
            case Reject():
                yield item.where, item.reason
            case Notice():
                yield item.where, item.message


def _split(text: str, name: str) -> Iterator[tuple[str, Reply | str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield f"{name}:{number}", _reply(line)
            except ValueError as error:
                yield f"{name}:{number}", str(error)


def _reply(line: str) -> Reply:
    """Raises ValueError that says what is wrong with the line."""
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"Expected a JSON object, but got: {error}") from None
    if not isinstance(fields, dict):
        raise ValueError(f"Expected a JSON object, but got {type(fields).__name__}.")
    if "error" in fields:
        raise ValueError(f"Expected an answer, but got the error {str(fields['error'])[:200]!r}; ask again.")
    question = _question(fields)
    return Reply(question, normalise(_answer(fields)), _document(fields), _grade(fields.get("grade")))


def _question(fields: Mapping[str, Any]) -> Question:
    named = ("qid", "_id") if "answered" in fields else ("qid", "_id", "id")  # `id` of the bot's answers is their own
    qid = next((str(fields[name]) for name in named if fields.get(name) is not None), "")
    title, body = _text(fields, "question", "title"), _text(fields, "body")
    if not qid and not title.strip():
        raise ValueError('Expected {"_id" or "qid" or "question", "answer"}, but got none of the first three.')
    return Question(normalise(title), normalise(body), id=qid)


def _answer(fields: Mapping[str, Any]) -> str:
    if fields.get("answered") is False:
        return ""
    if not any(name in fields for name in ("answer", "text", "answers")):
        raise ValueError('Expected an "answer", but got none; an empty one stands for no answer.')
    several = fields.get("answers")
    if isinstance(several, list) and several and isinstance(several[0], str):
        return several[0]
    return _text(fields, "answer", "text")


def _text(fields: Mapping[str, Any], *names: str) -> str:
    value = next((fields[name] for name in names if fields.get(name) is not None), "")
    if not isinstance(value, str):
        raise ValueError(f"Expected a text for {names[0]!r}, but got {type(value).__name__}.")
    return value


def _document(fields: Mapping[str, Any]) -> str:
    match fields.get("sources"):
        case [{"document": str(document)}, *_]:
            return document
    return ""


def _grade(value: object) -> int | None:
    if value is None or (value in GRADES and not isinstance(value, bool)):
        return None if value is None else int(str(value))
    raise ValueError(f"Expected a grade from 0 (bad) to 3 (excellent), but got {value!r}.")


# --- configurations -------------------------------------------------------------------------------------------------


def _asked(read: Sequence[Side | None], questions: Path | None, wrong: list[str]) -> list[Question] | None:
    """The questions of the comparison, None for those of two files; lines that are no question go to `wrong`."""
    if questions is not None:
        return _of_file(questions, wrong)
    answered = next((side for side in read if side is not None), None)
    if answered is None:
        raise ComparisonError("Expected questions for two configurations, but got none; add --questions FILE.jsonl.")
    if None not in read:
        return None
    asked = [reply.question for reply in answered.replies]
    if nameless := [each.id for each in asked if not (each.title or each.body)]:
        raise ComparisonError(
            f"Expected questions in {answered.name} to ask the other side, but got only ids (such as {nameless[0]!r}); "
            "add --questions FILE.jsonl."
        )
    return asked


def _of_file(path: Path, wrong: list[str]) -> list[Question]:
    asked: list[Question] = []
    for number, each in enumerate(questions_of(path), start=1):
        if isinstance(each, Question):
            asked.append(each)
        else:
            wrong.append(f"{path}:{number}: {each}")
    if not asked:
        first = f": {wrong[0]}" if wrong else "; is it empty?"
        raise ComparisonError(f"Expected questions in {path}, but got none{first}")
    return asked


def _among(side: Side, asked: Sequence[Question]) -> Side:
    """The answers to what is asked, worded as there."""
    by_id = {each.id: each for each in asked if each.id}
    by_words = {folded(each): each for each in asked}
    found = ((reply, by_id.get(reply.question.id) or by_words.get(folded(reply.question))) for reply in side.replies)
    return replace(side, replies=tuple(replace(reply, question=each) for reply, each in found if each is not None))


def _answered(path: Path, name: str, asked: Sequence[Question], *, home: Path | None, progress: Progress) -> Side:
    opened = path if path.is_dir() else home
    flags = read_settings(path) if path.is_file() else {}
    replies = []
    with Bot.open(opened, flags=flags, record=False) as bot:
        for number, question in enumerate(asked, start=1):
            answer = bot.ask(question, top=1)
            document = answer.sources[0].document if answer.sources else ""
            replies.append(Reply(question, normalise(answer.text) if answer.answered else "", document))
            progress(number)
    return Side(name, tuple(replies))
