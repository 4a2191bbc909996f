"""What goes into the store and what comes out of it.

A *key* is an integer that the store gives out once and never again; `external_id` is the id that the owner gave.
Times are seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Vote = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class NewPassage:
    """`[start, end)` is the passage's place in the document's body; `sketches` are values below 2**63."""

    text: str
    start: int
    end: int
    sketches: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NewDocument:
    """`collection` is a key of `Store.collection`; `origin` the file that the document came from."""

    collection: int
    external_id: str
    title: str
    body: str
    hash: str
    passages: tuple[NewPassage, ...]
    url: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class InsertedDocument:
    """The keys given to a document and its passages; `duplicates[i]` is the passage that passage i nearly repeats."""

    document: int
    passages: tuple[int, ...]
    duplicates: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class KnownDocument:
    document: int
    hash: str
    born: int


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    id: int
    name: str
    documents: int
    passages: int


@dataclass(frozen=True, slots=True)
class GenerationInfo:
    number: int
    encoder: str
    state: Literal["building", "current", "old"]
    created: float
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StoredPassage:
    key: int
    position: int
    text: str
    start: int
    end: int
    duplicate_of: int | None


@dataclass(frozen=True, slots=True)
class StoredDocument:
    key: int
    collection: str
    external_id: str
    title: str
    body: str
    url: str
    hash: str
    origin: str
    passages: tuple[StoredPassage, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    collections: int
    documents: int
    passages: int
    duplicates: int
    conversations: int
    turns: int
    feedback: int


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer; `rewritten` is the question as it was understood, `answer` the answer object."""

    id: str
    question: str
    answer: Mapping[str, Any]
    rewritten: str = ""
    conversation: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    asked: float = 0.0
    created: float = 0.0
    persona: str = ""  # of the conversation, from the turn that begins it


@dataclass(frozen=True, slots=True)
class ConversationInfo:
    id: str
    title: str
    persona: str
    created: float
    updated: float
    turns: int


@dataclass(frozen=True, slots=True)
class Feedback:
    turn: str
    vote: Vote
    comment: str
    created: float


@dataclass(frozen=True, slots=True)
class NearestDocument:
    """The first source of an answer, whether or not it was used; `document` is the id that its owner gave."""

    document: str
    collection: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A question that got no answer or a bad one, over all turns that asked it since it was last settled.

    `question` is the most frequent wording among the latest turns, as it was understood; `asked` counts turns,
    `unanswered` and `downvoted` those of them that are so (one turn may be both). `comments` are the latest first;
    `answer`, empty where there was none, and `nearest` are of the last turn.
    """

    key: str
    question: str
    asked: int
    unanswered: int
    downvoted: int
    last: float
    comments: tuple[str, ...]
    answer: str
    nearest: NearestDocument | None


@dataclass(frozen=True, slots=True)
class JoinedCounts:
    """What became of turns that came from elsewhere: new ones, those that were known already, and new votes on any."""

    turns: int = 0
    known: int = 0
    votes: int = 0
