"""Conversations that come from elsewhere, those whose time is over, and those that were deleted; on both databases."""

from __future__ import annotations

import re
import time

import pytest
from sqlalchemy import select

from qa_bot.home.store import ConversationInfo, Feedback, JoinedCounts, NotFoundError, Store, Turn
from qa_bot.home.store.database import reading
from qa_bot.home.store.schema import deleted_conversations

HOUR = 3600.0


def turn(id_: str, conversation: str | None = "A", *, at: float = 1.0) -> Turn:
    return Turn(id_, f"question {id_}", {"n": id_}, conversation=conversation, asked=at, created=at)


def info(id_: str, updated: float, title: str = "title") -> ConversationInfo:
    return ConversationInfo(id_, title, "", 1.0, updated, 0)


def test_turns_are_streamed_in_order_each_with_its_votes(store: Store) -> None:
    times = {"a": 3.0, "b": 1.0, "c": 2.0, "d": 2.0}
    with store.joining() as joining:
        joining.turns([(turn(each, None, at=at), ()) for each, at in times.items()])
    store.save_feedback("c", "up", "1")
    store.save_feedback("c", "down", "2")
    for batch in (1, 2, 3, 100):
        found = list(store.stream_turns(batch=batch))
        assert [each.id for each, _ in found] == ["b", "c", "d", "a"]
        assert [[given.comment for given in each] for _, each in found] == [[], ["1", "2"], [], []]
        assert [each.id for each, _ in store.stream_turns(batch=batch, voted=True)] == ["c"]


def test_conversations_are_streamed_by_id(store: Store) -> None:
    for each in ("c", "a", "b"):
        store.save_turn(question=each, answer={}, conversation=each)
    for batch in (1, 2, 100):
        assert [(each.id, each.title) for each in store.stream_conversations(batch=batch)] == [
            ("a", "a"),
            ("b", "b"),
            ("c", "c"),
        ]


def test_known_ones_are_left_alone(store: Store) -> None:
    store.save_turn(id="1", question="mine", answer={}, conversation="A", asked=5.0)
    updated = store.conversation("A").updated
    later = updated + HOUR
    with store.joining() as joining:
        assert joining.conversations([info("A", 3.0, "theirs"), info("B", 9.0, "new")]) == 1
        assert joining.known(["A", "B", "C"]) == {"A", "B"}
        given = [(turn("1"), ()), (turn("2"), (Feedback("2", "down", "x\0", 4.0),)), (turn("3", "B"), ())]
        assert joining.turns(given) == JoinedCounts(turns=2, known=1, votes=1)
        assert joining.turns(given) == JoinedCounts(turns=0, known=3, votes=0)
    assert (store.conversation("A").title, store.conversation("A").updated) == ("mine", updated)
    assert store.turn("1").question == "mine"
    assert store.last_feedback("A")["2"].comment == "x\ufffd"
    with store.joining() as joining:
        joining.conversations([info("A", later)])
    assert store.conversation("A").updated == later


def test_an_error_while_they_join_leaves_everything_as_it_was(store: Store) -> None:
    def fail() -> None:
        with store.joining() as joining:
            joining.conversations([info("A", 1.0)])
            joining.turns([(turn("1"), ())])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (store.conversations(), store.counts().turns) == ([], 0)


def test_settled_questions_stay_settled(store: Store) -> None:
    store.settle_gap("ab" * 16)
    ((key, when),) = store.settled_gaps()
    with store.joining() as joining:
        joining.settled_gaps([(key, 1.0), ("cd" * 16, 2.0)])
    assert store.settled_gaps() == [(key, when), ("cd" * 16, 2.0)]
    with store.joining() as joining:
        joining.settled_gaps([(key, when + 1)])
    assert store.settled_gaps()[0] == (key, when + 1)


def test_what_was_last_used_before_a_time_expires(store: Store) -> None:
    with store.joining() as joining:
        joining.conversations([info("old", 10.0), info("used", 30.0)])
        joining.turns([(turn("1", "old", at=10.0), (Feedback("1", "up", "", 11.0),)), (turn("2", "used", at=10.0), ())])
        joining.turns([(turn("3", None, at=19.0), ()), (turn("4", None, at=20.0), ())])
    assert store.expire(10.0) == ([], 0)
    assert store.expire(20.0) == (["old"], 1)
    assert store.expire(20.0) == ([], 0)
    assert [each.id for each, _ in store.stream_turns()] == ["2", "4"]
    counts = store.counts()
    assert (counts.conversations, counts.turns, counts.feedback) == (1, 2, 0)


def test_any_number_expires(store: Store) -> None:
    many = 1234
    with store.joining() as joining:
        joining.conversations([info(str(i), 1.0) for i in range(many)])
        joining.turns([(turn(f"t{i}", None), ()) for i in range(many)])
    gone, alone = store.expire(2.0)
    assert (len(set(gone)), alone) == (many, many)
    assert (store.counts().conversations, store.counts().turns) == (0, 0)


def test_an_answer_on_its_way_does_not_bring_a_deleted_conversation_back(store: Store) -> None:
    store.save_turn(id="1", question="one", answer={}, conversation="A")
    before = time.time()
    store.delete_conversation("A")
    store.save_new_turns([turn("2", at=before), turn("3", "B", at=before), turn("4", None, at=before)])
    store.save_turn(id="5", question="late", answer={}, conversation="A", asked=before)
    assert [each.id for each, _ in store.stream_turns()] == ["3", "4"]
    with pytest.raises(NotFoundError):
        store.conversation("A")
    store.save_new_turns([turn("6", at=time.time() + 1)])
    assert [each.id for each in store.turns("A")] == ["6"], "what is asked later begins it anew"


def test_a_deletion_is_remembered_for_a_day_without_the_id(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def kept() -> list[str]:
        with reading(store._engine) as connection:
            return [row.key for row in connection.execute(select(deleted_conversations))]

    for each in ("A secret name", "B"):
        store.save_turn(question="q", answer={}, conversation=each)
    store.delete_conversation("A secret name")
    (key,) = kept()
    assert re.fullmatch("[0-9a-f]{32}", key)
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 25 * HOUR)
    store.delete_conversation("B")
    assert len(kept()) == 1
    assert kept() != [key]
