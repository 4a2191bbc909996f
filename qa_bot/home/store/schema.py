"""The tables after the newest migration, and the checksums of their rows.

Only migrations make them. Conditions of indexes stand here for SQLite alone: those of PostgreSQL would import its
dialect, 22 ms of each command that opens the store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007")
"""Known schemas, oldest first; the code works with the last."""

Key = BigInteger().with_variant(Integer, "sqlite")  # in SQLite only INTEGER PRIMARY KEY is the row number

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def _reference(target: str, *, on_delete: str = "CASCADE") -> ForeignKey:
    return ForeignKey(target, ondelete=on_delete)


collections = Table(
    "collections",
    metadata,
    Column("id", Key, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
)

documents = Table(
    "documents",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("collection_id", Key, _reference("collections.id"), nullable=False),
    Column("external_id", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("origin", Text, nullable=False),
    Column("born", Integer, nullable=False, index=True),
    Column("retired", Integer),
    Column("details", JSON, nullable=False, server_default="{}"),  # known fields of `Details`
    Column("source_id", BigInteger),  # of the table `sources`; without a key, which SQLite adds only by a copy
    Column("file", Text, nullable=False, server_default=""),  # its path below the source
    Column("checksum", String(32)),  # of the document with its passages, `integrity.py`; NULL before 0.2
)
Index(
    "ix_documents_source",
    documents.c.source_id,
    documents.c.file,
    sqlite_where=documents.c.source_id.is_not(None),
)
Index(
    "uq_documents_live",  # one live document an id; its predecessor may not be purged yet
    documents.c.collection_id,
    documents.c.external_id,
    unique=True,
    sqlite_where=documents.c.retired.is_(None),
)
Index("ix_documents_external_id", documents.c.external_id)
Index(
    "ix_documents_retired",  # without live rows, or SQLite would use it to find them
    documents.c.retired,
    sqlite_where=documents.c.retired.is_not(None),
)

passages = Table(
    "passages",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("document_id", Key, _reference("documents.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("duplicate_of", Key, _reference("passages.id", on_delete="SET NULL"), index=True),
    Column("place", JSON, nullable=False, server_default="{}"),  # known fields of `Place`
    Column("units", JSON, nullable=False, server_default="[]"),  # [start, end, start, end, …] in the text
    UniqueConstraint("document_id", "position"),
)

sketches = Table(
    "sketches",
    metadata,
    Column("value", BigInteger, primary_key=True, autoincrement=False),
    Column("passage_id", Key, _reference("passages.id"), primary_key=True, autoincrement=False, index=True),
    sqlite_with_rowid=False,
)

sources = Table(
    "sources",
    metadata,
    Column("id", Key, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("kind", String(16), nullable=False),
    Column("place", Text, nullable=False),  # an absolute path without links, or a URL
    Column("collection", Text, nullable=False),
    Column("options", JSON, nullable=False),
    Column("synced", Double),
    Column("error", Text, nullable=False),
    Column("checksum", String(32)),
    UniqueConstraint("place", "collection"),
)

source_files = Table(
    "source_files",  # the files of a source when it was last read
    metadata,
    Column("source_id", Key, _reference("sources.id"), primary_key=True, autoincrement=False),
    Column("path", Text, primary_key=True),
    Column("stem", Text, nullable=False),  # what the ids of its documents begin with
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("settings", String(64), nullable=False),  # digest of what affected how it was read
    Column("outcome", String(16), nullable=False),
    Column("documents", Integer, nullable=False),
    Column("state", JSON(none_as_null=True)),  # of a page: what the next request for it needs
    sqlite_with_rowid=False,
)
Index("ix_source_files_stem", source_files.c.stem)

document_aliases = Table(
    "document_aliases",  # former ids, which votes and conversations may name
    metadata,
    Column("collection_id", Key, _reference("collections.id"), primary_key=True, autoincrement=False),
    Column("old", Text, primary_key=True),
    Column("until", Double, primary_key=True),  # what named `old` later means another document
    Column("new", Text, nullable=False),
    Column("since", Double, nullable=False),  # what named `new` earlier meant another document
    sqlite_with_rowid=False,
)
Index("ix_document_aliases_old", document_aliases.c.old)

departed_files = Table(
    "departed_files",  # for a while, because their documents may come back under other ids
    metadata,
    Column("collection", Text, primary_key=True),
    Column("hash", String(64), primary_key=True),
    Column("stem", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("ids", JSON, nullable=False),  # of documents, by what follows the stem
    Column("departed", Double, nullable=False, index=True),
    sqlite_with_rowid=False,
)

counters = Table(
    "counters",  # the next key of a table; keys are never reused, since the index remembers deleted ones
    metadata,
    Column("name", String(32), primary_key=True),
    Column("next", BigInteger, nullable=False),
)

generations = Table(
    "generations",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("encoder", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("created", Double, nullable=False),
    Column("counts", JSON, nullable=False),
    CheckConstraint("state IN ('building', 'current', 'old')", name="state"),
)

commits = Table(
    "commits",  # one row: the last change of documents, facts and sources that became visible
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("token", String(32), nullable=False),
    Column("committed", Double, nullable=False),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("title", Text, nullable=False),
    Column("persona", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("updated", Double, nullable=False, index=True),
    Column("checksum", String(32)),
)

turns = Table(
    "turns",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("conversation_id", String(64), _reference("conversations.id"), index=True),
    Column("asked", Double, nullable=False),
    Column("question", Text, nullable=False),
    Column("rewritten", Text, nullable=False),
    Column("answer", JSON, nullable=False),
    Column("timings", JSON, nullable=False),
    Column("created", Double, nullable=False, index=True),
    Column("checksum", String(32)),
)

feedback = Table(
    "feedback",
    metadata,
    Column("id", Key, primary_key=True),
    Column("turn_id", String(64), _reference("turns.id"), nullable=False, index=True),
    Column("vote", String(8), nullable=False),
    Column("comment", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("checksum", String(32)),
    CheckConstraint("vote IN ('up', 'down')", name="vote"),
)

gaps = Table(
    "gaps",  # turns without an answer, or whose last vote is down, until their question is settled
    metadata,
    Column("turn_id", String(64), _reference("turns.id"), primary_key=True),
    Column("key", String(32), nullable=False),
    Column("created", Double, nullable=False),
    Column("unanswered", Boolean, nullable=False),
    Column("downvoted", Boolean, nullable=False),
)
Index("ix_gaps_key", gaps.c.key, gaps.c.created, gaps.c.unanswered, gaps.c.downvoted)  # all that counting reads

settled_gaps = Table(
    "settled_gaps",  # when the owner answered or dismissed a question; only later turns count
    metadata,
    Column("key", String(32), primary_key=True),
    Column("settled", Double, nullable=False),
)

deleted_conversations = Table(
    "deleted_conversations",  # for a day, so that answers made during a deletion are not recorded
    metadata,
    Column("key", String(32), primary_key=True),  # digest of the id
    Column("deleted", Double, nullable=False),
)

DOCUMENT = ("id", "collection_id", "external_id", "title", "body", "url", "hash", "origin", "born", "details")
PASSAGE = ("id", "position", "text", "start", "end", "place", "units")
TURN = ("id", "conversation_id", "asked", "question", "rewritten", "answer", "timings", "created")
VOTE = ("turn_id", "vote", "comment", "created")
CONVERSATION = ("id", "title", "persona", "created")
SOURCE = ("id", "name", "kind", "place", "collection", "options")
"""Columns that a checksum covers: those that are never changed without it."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def row_checksum(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    """Digest of some columns of a row, as 32 hexadecimal digits."""
    return _digest([row[name] for name in columns])


def sealed(row: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """A row with the checksum of some of its columns."""
    return {**row, "checksum": row_checksum(row, columns)}


def document_checksum(
    row: Mapping[str, Any], passages: Sequence[Mapping[str, Any]], sketches: Sequence[Iterable[int]]
) -> str:
    """Digest of a document with its passages in order, and the sketches of each of these."""
    parts = [[p[name] for name in PASSAGE] + sorted(set(s)) for p, s in zip(passages, sketches, strict=True)]
    return _digest([[row[name] for name in DOCUMENT], parts])


def storable(value: str) -> str:
    """Replace the code points that databases reject (NUL, lone surrogates) one for one, so that spans stay valid."""
    if value.isascii() and "\x00" not in value:  # fast path for most texts
        return value
    return _UNSTORABLE.sub("\ufffd", value)


def _digest(values: Sequence[Any]) -> str:
    text = storable(json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":")))
    return blake2b(text.encode(), digest_size=16).hexdigest()
