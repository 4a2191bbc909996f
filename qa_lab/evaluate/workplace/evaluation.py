"""`eval workplace`: grades of answers to questions over people's own documents, by type of question and engine."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from qa_bot.home.encoders import STARTER
from qa_core.measures.metrics import Difference, Score, paired_bootstrap
from qa_core.measures.significance import SEED
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.workplace.grading import GRADES, POINTS, Grade, grade
from qa_lab.evaluate.workplace.losses import Losses, losses
from qa_lab.evaluate.workplace.pipelines import DEFAULT, opened
from qa_lab.evaluate.workplace.questions import GradedQuestion, read_questions
from qa_lab.reference.encoders import EncoderChoice, choose
from qa_lab.reference.replies import Pipeline, Reply

TASK = "workplace"


@dataclass(frozen=True, slots=True)
class GradedReply:
    question: GradedQuestion
    reply: Reply
    grade: Grade
    seconds: float


@dataclass(frozen=True, slots=True)
class WorkplaceResult:
    """Replies of one engine to all questions, in their order.

    `preparing` is the time for reading and indexing; `versus` compares the points with those of the first result.
    """

    data: str
    engine: str
    encoder: str
    replies: tuple[GradedReply, ...]
    preparing: float = 0.0
    losses: Losses | None = None
    versus: Difference | None = None

    @property
    def name(self) -> str:
        return f"{self.engine}, {Path(self.encoder).name}"

    @property
    def score(self) -> Score:
        return Score.of({of.question.id: POINTS[of.grade] for of in self.replies})

    @property
    def grades(self) -> Counter[Grade]:
        return Counter(of.grade for of in self.replies)

    def of_type(self, type_: str) -> WorkplaceResult:
        return replace(self, replies=tuple(of for of in self.replies if of.question.type == type_))

    @property
    def types(self) -> list[str]:
        return sorted({of.question.type for of in self.replies})

    def milliseconds(self, percentile: float) -> float:
        """A percentile of the time for an answer."""
        return 1000 * float(np.percentile([of.seconds for of in self.replies], percentile))

    def as_dict(self, *, with_replies: bool = False) -> dict[str, Any]:
        score = self.score
        payload: dict[str, Any] = {
            "task": TASK,
            "data": self.data,
            "engine": self.engine,
            "encoder": self.encoder,
            "questions": len(self.replies),
            "score": round(score.mean, 4),
            "score_se": round(score.standard_error, 4) if len(self.replies) > 1 else None,
            **_counts(self.grades),
            "types": {name: _of_type(self.of_type(name)) for name in self.types},
            "seconds": round(self.preparing + sum(of.seconds for of in self.replies), 2),
            "p50_ms": round(self.milliseconds(50), 1),
            "p99_ms": round(self.milliseconds(99), 1),
        }
        if self.versus is not None:
            payload["versus_first"] = {
                "measure": "score",
                "difference": round(self.versus.difference, 4),
                "low": round(self.versus.low, 4),
                "high": round(self.versus.high, 4),
                "p": self.versus.p,
            }
        if self.losses is not None:
            payload["losses"] = self.losses.as_dict()
        if with_replies:
            payload["replies"] = [_reply_dict(of) for of in self.replies]
        return payload


def evaluate_workplace(
    data: Path,
    questions: Path,
    *,
    engines: Sequence[str] = (DEFAULT,),
    encoders: Sequence[str] = (),
    home: Path | None = None,
    flags: Mapping[str, object] | None = None,
    limit: int | None = None,
    with_losses: bool = False,
    progress: Progress = silent,
) -> list[WorkplaceResult]:
    """A result for each engine and encoder, compared with the first question by question.

    Args:
        data: input of `qa-bot add`.
        questions: a file of questions or dialogues.
        engines: of `qa_lab.evaluate.workplace.pipelines.ENGINES`.
        encoders: names of encoders, by default the starter's.
        home: home of the default engine instead of a temporary one.
        flags: configuration of the default engine by `section.key`.
        limit: largest number of questions; each turn of a dialogue is one.
        with_losses: also measure where answers are lost.

    Raises:
        DatasetError, EncoderError: each says what to do.
    """
    graded = read_questions(questions, limit=limit)
    results = []
    for choice in map(choose, encoders or (STARTER,)):
        for engine in dict.fromkeys(engines):
            started = time.perf_counter()
            with opened(engine, data, choice, home=home, flags=flags, progress=progress) as pipeline:
                preparing = time.perf_counter() - started
                replies = tuple(_replies(pipeline, graded, engine, progress))
                lost = losses(pipeline, [(of.question, of.reply) for of in replies]) if with_losses else None
                results.append(_result(data, engine, choice, replies, preparing, lost))
    return compared(results)


def compared(results: Sequence[WorkplaceResult]) -> list[WorkplaceResult]:
    """The results, each but the first with a paired bootstrap of its points against the first."""
    first, *others = results
    base = first.score.per_query
    return [first] + [
        replace(result, versus=paired_bootstrap(result.score.per_query, base, seed=SEED)) for result in others
    ]


def _replies(
    pipeline: Pipeline, questions: Sequence[GradedQuestion], engine: str, progress: Progress
) -> Iterator[GradedReply]:
    for done, question in enumerate(questions, start=1):
        started = time.perf_counter()
        reply = pipeline.reply(question.turn)
        yield GradedReply(question, reply, grade(question, reply), time.perf_counter() - started)
        progress(f"asked of {engine}", done)


def _result(
    data: Path,
    engine: str,
    choice: EncoderChoice,
    replies: tuple[GradedReply, ...],
    preparing: float,
    lost: Losses | None,
) -> WorkplaceResult:
    return WorkplaceResult(data.resolve().name, engine, choice.name, replies, preparing, lost)


def _of_type(result: WorkplaceResult) -> dict[str, Any]:
    return {"questions": len(result.replies), "score": round(result.score.mean, 4), **_counts(result.grades)}


def _counts(grades: Counter[Grade]) -> dict[str, int]:
    return {name: grades[name] for name in GRADES}


def _reply_dict(of: GradedReply) -> dict[str, Any]:
    return {
        "_id": of.question.id,
        "grade": of.grade,
        "answered": of.reply.answered,
        "answer": of.reply.text,
        "reason": of.reply.reason,
        "confidence": of.reply.confidence,
        "documents": list(of.reply.documents),
    }
