"""Questions that want an answer: a row for each turn that got none, or whose last vote is down.

Rows come and go with turns and votes, each found by the key of its question, so that counting them reads one index and
no answer. A settled question loses its rows; those of turns that were asked before do not come back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from qa_bot.home.question_key import question_key
from qa_bot.home.store.documents import chunks, insert_new
from qa_bot.home.store.records import Gap, NearestDocument, Turn, Vote
from qa_bot.home.store.schema import feedback, gaps, settled_gaps, turns

WORDINGS = 50
"""Latest turns of a question among which its most frequent wording is sought."""
COMMENTS = 3
QUESTION = 2_000
ANSWER = 1_000
"""Characters that are shown of a text."""


def note(connection: Connection, given: Iterable[Turn]) -> None:
    """Keep those of new turns that were not answered."""
    _keep(connection, [turn for turn in given if _unanswered(turn.answer)], downvoted=False)


def voted(connection: Connection, turn: Turn, vote: Vote) -> None:
    """Follow the last vote on a turn; who votes at the same time waits."""
    connection.execute(select(turns.c.id).where(turns.c.id == turn.id).with_for_update(key_share=True))
    connection.execute(delete(gaps).where(gaps.c.turn_id == turn.id))
    if vote == "down" or _unanswered(turn.answer):
        _keep(connection, [turn], downvoted=vote == "down")


def settle(connection: Connection, key: str, now: float) -> int:
    """Let a question be gone until it is asked again; of how many turns it was."""
    insert_new(connection, settled_gaps, {"key": key, "settled": now})
    connection.execute(update(settled_gaps).where(settled_gaps.c.key == key).values(settled=now))
    return drop_until(connection, key, now)


def drop_until(connection: Connection, key: str, time: float) -> int:
    """Remove the rows of a question's turns up to a time; how many."""
    return connection.execute(delete(gaps).where(gaps.c.key == key, gaps.c.created <= time)).rowcount


def most_frequent(connection: Connection, limit: int) -> tuple[list[Gap], int]:
    """The questions asked most, those asked last first among equals; and how many there are in all."""
    counted = (
        gaps.c.key,
        func.count().label("asked"),
        func.count().filter(gaps.c.unanswered).label("unanswered"),
        func.count().filter(gaps.c.downvoted).label("downvoted"),
        func.max(gaps.c.created).label("last"),
        func.count().over().label("total"),
    )
    ordered = (func.count().desc(), func.max(gaps.c.created).desc(), gaps.c.key)
    rows = connection.execute(select(*counted).group_by(gaps.c.key).order_by(*ordered).limit(limit)).all()
    return [_gap(connection, row) for row in rows], rows[0].total if rows else 0


def _unanswered(answer: Mapping[str, Any]) -> bool:
    """Whether somebody was left without an answer; choices and small talk leave nobody so."""
    return answer.get("answered") is False and not answer.get("choices") and answer.get("kind") != "talk"


def _keep(connection: Connection, given: Sequence[Turn], *, downvoted: bool) -> None:
    """Insert the rows of turns, but for those that were asked before their question was settled."""
    keys = {turn.id: question_key(turn.rewritten or turn.question) for turn in given}
    settled = _settled(connection, set(keys.values()))
    rows = [
        {
            "turn_id": turn.id,
            "key": keys[turn.id],
            "created": turn.created,
            "unanswered": _unanswered(turn.answer),
            "downvoted": downvoted,
        }
        for turn in given
        if turn.created > settled.get(keys[turn.id], -inf)
    ]
    if rows:
        connection.execute(insert(gaps), rows)


def _settled(connection: Connection, keys: Iterable[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for chunk in chunks(keys):
        query = select(settled_gaps).where(settled_gaps.c.key.in_(chunk))
        found |= {row.key: row.settled for row in connection.execute(query)}
    return found


def _gap(connection: Connection, counted: Row[Any]) -> Gap:
    """A question with what its latest turns say of it."""
    asked = func.substr(func.coalesce(func.nullif(turns.c.rewritten, ""), turns.c.question), 1, QUESTION)
    query = select(turns.c.id, asked.label("question")).join(gaps).where(gaps.c.key == counted.key)
    latest = connection.execute(query.order_by(gaps.c.created.desc()).limit(WORDINGS)).all()
    ((wording, _),) = Counter(" ".join(row.question.split()) for row in latest).most_common(1)
    answer, nearest = _last_answer(connection, latest[0].id)
    return Gap(
        key=counted.key,
        question=wording,
        asked=counted.asked,
        unanswered=counted.unanswered,
        downvoted=counted.downvoted,
        last=counted.last,
        comments=_comments(connection, [row.id for row in latest]),
        answer=answer,
        nearest=nearest,
    )


def _comments(connection: Connection, ids: Sequence[str]) -> tuple[str, ...]:
    """What was last said about turns, the latest first."""
    query = select(feedback.c.comment).where(feedback.c.turn_id.in_(ids), feedback.c.comment != "")
    return tuple(connection.execute(query.order_by(feedback.c.id.desc()).limit(COMMENTS)).scalars())


def _last_answer(connection: Connection, id: str) -> tuple[str, NearestDocument | None]:  # noqa: A002  # the column's own name
    """The text of an answer, and its first source."""
    parts = [turns.c.answer[("sources", 0, name)].as_string() for name in NearestDocument.__slots__]
    text = func.substr(turns.c.answer["answer"].as_string(), 1, ANSWER)
    answer, *nearest = connection.execute(select(text, *parts).where(turns.c.id == id)).one()
    return answer or "", None if nearest[0] is None else NearestDocument(*(each or "" for each in nearest))
