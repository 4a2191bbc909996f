"""Gaps: questions without a good answer, one row for each turn that got none or whose last vote is down.

Turns and votes add and remove rows, which are indexed by the key of their question, so that counting reads one index
and no answers. Settling a question removes its rows; turns asked before that are not added again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from qa_bot.home.question_key import is_readable, question_key
from qa_bot.home.store.documents import chunks, insert_new
from qa_bot.home.store.records import Gap, NearestDocument, Turn, Vote
from qa_bot.home.store.schema import feedback, gaps, settled_gaps, turns
from qa_core.wall_clock import AHEAD, is_ahead, now

READING = frozenset({"keyword", "rank", "verify"})
"""Stages without which a refusal says little about the documents: with more time there may be an answer."""
WORDINGS = 50
"""Latest turns of a question that are searched for its most frequent wording."""
COMMENTS = 3
QUESTION = 2_000
ANSWER = 1_000
"""Characters shown of a text."""


def add_unanswered(connection: Connection, new: Iterable[Turn]) -> None:
    """Add rows for the new turns that were not answered."""
    _add(connection, [turn for turn in new if _unanswered(turn.answer)], downvoted=False)


def follow_vote(connection: Connection, turn: Turn, vote: Vote) -> None:
    """Add or remove a turn's row after a vote; a row lock makes simultaneous votes wait."""
    connection.execute(select(turns.c.id).where(turns.c.id == turn.id).with_for_update(key_share=True))
    connection.execute(delete(gaps).where(gaps.c.turn_id == turn.id))
    if vote == "down" or _unanswered(turn.answer):
        _add(connection, [turn], downvoted=vote == "down")


def settle(connection: Connection, key: str, at: float) -> int:
    """Hide a question until it is asked again; returns the number of its turns.

    Turns that were recorded with a clock that was ahead are hidden, too.
    """
    latest = connection.execute(select(func.max(gaps.c.created)).where(gaps.c.key == key)).scalar()
    until = max(at, latest or at)
    settled = at if is_ahead(until) else until
    insert_new(connection, settled_gaps, {"key": key, "settled": settled})
    connection.execute(update(settled_gaps).where(settled_gaps.c.key == key).values(settled=settled))
    return drop_until(connection, key, until)


def drop_until(connection: Connection, key: str, time: float) -> int:
    """Remove the rows of a question's turns up to a time; returns their number."""
    return connection.execute(delete(gaps).where(gaps.c.key == key, gaps.c.created <= time)).rowcount


def most_frequent(connection: Connection, limit: int) -> tuple[list[Gap], int]:
    """The most frequent questions, ties by the last time asked, and the number of all questions."""
    columns = (
        gaps.c.key,
        func.count().label("asked"),
        func.count().filter(gaps.c.unanswered).label("unanswered"),
        func.count().filter(gaps.c.downvoted).label("downvoted"),
        func.max(gaps.c.created).label("last"),
        func.count().over().label("total"),
    )
    ordered = (func.count().desc(), func.max(gaps.c.created).desc(), gaps.c.key)
    rows = connection.execute(select(*columns).group_by(gaps.c.key).order_by(*ordered).limit(limit)).all()
    return [_gap(connection, row) for row in rows], rows[0].total if rows else 0


def _unanswered(answer: Mapping[str, Any]) -> bool:
    """Whether the user got no answer though there was time; meanings to choose from and small talk are answers."""
    asks_back = answer.get("choices") and not answer.get("suggested")
    in_time = READING.isdisjoint(answer.get("skipped") or ())
    return answer.get("answered") is False and in_time and not asks_back and answer.get("kind") != "talk"


def _add(connection: Connection, new: Sequence[Turn], *, downvoted: bool) -> None:
    """Insert rows of turns, except turns without words, and turns asked before their question was settled."""
    keys = {turn.id: question_key(text) for turn in new if is_readable(text := turn.rewritten or turn.question)}
    settled = _settled(connection, set(keys.values()))
    rows = [
        {
            "turn_id": turn.id,
            "key": keys[turn.id],
            "created": turn.created,
            "unanswered": _unanswered(turn.answer),
            "downvoted": downvoted,
        }
        for turn in new
        if turn.id in keys and turn.created > settled.get(keys[turn.id], -inf)
    ]
    if rows:
        connection.execute(insert(gaps), rows)


def _settled(connection: Connection, keys: Iterable[str]) -> dict[str, float]:
    """When questions were settled; by a clock that was ahead, not later than a day ago, which is then recorded."""
    times: dict[str, float] = {}
    for chunk in chunks(keys):
        query = select(settled_gaps).where(settled_gaps.c.key.in_(chunk))
        times |= {row.key: row.settled for row in connection.execute(query)}
    for key in [key for key, settled in times.items() if is_ahead(settled)]:
        times[key] = now() - AHEAD
        connection.execute(update(settled_gaps).where(settled_gaps.c.key == key).values(settled=times[key]))
    return times


def _gap(connection: Connection, counted: Row[Any]) -> Gap:
    """A question with the wording, comments and answer of its latest turns."""
    question = func.substr(func.coalesce(func.nullif(turns.c.rewritten, ""), turns.c.question), 1, QUESTION)
    query = select(turns.c.id, question.label("question")).join(gaps).where(gaps.c.key == counted.key)
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
    """The last comments on turns, the latest first."""
    query = select(feedback.c.comment).where(feedback.c.turn_id.in_(ids), feedback.c.comment != "")
    return tuple(connection.execute(query.order_by(feedback.c.id.desc()).limit(COMMENTS)).scalars())


def _last_answer(connection: Connection, id: str) -> tuple[str, NearestDocument | None]:  # noqa: A002  # the column's own name
    """The text of an answer, and its first source."""
    parts = [turns.c.answer[("sources", 0, name)].as_string() for name in NearestDocument.__slots__]
    text = func.substr(turns.c.answer["answer"].as_string(), 1, ANSWER)
    answer, *nearest = connection.execute(select(text, *parts).where(turns.c.id == id)).one()
    return answer or "", None if nearest[0] is None else NearestDocument(*(value or "" for value in nearest))
