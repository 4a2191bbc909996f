"""Requests and replies of the routes of blind comparison."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from qa_bot.learning.comparing.blind import Preference
from qa_bot.learning.comparing.judgements import Grade, Name
from qa_bot.web.api.models import Body, whole
from qa_bot.web.chat.frames import NAME, TEXT

PAIRS = 1_000_000
"""Limit of a pair's position."""
DAY = 86_400.0

Judge = Annotated[Name, Field(description="Name of the judge, the same every time.")]
Level = Annotated[Grade, Field(description="0 bad, 1 fair, 2 good, 3 excellent."), BeforeValidator(whole)]


class SideRequest(Body):
    name: Annotated[str, Field(min_length=1, max_length=NAME, description="Name of the side, hidden from judges.")]
    answers: Annotated[str, Field(min_length=1, description="JSONL as `qa-bot compare` reads it.")]


class ComparisonRequest(Body):
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$", max_length=64)]
    a: SideRequest
    b: SideRequest


class NextQuery(BaseModel):
    """The judge, and the first position to look at; query values are text."""

    model_config = ConfigDict(extra="forbid")

    judge: Judge
    start: Annotated[int, Field(ge=0, lt=PAIRS, description="Pairs before this position were skipped.")] = 0


class TableQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    reveal: Annotated[bool, Field(description="Give the names of the sides.")] = False


class GradesRequest(Body):
    first: Level | None = None
    second: Level | None = None


class JudgementRequest(Body):
    judge: Judge
    qid: Annotated[str, Field(min_length=1, max_length=TEXT)]
    choice: Annotated[Preference, Field(description="The better answer by its position, or a tie.")]
    grades: GradesRequest | None = None
    seconds: Annotated[float, Field(ge=0, le=DAY, description="Time that the judge took.")] | None = None


# --- replies --------------------------------------------------------------------------------------------------------


class ComparisonReply(BaseModel):
    name: str
    questions: Annotated[int, Field(description="Number of pairs to judge.")]
    identical: Annotated[int, Field(description="Pairs of identical answers, which are ties.")]
    judges: Annotated[dict[str, int], Field(description="Number of judgements by judge.")]


class ComparisonMadeReply(BaseModel):
    name: str
    questions: int
    identical: int
    only_a: Annotated[int, Field(description="Questions that only A answers; they are left out.")]
    only_b: int
    wrong: Annotated[list[str], Field(description="The first unusable lines, with reasons.")]


class ComparisonsReply(BaseModel):
    comparisons: list[ComparisonReply]


class PairReply(BaseModel):
    """Two answers in random order; an empty one is an abstention."""

    qid: str
    question: str
    body: str
    first: str
    second: str
    place: int


class NextReply(BaseModel):
    comparison: str
    judge: str
    done: Annotated[int, Field(description="Number of pairs that this judge has judged.")]
    questions: int
    pair: Annotated[PairReply | None, Field(description="Null if all from `start` on are judged.")]


class JudgementReply(BaseModel):
    comparison: str
    judge: str
    qid: str
    done: int
    questions: int


class RowReply(BaseModel):
    """Figures of the questions of one grade; shares and `difference` are means over questions."""

    grade: Annotated[str, Field(description="Of the better answer, if known; `all` is over all questions.")]
    questions: int
    judgements: int
    prefer_a: float
    tie: float
    prefer_b: float
    won_a: Annotated[int, Field(description="Questions whose judges mostly chose A.")]
    won_b: int
    p: Annotated[float, Field(description="Two-sided sign test of the questions won, without ties.")]
    p_randomised: Annotated[float, Field(description="Two-sided randomisation test of the shares by question.")]
    difference: Annotated[float, Field(description="A's share less B's, with its 95 % interval.")]
    low: float
    high: float


class TableReply(BaseModel):
    comparison: str
    a: Annotated[str | None, Field(description="Name of A; only with `reveal`.")] = None
    b: str | None = None
    questions: int
    identical: int
    waiting: Annotated[int, Field(description="Questions without a judgement.")]
    only_a: int
    only_b: int
    judges: dict[str, int]
    alpha: Annotated[float | None, Field(description="Krippendorff's, nominal; null if undefined.")]
    conclusion: str
    rows: Annotated[list[RowReply], Field(description="By grade, if grades are known; the last is over all.")]
