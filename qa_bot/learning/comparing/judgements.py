"""What judges said: a line each, only ever added to; the last one of a judge for a question counts."""

from __future__ import annotations

import fcntl
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Annotated, Literal

import orjson
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from qa_bot.learning.comparing.blind import Choice, Order, Place, chosen, order_of
from qa_bot.learning.comparing.comparison import Comparison, Pair
from qa_bot.learning.comparing.sides import GRADES, ComparisonError

JUDGE = 64
"""Characters of a judge's name."""
LONGEST = 1 << 17
"""Bytes of a line."""

Grade = Annotated[int, Field(ge=GRADES[0], le=GRADES[-1])]
Name = Annotated[str, Field(max_length=JUDGE, pattern=r"^[^\x00-\x20\x7f-\xa0]+( [^\x00-\x20\x7f-\xa0]+)*$")]
"""Of a judge: words with single blanks between them."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge said of one pair; `pair` is its key, where it is known."""

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
class Judged:
    """All that was said of a comparison.

    `by_question` holds what counts, by question and judge; `wrong` the lines that cannot be read, with file, line and
    reason; the rest counts what is about other questions or other answers.
    """

    by_question: Mapping[str, Mapping[str, Judgement]]
    wrong: tuple[str, ...] = ()
    other_questions: int = 0
    other_answers: int = 0

    @property
    def judges(self) -> Mapping[str, int]:
        """How many questions each judge has judged, in the order of their names."""
        counts: defaultdict[str, int] = defaultdict(int)
        for judges in self.by_question.values():
            for name in judges:
                counts[name] += 1
        return dict(sorted(counts.items()))

    def done(self, judge: str) -> set[str]:
        """Ids of the questions that a judge has judged."""
        return {qid for qid, judges in self.by_question.items() if judge in judges}


def judge_pair(
    comparison: Comparison,
    pair: Pair,
    judge: str,
    place: Place,
    *,
    grades: tuple[int | None, int | None] = (None, None),
    seconds: float = 0.0,
) -> Judgement:
    """A judgement by what was seen: `place` and `grades` are of the first and the second answer on the screen."""
    order = order_of(comparison.seed, judge, pair.qid)
    sides: tuple[Literal["A", "B"], ...] = ("A", "B") if order == "AB" else ("B", "A")
    grade = {side: given for side, given in zip(sides, grades, strict=True) if given is not None}
    return Judgement(judge, pair.qid, order, chosen(order, place), grade, seconds, time.time(), pair.key)


def expect_judge(name: str) -> None:
    """Raises ComparisonError for what cannot be a judge's name."""
    try:
        _NAME.validate_python(name)
    except ValidationError:
        raise ComparisonError(
            f"Expected a judge's name of at most {JUDGE} characters with single blanks between words, but got "
            f"{name[:80]!r}."
        ) from None


def append(file: Path, judgement: Judgement) -> None:
    """Keep a judgement; several processes may do so at once, and a line that somebody was killed in is left alone."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    line = orjson.dumps(judgement) + b"\n"
    with file.open("ab+", buffering=0) as out:
        fcntl.flock(out, fcntl.LOCK_EX)
        if end := out.seek(0, os.SEEK_END):
            out.seek(end - 1)
            line = line if out.read(1) == b"\n" else b"\n" + line
        out.write(line)


def read_judgements(comparison: Comparison, files: Iterable[Path]) -> Judged:
    """What files say of a comparison, merged; of a judge for a question the last counts, by its time."""
    said: list[Judgement] = []
    wrong: list[str] = []
    for where, line in _lines(files):
        try:
            said.append(_parsed(line))
        except ValueError as error:
            wrong.append(f"{where}: {error}")
    return _merged(comparison, sorted(said, key=lambda each: each.at), wrong)


def _merged(comparison: Comparison, said: Sequence[Judgement], wrong: Sequence[str]) -> Judged:
    by_question: defaultdict[str, dict[str, Judgement]] = defaultdict(dict)
    questions = answers = 0
    for each in said:
        pair = comparison.judged.get(each.qid)
        if pair is None:
            questions += 1
        elif each.pair not in ("", pair.key):
            answers += 1
        else:
            by_question[each.qid][each.judge] = each
    return Judged(by_question, tuple(wrong), questions, answers)


def _lines(files: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    """Lines that are not blank, with file and number; whatever else stands in a file, whole lines are found."""
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


def _parsed(line: bytes) -> Judgement:
    if len(line) >= LONGEST:
        raise ValueError(f"Expected at most {LONGEST:,} bytes in a line, but got more; remove it.")
    try:
        return _READ.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(
            'Expected {"judge", "qid", "order", "choice"}, but got: ' + (f"{where}: " if where else "") + first["msg"]
        ) from None


_READ = TypeAdapter(Judgement)
_NAME: TypeAdapter[str] = TypeAdapter(Name)
