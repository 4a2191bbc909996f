"""The types that all packages share: questions, passages, candidates, answers, encoders.

Dataclasses are frozen. Lists are ordered best first; a higher score is always better.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from qa_core.web_addresses import web_address

Side = Literal["question", "answer"]
"""Whether a text is a question or an answer; encoders may treat the two differently."""

AnswerKind = Literal["passage", "fact", "styled", "talk", "none"]
"""`talk` is small talk, or a remark about an earlier answer."""
StyledKind = Literal["generated", "quotation", "edited"]

DocumentKind = Literal["prose", "pair"]
"""`pair`: the title is a question, and the text its answer (an FAQ, a forum); its title is strong evidence."""
BlockKind = Literal["prose", "list", "steps", "table", "code", "boilerplate"]
"""`boilerplate` repeats over the documents of a source, as legal footers do, and is not searched."""

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
class Details:
    """What is known of a document besides its text; "" where unknown.

    `path` is its file below its source, `date` its last change (ISO 8601), `language` a code of ISO 639. `archived`
    documents say that they are out of date, `draft` ones that they are not final.
    """

    kind: DocumentKind = "prose"
    path: str = ""
    date: str = ""
    language: str = ""
    archived: bool = False
    draft: bool = False
    tags: tuple[str, ...] = ()


NO_DETAILS = Details()


@dataclass(frozen=True, slots=True)
class Place:
    """Where in its document a passage stands: the headings above it, its page or slide, its row of a sheet.

    `later` has the offsets in the passage at which other pages or, in a sheet, the rows of other tables begin, and
    their numbers.
    """

    heading: tuple[str, ...] = ()
    page: int | None = None
    row: int | None = None
    kind: BlockKind = "prose"
    later: tuple[tuple[int, int], ...] = ()


NO_PLACE = Place()


def known_fields(value: Details | Place) -> dict[str, Any]:
    """The fields that are not at their defaults, for JSON."""
    named = ((field.name, getattr(value, field.name), field.default) for field in fields(value))
    return {name: content for name, content, default in named if content != default}


def details_of(known: Mapping[str, Any]) -> Details:
    """From `known_fields`; fields of a newer version are left out."""
    return Details(**_of_this_version(known, Details.__slots__))


def place_of(known: Mapping[str, Any]) -> Place:
    """From `known_fields`; fields of a newer version are left out."""
    return Place(**_of_this_version(known, Place.__slots__)) if known else NO_PLACE


def _of_this_version(known: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: _frozen(value) for name, value in known.items() if name in names}


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Source:
    """Where a passage comes from; `document` is the id the owner gave it. An unsafe `url` becomes ""."""

    document: str
    title: str = ""
    url: str = ""
    collection: str = ""
    details: Details = NO_DETAILS

    def __post_init__(self) -> None:
        if self.url:
            object.__setattr__(self, "url", web_address(self.url))


@dataclass(frozen=True, slots=True)
class Passage:
    """`text` is what is shown: Markdown where the document has structure."""

    id: str
    text: str
    clue: Clue
    source: Source
    place: Place = NO_PLACE


class Units(NamedTuple):
    """Sentences, items and rows of a passage, in order, and how well each answers."""

    spans: tuple[Span, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Signals:
    """What the stages learned about a candidate; None if a stage did not score it.

    Scores with names that users choose (ranked lists, trained rankers, features of a fact) have separate mappings, so
    the name of a folder cannot be confused with a signal.
    """

    lists: Mapping[str, float] = field(default_factory=dict)  # score by ranked list: "whole:all", "dense:titles"
    fused: float | None = None
    title_similarity: float | None = None  # cosine of question and title
    passage_similarity: float | None = None  # cosine of question and passage
    clue: float | None = None
    evidence: float | None = None
    combined: float | None = None  # clue and passage by the formula in use
    cascade: float | None = None  # the formula after the last trained ranker
    rankers: Mapping[str, float] = field(default_factory=dict)  # score by trained ranker
    learned: float | None = None  # of the learned fusion
    owner_answer: bool = False  # the owner wrote this answer to this question
    team: int | None = None  # of an interleaving: the ranking that brought the document
    drafted: float | None = None  # score in an interleaving
    session_votes: float | None = None  # score after the votes of this conversation
    fact: Mapping[str, float] = field(default_factory=dict)  # features of a fact's interpretation
    document_codes: frozenset[str] = frozenset()  # codes of the question that only the passage's document has
    lead: Span | None = None  # the stretch of the passage that answers
    supporting: tuple[Span, ...] | None = None  # sentences, items and rows of the passage that support the answer
    units: Units | None = None  # what the lead was chosen from

    def by_name(self) -> dict[str, float]:
        """All scores in one flat mapping: for traces, JSON and the columns of a learned fusion.

        A ranker with the name of a signal or a list gets a prefix: `ranker:owned`.
        """
        named = {name: float(value) for name, value in self._named() if value is not None}
        rankers = {f"ranker:{name}" if _is_reserved(name) else name: score for name, score in self.rankers.items()}
        return {**self.lists, **named, **rankers, **self.fact}

    def _named(self) -> Iterator[tuple[str, float | None]]:
        for name, field_name in SIGNAL_NAMES.items():
            value = getattr(self, field_name)
            yield name, value if field_name != "owner_answer" else (1.0 if value else None)


SIGNAL_NAMES = {
    "fusion": "fused",
    "title_similarity": "title_similarity",
    "passage_similarity": "passage_similarity",
    "clue": "clue",
    "evidence": "evidence",
    "combined": "combined",
    "cascade": "cascade",
    "learned": "learned",
    "owned": "owner_answer",
    "team": "team",
    "drafted": "drafted",
    "taste": "session_votes",
}
"""Name in traces, JSON and fusion models of each signal: those of version 0.1 remain valid."""


def _is_reserved(name: str) -> bool:
    """Whether it is the name of a signal, or may be that of a ranked list ("whole:all")."""
    return name in SIGNAL_NAMES or ":" in name


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with its present score and the signals of the stages so far."""

    passage: Passage
    score: float
    signals: Signals = field(default_factory=Signals)

    def scored(self, score: float, **signals: Any) -> Candidate:
        """A copy with this score, and with these fields of `Signals` set."""
        return Candidate(self.passage, score, replace(self.signals, **signals))

    def scored_by(self, ranker: str, score: float) -> Candidate:
        """A copy with the score of a trained ranker."""
        return self.scored(score, rankers={**self.signals.rankers, ranker: score})


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """A document behind an answer, at its best passage.

    `span` is the part of the answer that this source supports, and `source_span` the part of `text` that it came
    from. Both are None if the answer does not use the document. An unsafe `url` becomes "".
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
    path: str = ""
    heading: tuple[str, ...] = ()
    page: int | None = None
    row: int | None = None
    date: str = ""
    language: str = ""
    archived: bool = False
    draft: bool = False

    def __post_init__(self) -> None:
        if self.url:
            object.__setattr__(self, "url", web_address(self.url))


@dataclass(frozen=True, slots=True)
class StyledLine:
    """A persona's sentence: generated, quoted from the speaker, or edited by a user."""

    text: str
    kind: StyledKind
    persona: str
    score: float


@dataclass(frozen=True, slots=True)
class Styled:
    """A persona's sentences for a question.

    `span` is the sentence's part of the answer's text; None if the answer has no such sentence.
    """

    persona: str
    hint: str
    lines: tuple[StyledLine, ...]  # best first; the answer uses the first
    span: Span | None = None
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One interpretation of an ambiguous question: the text of its button, and the question to ask."""

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
    """How the question was understood, if that differs from the question as written: the rewritten question, or the
    parts of its meaning where that would be no sentence."""
    searched: str = ""
    """The rewritten question, if `understood` has its parts."""
    choices: tuple[Choice, ...] = ()
    """Interpretations to choose from, if the bot asks back instead of answering, or what could be asked instead."""
    trace: Mapping[str, object] | None = None
    lead: Span | None = None
    """The stretch of `text` that answers, inside the span of one source; None if there is none."""
    unsure: bool = False
    """Whether the answer is given although its confidence is below the wanted precision."""
    former: str = ""
    """What an older document said with other figures, after its date: “Until 2024: 14 days.”; not part of `text`."""
    suggested: bool = False
    """Whether `choices` are other questions, which the documents answer, and not meanings of this one."""

    @property
    def standalone(self) -> str:
        """The question that was searched."""
        return self.searched or self.understood or self.question


class Encoder(Protocol):
    """Texts to unit vectors.

    `fingerprint` identifies weights and settings: an index made by another fingerprint is never searched.
    `quick` says whether a question is encoded in less time than it takes to hand it to another thread.
    `extends` has the fingerprints of encoders that give English texts the same vectors.
    """

    quick: ClassVar[bool]

    @property
    def extends(self) -> Collection[str]: ...

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
