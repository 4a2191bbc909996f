"""Rows that are exported, imported or expired; each function is part of a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from sqlalchemy import Connection, Select, delete, exists, func, insert, or_, select, update

from qa_bot.home.store import gaps
from qa_bot.home.store.database import storable
from qa_bot.home.store.documents import CHUNK, insert_new
from qa_bot.home.store.history import as_feedback, as_turn, feedback_row, turn_row
from qa_bot.home.store.records import ConversationInfo, Feedback, JoinedCounts, Turn
from qa_bot.home.store.schema import CONVERSATION, conversations, feedback, sealed, settled_gaps, turns

Cursor = tuple[float, str]
"""Time at which a turn was recorded, and its id: the sort key of pages of turns."""


# --- read -----------------------------------------------------------------------------------------------------------


def conversations_after(connection: Connection, id: str, count: int) -> list[ConversationInfo]:  # noqa: A002  # the column's own name
    """The next conversations by id, without the number of their turns."""
    query = select(conversations).where(conversations.c.id > id).order_by(conversations.c.id).limit(count)
    return [ConversationInfo(r.id, r.title, r.persona, r.created, r.updated, 0) for r in connection.execute(query)]


def turns_after(
    connection: Connection, cursor: Cursor | None, count: int, *, voted: bool = False
) -> list[tuple[Turn, tuple[Feedback, ...]]]:
    """The next turns, oldest first, each with all its feedback; with `voted` only turns with feedback."""
    query = select(turns).order_by(turns.c.created, turns.c.id).limit(count)
    if cursor is not None:
        created, id_ = cursor
        later = or_(turns.c.created > created, turns.c.id > id_)
        query = query.where(turns.c.created >= created, later)
    if voted:
        query = query.where(exists().where(feedback.c.turn_id == turns.c.id))
    page = [as_turn(row) for row in connection.execute(query)]
    votes = _feedback_by_turn(connection, [turn.id for turn in page])
    return [(turn, tuple(votes.get(turn.id, ()))) for turn in page]


def settled(connection: Connection) -> list[tuple[str, float]]:
    """Keys of settled questions, and the time of each."""
    return [(row.key, row.settled) for row in connection.execute(select(settled_gaps).order_by(settled_gaps.c.key))]


def _feedback_by_turn(connection: Connection, ids: Sequence[str]) -> dict[str, list[Feedback]]:
    by_turn: dict[str, list[Feedback]] = {}
    query = select(feedback).where(feedback.c.turn_id.in_(ids)).order_by(feedback.c.id)
    for row in connection.execute(query):
        by_turn.setdefault(row.turn_id, []).append(as_feedback(row))
    return by_turn


# --- join -----------------------------------------------------------------------------------------------------------


def join_settled(connection: Connection, imported: Iterable[tuple[str, float]]) -> None:
    """Import settled questions; of two times the later counts."""
    for key, time in imported:
        insert_new(connection, settled_gaps, {"key": key, "settled": time})
        later = (settled_gaps.c.key == key, settled_gaps.c.settled < time)
        connection.execute(update(settled_gaps).where(*later).values(settled=time))
        gaps.drop_until(connection, key, time)


def join_conversations(connection: Connection, imported: Sequence[ConversationInfo]) -> int:
    """Create conversations with new ids, and move the last use of known ones forward; returns the number created."""
    known = known_conversations(connection, (info.id for info in imported))
    new = {info.id: info for info in imported if info.id not in known}
    for info in imported:
        earlier = (conversations.c.id == info.id, conversations.c.updated < info.updated)
        connection.execute(update(conversations).where(*earlier).values(updated=info.updated))
    if new:
        connection.execute(insert(conversations), [_conversation_row(info) for info in new.values()])
    return len(new)


def join_turns(connection: Connection, imported: Sequence[tuple[Turn, Sequence[Feedback]]]) -> JoinedCounts:
    """Record turns with new ids, whose conversations must exist, and on every turn the votes after its last one.

    Older votes are left out, because the last row of feedback is the vote that counts.
    """
    known = _ids(connection, select(turns.c.id).where(turns.c.id.in_([turn.id for turn, _ in imported])))
    new = {turn.id: turn for turn, _ in imported if turn.id not in known}
    if new:
        connection.execute(insert(turns), [turn_row(turn) for turn in new.values()])
        gaps.add_unanswered(connection, new.values())
    stored = _feedback_by_turn(connection, [turn.id for turn, _ in imported])
    count = 0
    for turn, votes in imported:
        since = max((vote.created for vote in stored.get(turn.id, ())), default=-inf)
        later = sorted((vote for vote in votes if vote.created > since), key=lambda vote: vote.created)
        if later:
            connection.execute(insert(feedback), [feedback_row(vote) for vote in later])
            gaps.follow_vote(connection, turn, later[-1].vote)
            stored[turn.id] = later
        count += len(later)
    return JoinedCounts(turns=len(new), known=len(imported) - len(new), votes=count)


def known_conversations(connection: Connection, ids: Iterable[str]) -> set[str]:
    return _ids(connection, select(conversations.c.id).where(conversations.c.id.in_(list(ids))))


def _ids(connection: Connection, query: Select[Any]) -> set[str]:
    return set(connection.execute(query).scalars())


def _conversation_row(info: ConversationInfo) -> dict[str, object]:
    named = {"title": storable(info.title), "persona": storable(info.persona)}
    return sealed({"id": info.id, **named, "created": info.created, "updated": info.updated}, CONVERSATION)


# --- expire ---------------------------------------------------------------------------------------------------------


def has_expired(connection: Connection, before: float) -> bool:
    """Whether `expire_some` would delete anything; reads two indexes."""
    either = (_old_conversations(before).limit(1), _lone_turns(before).limit(1))
    return any(connection.execute(query).first() is not None for query in either)


def asked_around(connection: Connection, at: float) -> tuple[float | None, float | None]:
    """The times of the last turn before `at` and of the first one from then on."""
    earlier = select(func.max(turns.c.created)).where(turns.c.created < at)
    later = select(func.min(turns.c.created)).where(turns.c.created >= at)
    return connection.execute(earlier).scalar(), connection.execute(later).scalar()


def used_until_now(connection: Connection, since: float, now: float) -> None:
    """Let conversations and lone turns of a wrong clock, which are not before `since`, be last used now."""
    connection.execute(update(conversations).where(conversations.c.updated >= since).values(updated=now))
    lone = select(turns).where(turns.c.conversation_id.is_(None), turns.c.created >= since)
    for turn in [as_turn(row) for row in connection.execute(lone)]:
        row = turn_row(replace(turn, created=now))
        values = {"created": now, "checksum": row["checksum"]}
        connection.execute(update(turns).where(turns.c.id == turn.id).values(values))


def expire_some(connection: Connection, before: float) -> tuple[list[str], int]:
    """Delete a chunk of what was last used before a time: ids of the conversations, and the number of lone turns.

    Before infinity, which is all of them, the settled questions go, too.
    """
    if before == inf:
        connection.execute(delete(settled_gaps))
    old = list(connection.execute(_old_conversations(before).limit(CHUNK)).scalars())
    lone = list(connection.execute(_lone_turns(before).limit(CHUNK)).scalars())
    if old:
        connection.execute(delete(conversations).where(conversations.c.id.in_(old)))
    if lone:
        connection.execute(delete(turns).where(turns.c.id.in_(lone)))
    return old, len(lone)


def _old_conversations(before: float) -> Select[Any]:
    return select(conversations.c.id).where(conversations.c.updated < before).order_by(conversations.c.updated)


def _lone_turns(before: float) -> Select[Any]:
    old = (turns.c.conversation_id.is_(None), turns.c.created < before)
    return select(turns.c.id).where(*old).order_by(turns.c.created)


class Joining:
    """A transaction that imports conversations, turns and votes; known ones are skipped."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def settled_gaps(self, imported: Iterable[tuple[str, float]]) -> None:
        """Call it before `turns`: turns of settled questions are no gaps."""
        join_settled(self._connection, imported)

    def conversations(self, imported: Sequence[ConversationInfo]) -> int:
        """Returns the number of new ones."""
        return join_conversations(self._connection, imported)

    def known(self, conversations: Iterable[str]) -> set[str]:
        """The ids that belong to a conversation."""
        return known_conversations(self._connection, conversations)

    def turns(self, imported: Sequence[tuple[Turn, Sequence[Feedback]]]) -> JoinedCounts:
        """Turns without a conversation or of known ones, each with all its votes."""
        return join_turns(self._connection, imported)
