"""Rows of generations, conversations, turns and feedback; each function is part of a transaction."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, get_args

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from qa_bot.home.store import gaps, tombstones
from qa_bot.home.store.database import StoreError, storable
from qa_bot.home.store.documents import insert_new, visible
from qa_bot.home.store.records import ConversationInfo, Counts, Feedback, GenerationInfo, Turn, Vote
from qa_bot.home.store.schema import (
    CONVERSATION,
    TURN,
    VOTE,
    collections,
    conversations,
    documents,
    feedback,
    generations,
    passages,
    row_checksum,
    sealed,
    turns,
)
from qa_core.arguments import expect_one_of, expect_text
from qa_core.text.small_talk import recognise
from qa_core.wall_clock import after, is_ahead, now

TITLE_LENGTH = 80


class NotFoundError(StoreError):
    """No row with that id."""


def new_id() -> str:
    return uuid.uuid4().hex


# --- generations ----------------------------------------------------------------------------------------------------


def unfinished(connection: Connection) -> list[int]:
    return list(connection.execute(select(generations.c.number).where(generations.c.state == "building")).scalars())


def open_generation(connection: Connection, encoder: str, *, above: int) -> int:
    last = connection.execute(select(func.coalesce(func.max(generations.c.number), 0))).scalar_one()
    number = max(int(last), above) + 1
    row = {"number": number, "encoder": encoder, "state": "building", "created": now(), "counts": {}}
    connection.execute(insert(generations).values(row))
    return number


def forget_generation(connection: Connection, number: int) -> None:
    connection.execute(delete(generations).where(generations.c.number == number))


def finish_generation(connection: Connection, number: int, counts: Mapping[str, int] | None = None) -> None:
    """Make a generation the current one; without `counts` its counts are unchanged."""
    connection.execute(update(generations).where(generations.c.state == "current").values(state="old"))
    values: dict[str, Any] = {"state": "current"} if counts is None else {"state": "current", "counts": dict(counts)}
    if not connection.execute(update(generations).where(generations.c.number == number).values(**values)).rowcount:
        raise NotFoundError(f"Expected a generation that was opened, but got {number}.")


def current_generation(connection: Connection) -> GenerationInfo | None:
    row = connection.execute(select(generations).where(generations.c.state == "current")).one_or_none()
    if row is None:
        return None
    return GenerationInfo(row.number, row.encoder, row.state, row.created, row.counts)


def count_rows(connection: Connection) -> Counts:
    of_documents = documents.join(passages)
    queries = {
        "collections": select(func.count()).select_from(collections),
        "documents": select(func.count()).select_from(documents).where(visible()),
        "passages": select(func.count()).select_from(of_documents).where(visible()),
        "duplicates": select(func.count(passages.c.duplicate_of)).select_from(of_documents).where(visible()),
        "conversations": select(func.count()).select_from(conversations),
        "turns": select(func.count()).select_from(turns),
        "feedback": select(func.count()).select_from(feedback),
    }
    return Counts(**{name: connection.execute(query).scalar_one() for name, query in queries.items()})


# --- turns ----------------------------------------------------------------------------------------------------------


def save_turn(connection: Connection, turn: Turn) -> None:
    """Record a turn, and create its conversation if missing."""
    if tombstones.turns_of_deleted(connection, [turn]):
        return
    if turn.conversation is not None:
        _touch(connection, turn, at=turn.created)
    (row,) = _rows(connection, [turn])
    connection.execute(insert(turns).values(row))
    gaps.add_unanswered(connection, [turn])


def save_new_turns(connection: Connection, batch: Sequence[Turn]) -> None:
    """Record the turns that are not recorded yet, and create missing conversations."""
    query = select(turns.c.id).where(turns.c.id.in_([turn.id for turn in batch]))
    known = set(connection.execute(query).scalars()) | tombstones.turns_of_deleted(connection, batch)
    new = list({turn.id: turn for turn in batch if turn.id not in known}.values())
    questions_first = sorted(new, key=lambda turn: recognise(turn.question) is not None)  # stable
    openings = {turn.conversation: turn for turn in reversed(questions_first)}
    last_used = {turn.conversation: turn.created for turn in new}
    for conversation, turn in openings.items():
        if conversation is not None:
            _touch(connection, turn, at=last_used[conversation])
    if new:
        connection.execute(insert(turns), _rows(connection, new))
        gaps.add_unanswered(connection, new)


def _rows(connection: Connection, new: Sequence[Turn]) -> list[dict[str, Any]]:
    """Rows of new turns, each after the last one of its conversation.

    `asked` is the order of a conversation. If its last turn is of the future, because the clock was ahead, a new turn
    is asked just after it. `created` keeps the time of the clock, which expiry goes by.
    """
    ids = {turn.conversation for turn in new if turn.conversation is not None}
    query = select(turns.c.conversation_id, func.max(turns.c.asked)).where(turns.c.conversation_id.in_(ids))
    last = {row[0]: row[1] for row in connection.execute(query.group_by(turns.c.conversation_id))} if ids else {}
    present = now()
    rows = []
    for turn in new:
        place = turn.asked
        if turn.conversation is not None:
            before = last.get(turn.conversation, -inf)
            place = max(place, after(before)) if before > present else place
            last[turn.conversation] = max(before, place)
        rows.append(turn_row(replace(turn, asked=place)))
    return rows


def turn_by_id(connection: Connection, id: str) -> Turn:  # noqa: A002  # the column's own name
    row = connection.execute(select(turns).where(turns.c.id == id)).one_or_none()
    if row is None:
        raise _unknown_turn(id)
    return as_turn(row)


def revise_answer(connection: Connection, id: str, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Turn:  # noqa: A002  # the column's own name
    """Replace a turn's answer object by `change` of it, under a row lock."""
    row = connection.execute(select(turns).where(turns.c.id == id).with_for_update()).one_or_none()
    if row is None:
        raise _unknown_turn(id)
    turn = replace(as_turn(row), answer=dict(change(row.answer)))
    changed = {"answer": turn.answer, "checksum": turn_row(turn)["checksum"]}
    connection.execute(update(turns).where(turns.c.id == id).values(**changed))
    return turn


def has_turn(connection: Connection, id: str) -> bool:  # noqa: A002  # the column's own name
    return connection.execute(select(turns.c.id).where(turns.c.id == id)).one_or_none() is not None


def save_feedback(connection: Connection, new: Feedback) -> None:
    expect_one_of("vote", new.vote, get_args(Vote))
    expect_text("comment", new.comment)
    turn = turn_by_id(connection, new.turn)
    gaps.follow_vote(connection, turn, new.vote)
    connection.execute(insert(feedback).values(feedback_row(new)))


def feedback_of(connection: Connection, turn: str) -> list[Feedback]:
    turn_by_id(connection, turn)
    query = select(feedback).where(feedback.c.turn_id == turn).order_by(feedback.c.id)
    return [as_feedback(row) for row in connection.execute(query)]


def voted(connection: Connection) -> list[tuple[Turn, Feedback]]:
    """Turns with a vote, in the order they were asked, each with its last vote."""
    votes = {row.turn_id: as_feedback(row) for row in connection.execute(select(feedback).order_by(feedback.c.id))}
    query = select(turns).where(turns.c.id.in_(select(feedback.c.turn_id))).order_by(turns.c.asked, turns.c.id)
    return [(as_turn(row), votes[row.id]) for row in connection.execute(query) if row.id in votes]


# --- conversations --------------------------------------------------------------------------------------------------


def all_conversations(connection: Connection, limit: int, before: float | None = None) -> list[ConversationInfo]:
    """The last used first; with `before` only those last used before that time."""
    query = _with_turn_counts().order_by(conversations.c.updated.desc(), conversations.c.id).limit(limit)
    if before is not None:
        query = query.where(conversations.c.updated < before)
    return [_info(row) for row in connection.execute(query)]


def conversation_by_id(connection: Connection, conversation: str) -> ConversationInfo:
    row = connection.execute(_with_turn_counts().where(conversations.c.id == conversation)).one_or_none()
    if row is None:
        raise NotFoundError(f"Expected the id of a conversation, but got {conversation!r}.")
    return _info(row)


def last_feedback_in(connection: Connection, conversation: str) -> dict[str, Feedback]:
    """The last vote on each turn of a conversation, by the turn's id; turns without a vote are left out."""
    query = select(feedback).join(turns).where(turns.c.conversation_id == conversation).order_by(feedback.c.id)
    return {row.turn_id: as_feedback(row) for row in connection.execute(query)}


def turns_of(connection: Connection, conversation: str) -> list[Turn]:
    """In the order they were asked."""
    _expect_conversation(connection, conversation)
    query = select(turns).where(turns.c.conversation_id == conversation).order_by(turns.c.asked, turns.c.created)
    return [as_turn(row) for row in connection.execute(query)]


def last_turns_of(connection: Connection, conversation: str, count: int) -> list[Turn]:
    """In the order they were asked."""
    query = select(turns).where(turns.c.conversation_id == conversation)
    last = query.order_by(turns.c.asked.desc(), turns.c.created.desc()).limit(count)
    return [as_turn(row) for row in connection.execute(last)][::-1]


def turn_ids_by_reference(connection: Connection, conversation: str) -> dict[str, str]:
    """Ids of turns by the caller's references (`reference` of `Bot.ask`), without reading the answers."""
    reference = turns.c.answer["ask"].as_string()
    query = select(reference, turns.c.id).where(turns.c.conversation_id == conversation, reference.is_not(None))
    return {row[0]: row.id for row in connection.execute(query.order_by(turns.c.asked, turns.c.created))}


def rename_conversation(connection: Connection, conversation: str, title: str) -> None:
    _expect_conversation(connection, conversation)
    _rename(connection, conversation, storable(title))


def delete_conversation(connection: Connection, conversation: str) -> None:
    """Delete a conversation with its turns and feedback; answers that are still being made are not recorded."""
    _expect_conversation(connection, conversation)
    used = select(conversations.c.updated).where(conversations.c.id == conversation)
    last_used = connection.execute(used).scalar_one()  # by another process, whose clock may have been ahead
    connection.execute(delete(conversations).where(conversations.c.id == conversation))
    present = now()
    tombstones.record_deletion(connection, conversation, present if is_ahead(last_used) else max(present, last_used))


def _expect_conversation(connection: Connection, conversation: str) -> None:
    if connection.execute(select(conversations.c.id).where(conversations.c.id == conversation)).one_or_none() is None:
        raise NotFoundError(f"Expected the id of a conversation, but got {conversation!r}.")


def _unknown_turn(id: str) -> NotFoundError:  # noqa: A002  # the column's own name
    return NotFoundError(f"Expected the id of a recorded answer, but got {id!r}.")


def turn_row(turn: Turn) -> dict[str, Any]:
    row = {
        "id": turn.id,
        "conversation_id": turn.conversation,
        "asked": turn.asked,
        "question": storable(turn.question),
        "rewritten": storable(turn.rewritten),
        "answer": dict(turn.answer),
        "timings": dict(turn.timings),
        "created": turn.created,
    }
    return sealed(row, TURN)


def _touch(connection: Connection, turn: Turn, *, at: float) -> None:
    """Mark the turn's conversation as used, never earlier than before, unless that time is of a clock that was ahead.

    A missing conversation is created, and named after this turn.
    """
    named = {"title": _title(turn.question), "persona": storable(turn.persona)}
    row = {"id": turn.conversation, **named, "created": turn.created, "updated": at}
    insert_new(connection, conversations, sealed(row, CONVERSATION))
    this = conversations.c.id == turn.conversation
    title, updated = connection.execute(select(conversations.c.title, conversations.c.updated).where(this)).one()
    connection.execute(update(conversations).where(this).values(updated=at if is_ahead(updated) else max(updated, at)))
    if recognise(title) is not None and recognise(turn.question) is None:  # "Hello!" is a poor name
        _rename(connection, str(turn.conversation), named["title"])


def _rename(connection: Connection, conversation: str, title: str) -> None:
    """Change a title, and the checksum with it; a row without one, of an earlier version, stays without."""
    this = conversations.c.id == conversation
    row = dict(connection.execute(select(conversations).where(this)).mappings().one())
    is_sound = row["checksum"] == row_checksum(row, CONVERSATION)
    values = {"title": title, **({"checksum": row_checksum({**row, "title": title}, CONVERSATION)} if is_sound else {})}
    connection.execute(update(conversations).where(this).values(values))


def _title(question: str) -> str:
    line = " ".join(storable(question).split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"


def _with_turn_counts() -> Select[Any]:
    return select(conversations, func.count(turns.c.id).label("turns")).outerjoin(turns).group_by(conversations.c.id)


def _info(row: Row[Any]) -> ConversationInfo:
    return ConversationInfo(row.id, row.title, row.persona, row.created, row.updated, row.turns)


def feedback_row(vote: Feedback) -> dict[str, object]:
    row = {"turn_id": vote.turn, "vote": vote.vote, "comment": storable(vote.comment), "created": vote.created}
    return sealed(row, VOTE)


def as_feedback(row: Row[Any]) -> Feedback:
    return Feedback(row.turn_id, row.vote, row.comment, row.created)


def as_turn(row: Row[Any]) -> Turn:
    return Turn(
        id=row.id,
        question=row.question,
        answer=row.answer,
        rewritten=row.rewritten,
        conversation=row.conversation_id,
        timings=row.timings,
        asked=row.asked,
        created=row.created,
    )
