"""The store on SQLite and on PostgreSQL: documents, generations, turns, conversations, killed writers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from qa_bot.home.store import NewDocument, NewPassage, NotFoundError, Store, StoreError, Turn

GONE = "a sentence that must not stay behind 7f3a"


def document(collection: int, name: str, *texts: str, hash: str = "h", sketches: Sequence[int] = ()) -> NewDocument:  # noqa: A002
    passages = tuple(NewPassage(text, 0, len(text), tuple(sketches)) for text in texts or (f"text of {name}",))
    return NewDocument(collection, name, f"title of {name}", " ".join(texts), hash, passages, "http://x", "file.jsonl")


def fill(store: Store, *names: str) -> int:
    """A finished generation with these documents in collection `c`."""
    number = store.begin("starter")
    store.insert(number, [document(store.collection("c"), name) for name in names])
    store.finish(number, {"documents": len(names)})
    return number


def live_ids(store: Store, *, batch: int = 2) -> list[str]:
    return [row.external_id for row in store.stream_documents(batch=batch)]


def test_document_round_trip(any_store: Store) -> None:
    collection = any_store.collection("birds")
    number = any_store.begin("starter")
    passages = (NewPassage("Grüße, 鳥 🐦", 0, 9), NewPassage("two", 10, 13))
    document = NewDocument(collection, "d1", "T", "Grüße, 鳥 🐦 two", "abc", passages, "http://u", "birds.jsonl")
    (inserted,) = any_store.insert(number, [document])
    (stored,) = any_store.stream_documents()
    assert (stored.key, stored.collection, stored.external_id, stored.title) == (inserted.document, "birds", "d1", "T")
    assert (stored.body, stored.url, stored.hash, stored.origin) == (document.body, "http://u", "abc", "birds.jsonl")
    assert [(p.key, p.position, p.text, p.start, p.end) for p in stored.passages] == [
        (inserted.passages[0], 0, "Grüße, 鳥 🐦", 0, 9),
        (inserted.passages[1], 1, "two", 10, 13),
    ]
    assert inserted.duplicates == (None, None)


def test_code_points_that_databases_refuse_are_replaced_one_for_one(any_store: Store) -> None:
    number = any_store.begin("starter")
    any_store.insert(number, [document(any_store.collection("c"), "d", "a\x00b\ud800c")])
    (stored,) = any_store.stream_documents()
    assert stored.passages[0].text == "a\ufffdb\ufffdc"
    turn = any_store.save_turn(question="q\x00", answer={"text": "lone \udc00 and \x00 NUL"})
    assert any_store.turn(turn).answer["text"].startswith("lone \ufffd")


def test_last_finished_generation_is_current(store: Store) -> None:
    assert store.generation() is None
    first, second = fill(store, "a"), fill(store, "b")
    current = store.generation()
    assert (first, second) == (1, 2)
    assert current is not None
    assert (current.number, current.encoder, current.state) == (2, "starter", "current")
    assert current.counts == {"documents": 1}


def test_known_and_find_return_live_documents(store: Store) -> None:
    fill(store, "a", "b")
    collection = store.collection("c")
    number = store.begin("starter")
    known = store.known(collection, ["a", "b", "zzz"])
    assert {name: (one.hash, one.born) for name, one in known.items()} == {"a": ("h", 1), "b": ("h", 1)}
    assert store.retire(number, [known["a"].document]) == 1
    assert store.retire(number, [known["a"].document]) == 0
    (again,) = store.insert(number, [document(collection, "a", hash="new")])
    assert store.known(collection, ["a"])["a"].hash == "new"
    assert store.known(store.collection("other"), ["a"]) == {}
    assert store.find(["a", "b", "zzz"]) == {"a": (again.document,), "b": (known["b"].document,)}
    assert store.of_collection("c") == [known["b"].document, again.document]
    assert store.of_collection("none") == []


def test_one_id_in_two_collections(store: Store) -> None:
    number = store.begin("starter")
    one, two = store.insert(number, [document(store.collection(name), "same") for name in ("c", "d")])
    assert store.find(["same"]) == {"same": (one.document, two.document)}


def test_repeated_id_in_a_collection_is_refused(any_store: Store) -> None:
    number = any_store.begin("starter")
    with pytest.raises(StoreError):
        any_store.insert(number, [document(any_store.collection("c"), "same")] * 2)


def test_readers_see_the_current_generation_while_another_is_built(any_store: Store) -> None:
    fill(any_store, "a", "b")
    number = any_store.begin("starter")
    any_store.retire(number, any_store.find(["a", "b"])["a"])
    any_store.insert(number, [document(any_store.collection("new"), name) for name in "xyz"])
    assert any_store.counts().documents == 2
    assert {c.name: (c.documents, c.passages) for c in any_store.collections()} == {"c": (2, 2), "new": (0, 0)}
    any_store.finish(number, {})
    assert any_store.counts().documents == 4
    assert {c.name: (c.documents, c.passages) for c in any_store.collections()} == {"c": (1, 1), "new": (3, 3)}
    assert any_store.purge(number) == 1
    assert any_store.purge(number) == 0
    assert live_ids(any_store) == ["b", "x", "y", "z"]


def test_unfinished_generation_is_undone(store: Store) -> None:
    fill(store, "a", "b")
    before = list(store.stream_documents())
    dead = store.begin("starter")
    store.retire(dead, store.find(["a"])["a"])
    store.insert(dead, [document(store.collection("c"), "a", hash="new"), document(store.collection("d"), "n")])
    number = store.begin("starter")
    assert list(store.stream_documents()) == before
    assert number == dead, "the number was never published, so it is used again"
    assert [c.name for c in store.collections()] == ["c"]


def test_published_generation_of_a_dead_writer_is_finished(store: Store) -> None:
    fill(store, "a")
    dead = store.begin("starter")
    store.insert(dead, [document(store.collection("c"), "b")])
    number = store.begin("starter", published=dead)
    assert number == dead + 1
    assert live_ids(store) == ["a", "b"]
    current = store.generation()
    assert current is not None
    assert current.number == dead


def test_new_database_continues_the_numbers_of_the_index(store: Store) -> None:
    assert store.begin("starter", published=41) == 42


def test_keys_are_never_reused(any_store: Store) -> None:
    number = any_store.begin("starter")
    (first,) = any_store.insert(number, [document(any_store.collection("c"), "a", "x", "y")])
    number = any_store.begin("starter")
    (second,) = any_store.insert(number, [document(any_store.collection("c"), "a", "x")])
    any_store.finish(number, {})
    number = any_store.begin("starter")
    any_store.retire(number, [second.document])
    any_store.finish(number, {})
    any_store.purge(number)
    assert any_store.collections() == [], "a collection is deleted with its last document"
    (third,) = any_store.insert(any_store.begin("starter"), [document(any_store.collection("c"), "a", "x")])
    assert first.document < second.document < third.document
    assert max(first.passages) < second.passages[0] < third.passages[0]


def test_near_duplicates_share_two_of_three_sketches(any_store: Store) -> None:
    collection, number = any_store.collection("c"), any_store.begin("starter")
    big = 2**63 - 1
    one, two, three = any_store.insert(
        number,
        [
            document(collection, "one", sketches=(1, 2, big)),
            document(collection, "two", sketches=(1, 5, 6)),  # shares one
            document(collection, "three", sketches=(9, 2, big)),  # shares two with the first
        ],
    )
    (four,) = any_store.insert(number, [document(collection, "four", sketches=(9, 5, 6))])  # two with the second
    (five,) = any_store.insert(number, [document(collection, "five", sketches=(1, 2, big))])
    assert [d.duplicates for d in (one, two, three, four, five)] == [
        (None,), (None,), (one.passages[0],), (two.passages[0],), (one.passages[0],),
    ]  # fmt: skip
    assert any_store.counts().duplicates == 0, "nothing is current yet"
    any_store.finish(number, {})
    assert any_store.counts().duplicates == 3


def test_purging_a_passage_frees_its_duplicates(store: Store) -> None:
    collection, number = store.collection("c"), store.begin("starter")
    one, two = store.insert(number, [document(collection, name, sketches=(1, 2, 3)) for name in ("one", "two")])
    assert two.duplicates == one.passages
    store.retire(number, [one.document])
    (three,) = store.insert(number, [document(collection, "three", sketches=(1, 2, 3))])
    assert three.duplicates == two.passages
    store.finish(number, {})
    store.purge(number)
    duplicates = {d.external_id: d.passages[0].duplicate_of for d in store.stream_documents()}
    assert duplicates == {"two": None, "three": two.passages[0]}


def test_many_copies_of_one_text(store: Store) -> None:
    collection, number = store.collection("c"), store.begin("starter")
    copies = [document(collection, f"d{n}", sketches=(7, 8, 9)) for n in range(450)]
    inserted = store.insert(number, copies)
    assert {one.duplicates for one in inserted[1:]} == {inserted[0].passages}


def test_more_ids_than_one_statement_allows(any_store: Store) -> None:
    names = [f"d{n}" for n in range(603)]
    fill(any_store, *names)
    assert len(any_store.known(any_store.collection("c"), names)) == 603
    assert len(any_store.find(names)) == 603
    assert live_ids(any_store, batch=500) == names
    number = any_store.begin("starter")
    assert any_store.retire(number, any_store.of_collection("c")) == 603
    any_store.finish(number, {})
    assert any_store.purge(number) == 603


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


def test_threads_share_a_store(any_store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        for saved in [pool.submit(any_store.save_turn, question="q", answer={}, conversation="A") for _ in range(8)]:
            saved.result()
    assert (any_store.counts().turns, any_store.counts().conversations) == (8, 1)


KILLED = """
import os, signal, sys
from qa_bot.home.store import NewDocument, NewPassage, Store, documents, store as module
url, step = sys.argv[1], int(sys.argv[2])
calls = 0
original = module.writing
def writing(engine):
    global calls
    calls += 1
    if calls == step:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(engine)
store = Store.open(url)
module.writing, module.INSERT_BATCH = writing, 2
c = store.collection("c")
number = store.begin("starter")
store.retire(number, store.find(["a"])["a"])
store.insert(number, [NewDocument(c, n, n, n, "new", (NewPassage(n, 0, 1),)) for n in ("a", "n1", "n2")])
store.finish(number, {})
store.purge(number)
"""


@pytest.mark.parametrize("step", [3, 4, 5, 6])
def test_a_killed_writer_leaves_the_old_documents(any_store: Store, any_store_url: str, step: int) -> None:
    """Killed before its transaction 3 (retire), 4 and 5 (insert), 6 (finish)."""
    fill(any_store, "a", "b")
    before = list(any_store.stream_documents())
    killed = subprocess.run([sys.executable, "-c", KILLED, any_store_url, str(step)], check=False)
    assert killed.returncode == -9
    assert any_store.counts().documents == 2
    any_store.begin("starter")
    assert list(any_store.stream_documents()) == before


def test_writer_killed_before_the_purge_leaves_the_new_documents(any_store: Store, any_store_url: str) -> None:
    fill(any_store, "a", "b")
    killed = subprocess.run([sys.executable, "-c", KILLED, any_store_url, "7"], check=False)
    assert killed.returncode == -9
    assert any_store.counts().documents == 4
    number = any_store.begin("starter")
    assert sorted(live_ids(any_store)) == ["a", "b", "n1", "n2"]
    any_store.finish(number, {})
    assert any_store.purge(number) == 1, "the row that the dead writer did not delete"


WRITER = """
import sys
from qa_bot.home.store import NewDocument, NewPassage, Store
store = Store.open(sys.argv[1])
c, number = store.collection("c"), store.begin("starter")
print("ready", flush=True)
texts = tuple(NewPassage("word " * 150, 0, 750, (n, n + 1, n + 2)) for n in range(2))
store.insert(number, [NewDocument(c, str(n), "t", "b", "h", texts) for n in range(2000)])
"""


def test_turns_are_saved_while_another_process_adds(any_store: Store, any_store_url: str) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, any_store_url], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        saved = 0
        while writer.poll() is None:
            any_store.save_turn(question="q", answer={})
            saved += 1
    assert writer.returncode == 0
    assert saved > 1
    assert any_store.counts().turns == saved
