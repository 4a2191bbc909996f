"""Every noun and every role, on one page.

Nouns are frozen; lists are best first; a higher score is better everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Side = Literal["question", "answer"]
"""Which side of a question-answer pair a text stands on; encoders may treat the two differently."""

AnswerKind = Literal["passage", "fact", "styled", "talk", "none"]
"""`talk` is what the bot says of itself, or of an answer that it gave."""
StyledKind = Literal["generated", "quotation", "edited"]

Span = tuple[int, int]
"""`[start, end)` in Unicode code points."""

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Question:
    title: str
    body: str = ""
    id: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True)
class Clue:
    """What points at a passage: a similar question and its body, or a page title and its snippet."""

    title: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a passage comes from; `document` is the id the owner gave it."""

    document: str
    title: str = ""
    url: str = ""
    collection: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    id: str
    text: str
    clue: Clue
    source: Source


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with its present score and the score every stage gave it."""

    passage: Passage
    score: float
    features: Mapping[str, float] = field(default_factory=dict)

    def scored(self, stage: str, score: float) -> Candidate:
        """A copy whose score is `score`, remembered in `features` under `stage`."""
        return Candidate(self.passage, score, {**self.features, stage: score})


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """A document behind an answer, at its best passage.

    `span` is the stretch of the answer that this source supports and `source_span` the stretch of `text` it came
    from; both are None for a ranked document that the answer does not use.
    """

    id: str
    document: str
    collection: str
    title: str
    url: str
    score: float
    text: str
    span: Span | None = None
    source_span: Span | None = None


@dataclass(frozen=True, slots=True)
class StyledLine:
    """A sentence in somebody's voice: drawn word by word, quoted from the speaker, or written by a person."""

    text: str
    kind: StyledKind
    persona: str
    score: float


@dataclass(frozen=True, slots=True)
class Styled:
    """What a persona says to a question.

    `span` is where its sentence stands in the answer's text; None where the plain answer went out, or there is none.
    """

    persona: str
    hint: str
    lines: tuple[StyledLine, ...]  # best first; the first is the one that was taken
    span: Span | None = None
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A reading of a question that has several: what a button says, and the question that it stands for."""

    text: str
    question: str


@dataclass(frozen=True, slots=True)
class Answer:
    question: str
    text: str
    kind: AnswerKind
    answered: bool
    confidence: float
    reason: str = ""
    sources: tuple[AnswerSource, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    id: str = ""
    styled: Styled | None = None
    understood: str = ""
    """The question as it was understood, where that is not as it was written."""
    choices: tuple[Choice, ...] = ()
    """What may be meant, where the bot asks back in place of an answer."""
    trace: Mapping[str, object] | None = None


class Encoder(Protocol):
    """Texts to unit vectors.

    `fingerprint` identifies weights and settings: an index made by another fingerprint is never searched.
    `quick` says whether a question is encoded in less time than it takes to hand it to another thread.
    """

    quick: ClassVar[bool]

    @property
    def dimension(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...

    def encode(self, texts: Sequence[str], *, side: Side = "question") -> FloatArray:
        """Rows of unit length, (N, D) float32; a text without any known token gives a zero row."""
        ...

    def knows(self, word: str) -> bool:
        """Whether a word is in the encoder's vocabulary (the in-vocabulary rule of fusion asks)."""
        ...


class Retriever(Protocol):
    def retrieve(self, queries: Sequence[str], k: int) -> list[Candidate]: ...


class Ranker(Protocol):
    def rank(self, question: Question, candidates: Sequence[Candidate]) -> list[Candidate]: ...
