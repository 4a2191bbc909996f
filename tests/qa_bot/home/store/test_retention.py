"""Imported, expired and deleted conversations."""

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


def test_turns_are_streamed_in_order_each_with_its_votes(any_store: Store) -> None:
    times = {"a": 3.0, "b": 1.0, "c": 2.0, "d": 2.0}
    with any_store.joining() as joining:
        joining.turns([(turn(name, None, at=at), ()) for name, at in times.items()])
    any_store.save_feedback("c", "up", "1")
    any_store.save_feedback("c", "down", "2")
    for batch in (1, 2, 3, 100):
        rows = list(any_store.stream_turns(batch=batch))
        assert [row.id for row, _ in rows] == ["b", "c", "d", "a"]
        assert [[vote.comment for vote in votes] for _, votes in rows] == [[], ["1", "2"], [], []]
        assert [row.id for row, _ in any_store.stream_turns(batch=batch, voted=True)] == ["c"]


def test_conversations_are_streamed_by_id(any_store: Store) -> None:
    for name in ("c", "a", "b"):
        any_store.save_turn(question=name, answer={}, conversation=name)
    for batch in (1, 2, 100):
        rows = list(any_store.stream_conversations(batch=batch))
        assert [(row.id, row.title) for row in rows] == [("a", "a"), ("b", "b"), ("c", "c")]


def test_known_turns_and_conversations_are_not_changed(any_store: Store) -> None:
    any_store.save_turn(id="1", question="mine", answer={}, conversation="A", asked=5.0)
    updated = any_store.conversation("A").updated
    later = updated + HOUR
    with any_store.joining() as joining:
        assert joining.conversations([info("A", 3.0, "theirs"), info("B", 9.0, "new")]) == 1
        assert joining.known(["A", "B", "C"]) == {"A", "B"}
        turns = [(turn("1"), ()), (turn("2"), (Feedback("2", "down", "x\0", 4.0),)), (turn("3", "B"), ())]
        assert joining.turns(turns) == JoinedCounts(turns=2, known=1, votes=1)
        assert joining.turns(turns) == JoinedCounts(turns=0, known=3, votes=0)
    assert (any_store.conversation("A").title, any_store.conversation("A").updated) == ("mine", updated)
    assert any_store.turn("1").question == "mine"
    assert any_store.last_feedback("A")["2"].comment == "x\ufffd"
    with any_store.joining() as joining:
        joining.conversations([info("A", later)])
    assert any_store.conversation("A").updated == later


def test_error_during_import_changes_nothing(any_store: Store) -> None:
    def fail() -> None:
        with any_store.joining() as joining:
            joining.conversations([info("A", 1.0)])
            joining.turns([(turn("1"), ())])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (any_store.conversations(), any_store.counts().turns) == ([], 0)


def test_settled_questions_stay_settled(any_store: Store) -> None:
    any_store.settle_gap("ab" * 16)
    ((key, when),) = any_store.settled_gaps()
    with any_store.joining() as joining:
        joining.settled_gaps([(key, 1.0), ("cd" * 16, 2.0)])
    assert any_store.settled_gaps() == [(key, when), ("cd" * 16, 2.0)]
    with any_store.joining() as joining:
        joining.settled_gaps([(key, when + 1)])
    assert any_store.settled_gaps()[0] == (key, when + 1)


def test_conversations_expire_by_their_last_use(store: Store) -> None:
    with store.joining() as joining:
        joining.conversations([info("old", 10.0), info("used", 30.0)])
        joining.turns([(turn("1", "old", at=10.0), (Feedback("1", "up", "", 11.0),)), (turn("2", "used", at=10.0), ())])
        joining.turns([(turn("3", None, at=19.0), ()), (turn("4", None, at=20.0), ())])
    assert store.expire(10.0) == ([], 0)
    assert store.expire(20.0) == (["old"], 1)
    assert store.expire(20.0) == ([], 0)
    assert [row.id for row, _ in store.stream_turns()] == ["2", "4"]
    counts = store.counts()
    assert (counts.conversations, counts.turns, counts.feedback) == (1, 2, 0)


def test_many_conversations_expire(any_store: Store) -> None:
    many = 1234
    with any_store.joining() as joining:
        joining.conversations([info(str(i), 1.0) for i in range(many)])
        joining.turns([(turn(f"t{i}", None), ()) for i in range(many)])
    gone, alone = any_store.expire(2.0)
    assert (len(set(gone)), alone) == (many, many)
    assert (any_store.counts().conversations, any_store.counts().turns) == (0, 0)


def test_late_answer_does_not_restore_a_deleted_conversation(store: Store) -> None:
    store.save_turn(id="1", question="one", answer={}, conversation="A")
    before = time.time()
    store.delete_conversation("A")
    store.save_new_turns([turn("2", at=before), turn("3", "B", at=before), turn("4", None, at=before)])
    store.save_turn(id="5", question="late", answer={}, conversation="A", asked=before)
    assert [row.id for row, _ in store.stream_turns()] == ["3", "4"]
    with pytest.raises(NotFoundError):
        store.conversation("A")
    store.save_new_turns([turn("6", at=time.time() + 1)])
    assert [row.id for row in store.turns("A")] == ["6"], "a later question begins a new conversation"


def test_deletions_are_remembered_for_a_day_without_the_id(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def remembered_keys() -> list[str]:
        with reading(store._engine) as connection:
            return [row.key for row in connection.execute(select(deleted_conversations))]

    for name in ("A secret name", "B"):
        store.save_turn(question="q", answer={}, conversation=name)
    store.delete_conversation("A secret name")
    (key,) = remembered_keys()
    assert re.fullmatch("[0-9a-f]{32}", key)
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 25 * HOUR)
    store.delete_conversation("B")
    assert len(remembered_keys()) == 1
    assert remembered_keys() != [key]
