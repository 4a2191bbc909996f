"""Rows of generations, conversations, turns and feedback: each function is one part of a transaction."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from qa_bot.conversation.talk import recognise
from qa_bot.home.store import gaps
from qa_bot.home.store import tombstones as deletions
from qa_bot.home.store.database import StoreError, storable
from qa_bot.home.store.documents import insert_new, visible
from qa_bot.home.store.records import ConversationInfo, Counts, Feedback, GenerationInfo, Turn
from qa_bot.home.store.schema import collections, conversations, documents, feedback, generations, passages, turns

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
    row = {"number": number, "encoder": encoder, "state": "building", "created": time.time(), "counts": {}}
    connection.execute(insert(generations).values(row))
    return number


def forget_generation(connection: Connection, number: int) -> None:
    connection.execute(delete(generations).where(generations.c.number == number))


def finish_generation(connection: Connection, number: int, counts: Mapping[str, int] | None = None) -> None:
    """Make a generation the current one; its counts stay as they are where none are given."""
    connection.execute(update(generations).where(generations.c.state == "current").values(state="old"))
    values: dict[str, Any] = {"state": "current"} if counts is None else {"state": "current", "counts": dict(counts)}
    if not connection.execute(update(generations).where(generations.c.number == number).values(**values)).rowcount:
        raise NotFoundError(f"Expected a generation that was begun, but got {number}.")


def current_generation(connection: Connection) -> GenerationInfo | None:
    row = connection.execute(select(generations).where(generations.c.state == "current")).one_or_none()
    if row is None:
        return None
    return GenerationInfo(row.number, row.encoder, row.state, row.created, row.counts)


def count_rows(connection: Connection) -> Counts:
    of_documents = documents.join(passages)
    counted = {
        "collections": select(func.count()).select_from(collections),
        "documents": select(func.count()).select_from(documents).where(visible()),
        "passages": select(func.count()).select_from(of_documents).where(visible()),
        "duplicates": select(func.count(passages.c.duplicate_of)).select_from(of_documents).where(visible()),
        "conversations": select(func.count()).select_from(conversations),
        "turns": select(func.count()).select_from(turns),
        "feedback": select(func.count()).select_from(feedback),
    }
    return Counts(**{name: connection.execute(query).scalar_one() for name, query in counted.items()})


# --- turns ----------------------------------------------------------------------------------------------------------


def save_turn(connection: Connection, turn: Turn) -> None:
    """Record a turn; its conversation is made where it is missing."""
    if deletions.outlived(connection, [turn]):
        return
    if turn.conversation is not None:
        _touch(connection, turn, now=turn.created)
    connection.execute(insert(turns).values(turn_row(turn)))
    gaps.note(connection, [turn])


def save_new_turns(connection: Connection, given: Sequence[Turn]) -> None:
    """Record those that are not recorded yet; missing conversations are made."""
    query = select(turns.c.id).where(turns.c.id.in_([turn.id for turn in given]))
    known = set(connection.execute(query).scalars()) | deletions.outlived(connection, given)
    fresh = list({turn.id: turn for turn in given if turn.id not in known}.values())
    telling = sorted(fresh, key=lambda turn: recognise(turn.question) is not None)  # stable: small talk last
    begun = {turn.conversation: turn for turn in reversed(telling)}  # each by its first question
    used = {turn.conversation: turn.created for turn in fresh}
    for conversation, turn in begun.items():
        if conversation is not None:
            _touch(connection, turn, now=used[conversation])
    if fresh:
        connection.execute(insert(turns), [turn_row(turn) for turn in fresh])
        gaps.note(connection, fresh)


def turn_by_id(connection: Connection, id: str) -> Turn:  # noqa: A002  # the column's own name
    row = connection.execute(select(turns).where(turns.c.id == id)).one_or_none()
    if row is None:
        raise _unknown_turn(id)
    return as_turn(row)


def revise_answer(connection: Connection, id: str, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Turn:  # noqa: A002  # the column's own name
    """Put what `change` makes of a turn's answer object in its place; nobody else can in between."""
    row = connection.execute(select(turns).where(turns.c.id == id).with_for_update()).one_or_none()
    if row is None:
        raise _unknown_turn(id)
    turn = replace(as_turn(row), answer=dict(change(row.answer)))
    connection.execute(update(turns).where(turns.c.id == id).values(answer=turn.answer))
    return turn


def has_turn(connection: Connection, id: str) -> bool:  # noqa: A002  # the column's own name
    return connection.execute(select(turns.c.id).where(turns.c.id == id)).one_or_none() is not None


def save_feedback(connection: Connection, given: Feedback) -> None:
    turn = turn_by_id(connection, given.turn)
    row = {"turn_id": given.turn, "vote": given.vote, "comment": storable(given.comment), "created": given.created}
    gaps.voted(connection, turn, given.vote)
    connection.execute(insert(feedback).values(row))


def feedback_of(connection: Connection, turn: str) -> list[Feedback]:
    turn_by_id(connection, turn)
    query = select(feedback).where(feedback.c.turn_id == turn).order_by(feedback.c.id)
    return [as_feedback(row) for row in connection.execute(query)]


def voted(connection: Connection) -> list[tuple[Turn, Feedback]]:
    """Turns that somebody voted on, in the order they were asked, each with the last vote."""
    votes = {row.turn_id: as_feedback(row) for row in connection.execute(select(feedback).order_by(feedback.c.id))}
    query = select(turns).where(turns.c.id.in_(select(feedback.c.turn_id))).order_by(turns.c.asked, turns.c.id)
    return [(as_turn(row), votes[row.id]) for row in connection.execute(query) if row.id in votes]


# --- conversations --------------------------------------------------------------------------------------------------


def all_conversations(connection: Connection, limit: int, before: float | None = None) -> list[ConversationInfo]:
    """The last used first; only those used before the time `before`, where one is given."""
    query = _informed().order_by(conversations.c.updated.desc(), conversations.c.id).limit(limit)
    if before is not None:
        query = query.where(conversations.c.updated < before)
    return [_info(row) for row in connection.execute(query)]


def conversation_by_id(connection: Connection, conversation: str) -> ConversationInfo:
    row = connection.execute(_informed().where(conversations.c.id == conversation)).one_or_none()
    if row is None:
        raise NotFoundError(f"Expected the id of a conversation, but got {conversation!r}.")
    return _info(row)


def last_feedback_in(connection: Connection, conversation: str) -> dict[str, Feedback]:
    """The last vote on each turn of a conversation that has one, by the turn's id."""
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
    """Turns' ids by the askers' own (`Bot.ask`'s `reference`), without reading the answers."""
    reference = turns.c.answer["ask"].as_string()
    query = select(reference, turns.c.id).where(turns.c.conversation_id == conversation, reference.is_not(None))
    return {row[0]: row.id for row in connection.execute(query.order_by(turns.c.asked, turns.c.created))}


def rename_conversation(connection: Connection, conversation: str, title: str) -> None:
    _expect_conversation(connection, conversation)
    statement = update(conversations).where(conversations.c.id == conversation)
    connection.execute(statement.values(title=storable(title)))


def delete_conversation(connection: Connection, conversation: str) -> None:
    """With its turns and their feedback, and with the answers to it that are still on their way."""
    _expect_conversation(connection, conversation)
    connection.execute(delete(conversations).where(conversations.c.id == conversation))
    deletions.note(connection, conversation, time.time())


def _expect_conversation(connection: Connection, conversation: str) -> None:
    if connection.execute(select(conversations.c.id).where(conversations.c.id == conversation)).one_or_none() is None:
        raise NotFoundError(f"Expected the id of a conversation, but got {conversation!r}.")


def _unknown_turn(id: str) -> NotFoundError:  # noqa: A002  # the column's own name
    return NotFoundError(f"Expected the id of a recorded answer, but got {id!r}.")


def turn_row(turn: Turn) -> dict[str, Any]:
    return {
        "id": turn.id,
        "conversation_id": turn.conversation,
        "asked": turn.asked,
        "question": storable(turn.question),
        "rewritten": storable(turn.rewritten),
        "answer": dict(turn.answer),
        "timings": dict(turn.timings),
        "created": turn.created,
    }


def _touch(connection: Connection, turn: Turn, *, now: float) -> None:
    """The turn's conversation is used now; it is made of this turn where it is missing."""
    named = {"title": _title(turn.question), "persona": storable(turn.persona)}
    insert_new(connection, conversations, {"id": turn.conversation, **named, "created": turn.created, "updated": now})
    this = conversations.c.id == turn.conversation
    title = connection.execute(select(conversations.c.title).where(this)).scalar_one()
    told = recognise(title) is not None and recognise(turn.question) is None  # "Hello!" tells less
    values = {"updated": now, **({"title": named["title"]} if told else {})}
    connection.execute(update(conversations).where(this).values(**values))


def _title(question: str) -> str:
    line = " ".join(storable(question).split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"


def _informed() -> Select[Any]:
    """Conversations with the number of their turns."""
    return select(conversations, func.count(turns.c.id).label("turns")).outerjoin(turns).group_by(conversations.c.id)


def _info(row: Row[Any]) -> ConversationInfo:
    return ConversationInfo(row.id, row.title, row.persona, row.created, row.updated, row.turns)


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
