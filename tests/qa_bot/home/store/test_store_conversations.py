"""Turns, votes and conversations of the store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from qa_bot.home.store import NotFoundError, Store, Turn

GONE = "a sentence that must not stay behind 7f3a"


def test_turns_and_feedback(any_store: Store) -> None:
    answer = {"answered": True, "text": "Grüße", "sources": [{"score": 0.5, "span": None}]}
    turn = any_store.save_turn(
        question="why?", rewritten="why do cats?", answer=answer, timings={"total": 0.1}, asked=5.0
    )
    stored = any_store.turn(turn)
    assert (stored.question, stored.rewritten, stored.answer) == ("why?", "why do cats?", answer)
    assert (stored.timings, stored.asked, stored.conversation) == ({"total": 0.1}, 5.0, None)
    any_store.save_feedback(turn, "down", "no")
    any_store.save_feedback(turn, "up")
    assert [(f.vote, f.comment) for f in any_store.feedback(turn)] == [("down", "no"), ("up", "")]
    assert (any_store.counts().turns, any_store.counts().feedback) == (1, 2)


def test_conversations(any_store: Store) -> None:
    any_store.save_turn(question="one " * 40, answer={}, conversation="A", persona="pirate", asked=1.0)
    any_store.save_turn(question="two", answer={}, conversation="A", asked=2.0)
    any_store.save_turn(question="three", answer={}, conversation="B", asked=3.0)
    latest, first = any_store.conversations()
    assert (latest.id, first.id, first.persona, first.turns) == ("B", "A", "pirate", 2)
    assert len(first.title) == 80
    assert first.title.endswith("…")
    assert [turn.question[:3] for turn in any_store.turns("A")] == ["one", "two"]
    any_store.rename_conversation("A", "cats")
    assert [c.title for c in any_store.conversations()] == ["three", "cats"]
    assert [c.id for c in any_store.conversations(limit=1)] == ["B"]
    assert [c.id for c in any_store.conversations(before=latest.updated)] == ["A"]
    assert any_store.conversation("A") == any_store.conversations()[1]
    with pytest.raises(NotFoundError, match="Expected the id of a conversation, but got 'C'"):
        any_store.conversation("C")


def test_a_conversation_is_named_after_its_first_question(store: Store) -> None:
    for at, question in enumerate(["Hello!", "Why do cats purr?", "Do dogs?"]):
        store.save_turn(question=question, answer={}, conversation="c", asked=float(at))
    store.save_new_turns(
        Turn(f"t{at}", question, {}, conversation="d", created=float(at))
        for at, question in enumerate(["hi", "Why do fish swim?"])
    )
    store.save_turn(question="Thanks", answer={}, conversation="e")
    titles = {conversation.id: conversation.title for conversation in store.conversations()}
    assert titles == {"c": "Why do cats purr?", "d": "Why do fish swim?", "e": "Thanks"}


def test_revising_an_answer(store: Store) -> None:
    turn = store.save_turn(question="why?", answer={"ask": "q1", "n": 1}, conversation="A", asked=5.0)
    revised = store.revise_answer(turn, lambda answer: {**answer, "n": answer["n"] + 1})
    assert revised == store.turn(turn)
    assert (revised.answer, revised.asked, revised.conversation) == ({"ask": "q1", "n": 2}, 5.0, "A")
    assert store.turn_ids_by_reference("A") == {"q1": turn}
    with pytest.raises(NotFoundError, match="Expected the id of a recorded answer, but got 'nobody'"):
        store.revise_answer("nobody", lambda answer: answer)
    with pytest.raises(ZeroDivisionError):
        store.revise_answer(turn, lambda answer: {"n": answer["n"] / 0})
    assert store.turn(turn) == revised


def test_concurrent_revisions(any_store: Store) -> None:
    turn = any_store.save_turn(question="why?", answer={"n": 0})

    def count() -> None:
        for _ in range(10):
            any_store.revise_answer(turn, lambda answer: {"n": answer["n"] + 1})

    with ThreadPoolExecutor(3) as pool:
        for counted in [pool.submit(count) for _ in range(3)]:
            counted.result()
    assert any_store.turn(turn).answer == {"n": 30}


def test_last_turn_dates_the_conversation(store: Store) -> None:
    store.save_new_turns(Turn(str(i), f"q{i}", {}, conversation=name, created=float(i)) for i, name in enumerate("ABA"))
    rows = [(c.id, c.title, c.created, c.updated, c.turns) for c in store.conversations()]
    assert rows == [("A", "q0", 0.0, 2.0, 2), ("B", "q1", 1.0, 1.0, 1)]


def test_the_last_vote_on_each_turn_of_a_conversation(store: Store) -> None:
    first, second, other = (store.save_turn(question="q", answer={}, conversation=c) for c in "AAB")
    for turn, vote, comment in ((first, "down", "no"), (other, "down", ""), (first, "up", "yes")):
        store.save_feedback(turn, vote, comment)
    assert {turn.id: feedback.vote for turn, feedback in store.voted()} == {first: "up", other: "down"}
    last = store.last_feedback("A")
    assert {turn: (feedback.vote, feedback.comment) for turn, feedback in last.items()} == {first: ("up", "yes")}
    assert second not in last


def test_turns_by_the_reference_of_the_client(store: Store) -> None:
    turns = [("A", {"ask": "q1"}), ("A", {}), ("A", {"ask": "q2"}), ("B", {"ask": "q1"})]
    for i, (conversation, answer) in enumerate(turns):
        store.save_turn(question="why?", answer=answer, conversation=conversation, asked=float(i), id=str(i))
    store.save_turn(question="why?", answer={"ask": "q1"}, conversation="A", asked=9.0, id="later")
    assert store.turn_ids_by_reference("A") == {"q1": "later", "q2": "2"}
    assert store.turn_ids_by_reference("B") == {"q1": "3"}
    assert store.turn_ids_by_reference("unknown") == {}


def test_new_turns_are_recorded_together_and_once(any_store: Store) -> None:
    any_store.save_turn(question="known", answer={}, id="1", asked=1.0)
    many = [Turn(str(i), f"q{i}\x00", {"n": i}, conversation="A", asked=float(i), created=9.0) for i in range(120)]
    for _ in range(2):
        any_store.save_new_turns(many)
    assert any_store.counts().turns == 120
    assert any_store.turn("1").question == "known"
    turns = any_store.turns("A")
    assert [turn.id for turn in turns] == [str(i) for i in range(120) if i != 1]
    assert turns[-1].answer == {"n": 119}
    assert (any_store.conversations()[0].title, any_store.conversations()[0].updated) == (
        "q0\N{REPLACEMENT CHARACTER}",
        9.0,
    )


def test_a_deleted_conversation_is_gone(any_store: Store, any_store_url: str) -> None:
    other_turn = any_store.save_turn(question="kept", answer={}, conversation="B")
    turn = any_store.save_turn(question=GONE, answer={"text": GONE * 500}, conversation="A")
    any_store.save_feedback(turn, "up", GONE)
    any_store.delete_conversation("A")
    with pytest.raises(NotFoundError):
        any_store.turn(turn)
    assert (any_store.counts().feedback, [c.id for c in any_store.conversations()]) == (0, ["B"])
    assert any_store.turn(other_turn).question == "kept"
    if any_store_url.startswith("sqlite"):
        files = Path(any_store_url.removeprefix("sqlite:///")).parent.iterdir()
        assert [file for file in files if GONE.encode() in file.read_bytes()] == []


@pytest.mark.parametrize(
    "act",
    [
        lambda store: store.turn("nope"),
        lambda store: store.save_feedback("nope", "up"),
        lambda store: store.feedback("nope"),
        lambda store: store.turns("nope"),
        lambda store: store.rename_conversation("nope", "x"),
        lambda store: store.delete_conversation("nope"),
        lambda store: store.finish(99, {}),
    ],
)
def test_unknown_ids_are_refused(store: Store, act) -> None:
    with pytest.raises(NotFoundError, match=r"Expected .*, but got '?(nope|99)"):
        act(store)
