"""Rows that are carried from home to home, and rows whose time is over: each function is one part of a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

from sqlalchemy import Connection, Select, delete, exists, insert, or_, select, update

from qa_bot.home.store import gaps
from qa_bot.home.store.database import storable
from qa_bot.home.store.documents import CHUNK, insert_new
from qa_bot.home.store.history import as_feedback, as_turn, turn_row
from qa_bot.home.store.records import ConversationInfo, Feedback, JoinedCounts, Turn
from qa_bot.home.store.schema import conversations, feedback, settled_gaps, turns

Place = tuple[float, str]
"""When a turn was recorded, and its id: what pages of turns are cut by."""


# --- read -----------------------------------------------------------------------------------------------------------


def conversations_after(connection: Connection, id: str, count: int) -> list[ConversationInfo]:  # noqa: A002  # the column's own name
    """The next conversations after an id, without the number of their turns."""
    query = select(conversations).where(conversations.c.id > id).order_by(conversations.c.id).limit(count)
    return [ConversationInfo(r.id, r.title, r.persona, r.created, r.updated, 0) for r in connection.execute(query)]


def turns_after(
    connection: Connection, place: Place | None, count: int, *, voted: bool = False
) -> list[tuple[Turn, tuple[Feedback, ...]]]:
    """The next turns after a place with all that was said about each, oldest first; with `voted` only such as have."""
    query = select(turns).order_by(turns.c.created, turns.c.id).limit(count)
    if place is not None:
        created, id_ = place
        later = or_(turns.c.created > created, turns.c.id > id_)
        query = query.where(turns.c.created >= created, later)
    if voted:
        query = query.where(exists().where(feedback.c.turn_id == turns.c.id))
    found = [as_turn(row) for row in connection.execute(query)]
    given = _given_to(connection, [turn.id for turn in found])
    return [(turn, tuple(given.get(turn.id, ()))) for turn in found]


def settled(connection: Connection) -> list[tuple[str, float]]:
    """Keys of settled questions, and when each was."""
    return [(row.key, row.settled) for row in connection.execute(select(settled_gaps).order_by(settled_gaps.c.key))]


def _given_to(connection: Connection, ids: Sequence[str]) -> dict[str, list[Feedback]]:
    given: dict[str, list[Feedback]] = {}
    query = select(feedback).where(feedback.c.turn_id.in_(ids)).order_by(feedback.c.id)
    for row in connection.execute(query):
        given.setdefault(row.turn_id, []).append(as_feedback(row))
    return given


# --- join -----------------------------------------------------------------------------------------------------------


def join_settled(connection: Connection, given: Iterable[tuple[str, float]]) -> None:
    """The later time counts."""
    for key, time in given:
        insert_new(connection, settled_gaps, {"key": key, "settled": time})
        later = (settled_gaps.c.key == key, settled_gaps.c.settled < time)
        connection.execute(update(settled_gaps).where(*later).values(settled=time))
        gaps.drop_until(connection, key, time)


def join_conversations(connection: Connection, given: Sequence[ConversationInfo]) -> int:
    """Make those whose ids are new, and move the last use of others forward only; how many are new."""
    known = _known(connection, select(conversations.c.id).where(conversations.c.id.in_([each.id for each in given])))
    fresh = {each.id: each for each in given if each.id not in known}
    for each in given:
        earlier = (conversations.c.id == each.id, conversations.c.updated < each.updated)
        connection.execute(update(conversations).where(*earlier).values(updated=each.updated))
    if fresh:
        connection.execute(insert(conversations), [_conversation_row(each) for each in fresh.values()])
    return len(fresh)


def join_turns(connection: Connection, given: Sequence[tuple[Turn, Sequence[Feedback]]]) -> JoinedCounts:
    """Record turns whose ids are new, in conversations that are there, and what was said about any since its last vote.

    Older votes stay out: the order in which votes are kept tells which one counts.
    """
    known = _known(connection, select(turns.c.id).where(turns.c.id.in_([turn.id for turn, _ in given])))
    fresh = {turn.id: turn for turn, _ in given if turn.id not in known}
    if fresh:
        connection.execute(insert(turns), [turn_row(turn) for turn in fresh.values()])
        gaps.note(connection, fresh.values())
    said = _given_to(connection, [turn.id for turn, _ in given])
    votes = 0
    for turn, all_said in given:
        since = max((each.created for each in said.get(turn.id, ())), default=-inf)
        new = sorted((each for each in all_said if each.created > since), key=lambda each: each.created)
        if new:
            connection.execute(insert(feedback), [_feedback_row(each) for each in new])
            gaps.voted(connection, turn, new[-1].vote)
            said[turn.id] = new
        votes += len(new)
    return JoinedCounts(turns=len(fresh), known=len(given) - len(fresh), votes=votes)


def known_conversations(connection: Connection, ids: Iterable[str]) -> set[str]:
    return _known(connection, select(conversations.c.id).where(conversations.c.id.in_(list(ids))))


def _known(connection: Connection, query: Select[Any]) -> set[str]:
    return set(connection.execute(query).scalars())


def _conversation_row(given: ConversationInfo) -> dict[str, object]:
    named = {"title": storable(given.title), "persona": storable(given.persona)}
    return {"id": given.id, **named, "created": given.created, "updated": given.updated}


def _feedback_row(given: Feedback) -> dict[str, object]:
    return {"turn_id": given.turn, "vote": given.vote, "comment": storable(given.comment), "created": given.created}


# --- expire ---------------------------------------------------------------------------------------------------------


def has_expired(connection: Connection, before: float) -> bool:
    """Whether `expire_some` would find anything; two looks at an index."""
    either = (_old_conversations(before).limit(1), _lone_turns(before).limit(1))
    return any(connection.execute(query).first() is not None for query in either)


def expire_some(connection: Connection, before: float) -> tuple[list[str], int]:
    """Delete a chunk of what was last used before a time: ids of conversations, and how many turns without one."""
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
