"""The two sides of a comparison: a file with answers, or a configuration of the bot that answers the same questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from qa_bot.bot import Bot
from qa_bot.documents.ingest.example_lines import Line, read_lines
from qa_bot.documents.ingest.records import Notice, Reject
from qa_bot.documents.question_lines import read_questions
from qa_bot.home.config import CONFIG_FILE, read_settings
from qa_core.measures.runs import Qrels
from qa_core.text.analysis import normalise, words
from qa_core.types import Question

HOME = "home"
"""Names the home itself as a side, unless a file has this name."""
GRADES = (0, 1, 2, 3)
"""Bad, fair, good, excellent: judgements 1–4 of LiveQA."""

Progress = Callable[[int], None]


class ComparisonError(Exception):
    """Sides that cannot be compared."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One side's answer to a question; an empty `text` is an abstention."""

    question: Question
    text: str
    document: str = ""
    """The first source of the bot's answer."""
    grade: int | None = None
    """From 0 (bad) to 3 (excellent), if known."""


@dataclass(frozen=True, slots=True)
class Side:
    name: str
    replies: tuple[Reply, ...]
    wrong: tuple[str, ...] = ()
    """Unusable lines, with file, line and reason."""


def open_sides(
    a: Path,
    b: Path,
    *,
    home: Path | None = None,
    questions: Path | None = None,
    limit: int | None = None,
    progress: Progress = lambda _: None,
) -> tuple[Side, Side]:
    """Both sides with their answers: read from a file, or given now by a bot with that configuration.

    A file holds a JSON object a line: the output of `ask --batch`, or people's `{"_id" or "qid" or "question",
    "answer"}` with an optional `"grade"`. A configuration is a TOML file whose keys override the home's, or another
    home, or the word `home` for this one. The bot is asked the `questions`, a file as for `ask --batch`, or else the
    other side's questions; these turns are not recorded.

    Args:
        limit: number of questions at most.

    Raises:
        ComparisonError: a side is none of these, or there is nothing to ask.
        ConfigError: and any other error of opening a bot.
    """
    named = ((a, a.name), (b, b.name)) if a.name != b.name else ((a, str(a)), (b, str(b)))
    read = [None if is_configuration(path) else read_answers(path, name) for path, name in named]
    wrong: list[str] = []
    questions_to_ask = _questions_to_ask(read, questions, wrong)
    if questions_to_ask is None:
        first, second = (side for side in read if side is not None)
        return first, second
    questions_to_ask = questions_to_ask[:limit]
    one, other = (
        _ask_bot(path, name, questions_to_ask, home=home, progress=progress)
        if side is None
        else _select(side, questions_to_ask)
        for side, (path, name) in zip(read, named, strict=True)
    )
    return replace(one, wrong=(*wrong, *one.wrong)), other


def is_configuration(path: Path) -> bool:
    """Whether `path` names a configuration rather than answers; raises ComparisonError if it does not exist."""
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
    """The answers of a file; raises ComparisonError if it has none."""
    return _side(name, str(path), _read_file(path))


def parse_answers(text: str, name: str) -> Side:
    """The answers of a text in the format of these files; raises ComparisonError if it has none."""
    return _side(name, name, _read_text(text, name))


def folded(question: Question) -> str:
    """The words of a question without case and punctuation, the same for its different spellings."""
    return " ".join(words(question.title or question.body)) or question.title


def with_grades(side: Side, qrels: Qrels) -> Side:
    """The side with the grade of each answer's first document, if it is judged."""
    return replace(side, replies=tuple(_with_grade(reply, qrels) for reply in side.replies))


def _with_grade(reply: Reply, qrels: Qrels) -> Reply:
    grade = qrels.get(reply.question.id, {}).get(reply.document)
    return reply if grade is None else replace(reply, grade=min(max(grade, GRADES[0]), GRADES[-1]))


# --- answer files ---------------------------------------------------------------------------------------------------


def _side(name: str, source: str, lines: Iterable[tuple[str, Reply | str]]) -> Side:
    """The replies of lines, each given with its location as a reply or an error."""
    replies: dict[str, Reply] = {}
    wrong: list[str] = []
    for where, reply in lines:
        if isinstance(reply, str):
            wrong.append(f"{where}: {reply}")
        elif replies.setdefault(reply.question.id or folded(reply.question), reply) is not reply:
            wrong.append(f"{where}: Expected one answer to a question, but got another; the first counts.")
    if not replies:
        first = f": {wrong[0]}" if wrong else "; is it empty?"
        raise ComparisonError(f"Expected answers in {source}, but got none{first}")
    return Side(name, tuple(replies.values()), tuple(wrong))


def _read_file(path: Path) -> Iterator[tuple[str, Reply | str]]:
    for item in read_lines([path], _parse_reply):
        match item:
            case Line():
                yield item.where, item.example
            case Reject():
                yield item.where, item.reason
            case Notice():
                yield item.where, item.message


def _read_text(text: str, name: str) -> Iterator[tuple[str, Reply | str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield f"{name}:{number}", _parse_reply(line)
            except ValueError as error:
                yield f"{name}:{number}", str(error)


def _parse_reply(line: str) -> Reply:
    """Raises ValueError with the reason if the line is invalid."""
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
    keys = ("qid", "_id") if "answered" in fields else ("qid", "_id", "id")  # in the bot's output `id` is the answer's
    qid = next((str(fields[key]) for key in keys if fields.get(key) is not None), "")
    title, body = _text(fields, "question", "title"), _text(fields, "body")
    if not qid and not title.strip():
        raise ValueError('Expected {"_id" or "qid" or "question", "answer"}, but got none of the first three.')
    return Question(normalise(title), normalise(body), id=qid)


def _answer(fields: Mapping[str, Any]) -> str:
    if fields.get("answered") is False:
        return ""
    if not any(name in fields for name in ("answer", "text", "answers")):
        raise ValueError('Expected an "answer", but got none; write an empty one for an abstention.')
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


def _questions_to_ask(read: Sequence[Side | None], path: Path | None, wrong: list[str]) -> list[Question] | None:
    """The questions of the comparison, None if both sides are files; invalid lines are added to `wrong`."""
    if path is not None:
        return _read_questions(path, wrong)
    answered = next((side for side in read if side is not None), None)
    if answered is None:
        raise ComparisonError("Expected questions for two configurations, but got none; add --questions FILE.jsonl.")
    if None not in read:
        return None
    questions = [reply.question for reply in answered.replies]
    if nameless := [question.id for question in questions if not (question.title or question.body)]:
        raise ComparisonError(
            f"Expected questions in {answered.name} to ask the other side, but got only ids (such as {nameless[0]!r}); "
            "add --questions FILE.jsonl."
        )
    return questions


def _read_questions(path: Path, wrong: list[str]) -> list[Question]:
    questions: list[Question] = []
    for number, question in enumerate(read_questions(path), start=1):
        if isinstance(question, Question):
            questions.append(question)
        else:
            wrong.append(f"{path}:{number}: {question.error}")
    if not questions:
        first = f": {wrong[0]}" if wrong else "; is it empty?"
        raise ComparisonError(f"Expected questions in {path}, but got none{first}")
    return questions


def _select(side: Side, questions: Sequence[Question]) -> Side:
    """The side's answers to these questions, in the wording of `questions`."""
    by_id = {question.id: question for question in questions if question.id}
    by_words = {folded(question): question for question in questions}
    matches = ((reply, by_id.get(reply.question.id) or by_words.get(folded(reply.question))) for reply in side.replies)
    return replace(side, replies=tuple(replace(reply, question=match) for reply, match in matches if match is not None))


def _ask_bot(path: Path, name: str, questions: Sequence[Question], *, home: Path | None, progress: Progress) -> Side:
    folder = path if path.is_dir() else home
    flags = read_settings(path) if path.is_file() else {}
    replies = []
    with Bot.open(folder, flags=flags, record=False) as bot:
        for number, question in enumerate(questions, start=1):
            answer = bot.ask(question, top=1)
            document = answer.sources[0].document if answer.sources else ""
            replies.append(Reply(question, normalise(answer.text) if answer.answered else "", document))
            progress(number)
    return Side(name, tuple(replies))
