"""Values that the store takes and returns.

A *key* is an integer that the store assigns and never reuses; `external_id` is the id in the user's files. Times are
seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from qa_core.types import NO_DETAILS, NO_PLACE, Details, Place, Span

Vote = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class NewPassage:
    """`[start, end)` is the passage's span in the document's text; `sketches` are values below 2**63.

    `units` are the spans in the passage's text of what is searched one by one: sentences, items, rows.
    """

    text: str
    start: int
    end: int
    sketches: tuple[int, ...] = ()
    place: Place = NO_PLACE
    units: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class NewDocument:
    """`collection` is a key from `Store.collection`, `origin` the document's file as messages name it.

    `source` is the key of the source that holds the document, `file` the path of its file below that source.
    """

    collection: int
    external_id: str
    title: str
    body: str
    hash: str
    passages: tuple[NewPassage, ...]
    url: str = ""
    origin: str = ""
    details: Details = NO_DETAILS
    source: int | None = None
    file: str = ""


@dataclass(frozen=True, slots=True)
class InsertedDocument:
    """Keys of a document and its passages; `duplicates[i]` is the earlier near-duplicate of passage i."""

    document: int
    passages: tuple[int, ...]
    duplicates: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class KnownDocument:
    document: int
    hash: str
    born: int
    source: int | None = None
    file: str = ""
    origin: str = ""


class OwnedDocument(NamedTuple):
    """A document by key, with the file of its source."""

    document: int
    external_id: str
    file: str
    origin: str


@dataclass(frozen=True, slots=True)
class Source:
    """What was added: `kind` is folder, file, archive, website or upload, `place` a resolved path, a URL or
    `upload:COLLECTION`.

    `options` are those of the `add` that made it, `synced` is the time of the last synchronisation, `error` why that
    failed.
    """

    id: int
    name: str
    kind: str
    place: str
    collection: str
    options: Mapping[str, Any]
    synced: float | None = None
    error: str = ""

    @property
    def first_name(self) -> str:
        """The name before any renaming, which is in front of ids that another source has."""
        return str(self.options.get("first_name", self.name))


@dataclass(frozen=True, slots=True)
class SourceInfo:
    source: Source
    files: int
    documents: int
    passages: int


class Content(NamedTuple):
    """What a file has: its size in bytes and the digest of them."""

    size: int
    hash: str


class Renaming(NamedTuple):
    """A document's id `old`, which names it in what was written before `until`, and `new`, which it has `since`."""

    old: str
    new: str
    until: float
    since: float

    @property
    def end(self) -> float:
        """When both times are over."""
        return max(self.until, self.since)


class DepartedFile(NamedTuple):
    """A file that is gone since `departed`, and the ids of its documents by what follows the stem in them."""

    content: Content
    stem: str
    ids: Mapping[str, str]
    departed: float


class SourceFile(NamedTuple):
    """A file of a source when it was last read.

    `path` is its path below the source, `stem` what the ids of its documents begin with, `hash` the digest of its
    bytes, `settings` that of what affected how it was read, `outcome` one of `qa_bot.documents.sources.plan`, and
    `state` what is remembered of a page of a website (`qa_bot.documents.websites.visits.PageState`), and of deleted
    documents.
    """

    path: str
    stem: str
    size: int
    mtime_ns: int
    hash: str
    settings: str
    outcome: str
    documents: int
    state: Mapping[str, Any] | None = None

    @property
    def content(self) -> Content:
        return Content(self.size, self.hash)

    @property
    def deleted(self) -> frozenset[str]:
        """Ids of documents that the user deleted; the unchanged file does not bring them back."""
        return deleted_in(self.state)


def deleted_in(state: Mapping[str, Any] | None) -> frozenset[str]:
    """Ids of deleted documents in the state of a file."""
    return frozenset((state or {}).get("deleted", ()))


def with_deleted(state: Mapping[str, Any] | None, ids: Iterable[str]) -> Mapping[str, Any] | None:
    """A state of a file that also has the ids of deleted documents, if there are any."""
    deleted = sorted(ids)
    return {**(state or {}), "deleted": deleted} if deleted else state


class ListedDocument(NamedTuple):
    """A document as lists show it; `file` is the path of its file below its source."""

    id: str
    title: str
    collection: str
    file: str


class StoredStem(NamedTuple):
    """The beginning of the ids of a file's documents, with its source and its path there."""

    source: int
    path: str
    stem: str


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
    place: Place = NO_PLACE
    units: tuple[Span, ...] = ()


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
    details: Details = NO_DETAILS
    source: int | None = None
    file: str = ""


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
    """A question and its answer object; `rewritten` is the question after follow-ups were resolved."""

    id: str
    question: str
    answer: Mapping[str, Any]
    rewritten: str = ""
    conversation: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    asked: float = 0.0
    created: float = 0.0
    persona: str = ""  # of the conversation, set by its first turn


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
    """The first source of an answer, used or not; `document` is its external id."""

    document: str
    collection: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A question without a good answer, over all turns since it was last settled.

    `question` is the most frequent wording among the latest turns, with follow-ups resolved. `asked` counts turns,
    `unanswered` and `downvoted` count some of them (one turn may be both). `comments` are the latest first. `answer`
    ("" if there was none) and `nearest` belong to the last turn.
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
    """Numbers of imported turns that were new or known, and of new votes on both."""

    turns: int = 0
    known: int = 0
    votes: int = 0
