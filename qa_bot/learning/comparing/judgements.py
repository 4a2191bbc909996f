"""Judgements: a file of JSON lines that only grows; the last judgement of a judge for a question counts."""

from __future__ import annotations

import fcntl
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Annotated, Literal

import orjson
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from qa_bot.learning.comparing.blind import Choice, Order, Preference, chosen_side, order_of
from qa_bot.learning.comparing.comparison import Comparison, Pair
from qa_bot.learning.comparing.sides import GRADES, ComparisonError

JUDGE = 64
"""Limit of a judge's name, in characters."""
LONGEST = 1 << 17
"""Limit of a line, in bytes."""

Grade = Annotated[int, Field(ge=GRADES[0], le=GRADES[-1])]
Name = Annotated[str, Field(max_length=JUDGE, pattern=r"^[^\x00-\x20\x7f-\xa0]+( [^\x00-\x20\x7f-\xa0]+)*$")]
"""Of a judge: words with single blanks between them."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's decision about one pair; `pair` is the key of that pair if it is known."""

    __pydantic_config__ = ConfigDict(extra="ignore", allow_inf_nan=False)

    judge: Name
    qid: str
    order: Order
    choice: Choice
    grade: Mapping[Literal["A", "B"], Grade] = field(default_factory=dict)
    seconds: Annotated[float, Field(ge=0)] = 0.0
    at: Annotated[float, Field(description="Seconds since 1970.")] = 0.0
    pair: str = ""


@dataclass(frozen=True, slots=True)
class Judgements:
    """All judgements of a comparison that count, by question and judge.

    `wrong` holds the unreadable lines, with file, line and reason; the other fields count the judgements of other
    questions and of other answers.
    """

    by_question: Mapping[str, Mapping[str, Judgement]]
    wrong: tuple[str, ...] = ()
    other_questions: int = 0
    other_answers: int = 0

    @property
    def judges(self) -> Mapping[str, int]:
        """Number of questions by judge, sorted by name."""
        counts = Counter(name for judges in self.by_question.values() for name in judges)
        return dict(sorted(counts.items()))

    def done(self, judge: str) -> set[str]:
        """Ids of the questions that a judge has judged."""
        return {qid for qid, judges in self.by_question.items() if judge in judges}


def judge_pair(
    comparison: Comparison,
    pair: Pair,
    judge: str,
    preference: Preference,
    *,
    grades: tuple[int | None, int | None] = (None, None),
    seconds: float = 0.0,
) -> Judgement:
    """The judgement of a blind pair; `preference` and `grades` are of the first and the second answer on the screen."""
    order = order_of(comparison.seed, judge, pair.qid)
    sides: tuple[Literal["A", "B"], ...] = ("A", "B") if order == "AB" else ("B", "A")
    by_side = {side: grade for side, grade in zip(sides, grades, strict=True) if grade is not None}
    choice = chosen_side(order, preference)
    return Judgement(judge, pair.qid, order, choice, by_side, seconds, time.time(), pair.key)


def check_judge(name: str) -> None:
    """Raise ComparisonError if a judge cannot have this name."""
    try:
        _NAME.validate_python(name)
    except ValidationError:
        raise ComparisonError(
            f"Expected a judge's name of at most {JUDGE} characters with single blanks between words, but got "
            f"{name[:80]!r}."
        ) from None


def append(file: Path, judgement: Judgement) -> None:
    """Add a judgement to a file that other processes may write to; a line that a crash cut short stays unchanged."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    line = orjson.dumps(judgement) + b"\n"
    with file.open("ab+", buffering=0) as out:
        fcntl.flock(out, fcntl.LOCK_EX)
        if end := out.seek(0, os.SEEK_END):
            out.seek(end - 1)
            line = line if out.read(1) == b"\n" else b"\n" + line
        out.write(line)


def read_judgements(comparison: Comparison, files: Iterable[Path]) -> Judgements:
    """All judgements of a comparison in these files; the latest of a judge for a question counts."""
    judgements: list[Judgement] = []
    wrong: list[str] = []
    for where, line in _lines(files):
        try:
            judgements.append(_parse(line))
        except ValueError as error:
            wrong.append(f"{where}: {error}")
    return _merge(comparison, sorted(judgements, key=lambda judgement: judgement.at), wrong)


def _merge(comparison: Comparison, judgements: Sequence[Judgement], wrong: Sequence[str]) -> Judgements:
    by_question: defaultdict[str, dict[str, Judgement]] = defaultdict(dict)
    questions = answers = 0
    for judgement in judgements:
        pair = comparison.judged.get(judgement.qid)
        if pair is None:
            questions += 1
        elif judgement.pair not in ("", pair.key):
            answers += 1
        else:
            by_question[judgement.qid][judgement.judge] = judgement
    return Judgements(by_question, tuple(wrong), questions, answers)


def _lines(files: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    """Lines that are not blank, with file and number; a line beyond the limit comes in pieces."""
    for file in files:
        if not file.exists():
            continue
        with file.open("rb") as lines:
            for number in count(1):
                line = lines.readline(LONGEST)
                if not line:
                    break
                if line.strip():
                    yield f"{file}:{number}", line


def _parse(line: bytes) -> Judgement:
    if len(line) >= LONGEST:
        raise ValueError(f"Expected at most {LONGEST:,} bytes in a line, but got more; remove it.")
    try:
        return _JUDGEMENT.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(
            'Expected {"judge", "qid", "order", "choice"}, but got: ' + (f"{where}: " if where else "") + first["msg"]
        ) from None


_JUDGEMENT = TypeAdapter(Judgement)
_NAME: TypeAdapter[str] = TypeAdapter(Name)
