"""The store on SQLite and on PostgreSQL: documents, generations, turns, conversations, killed writers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from qa_bot.home.store import NewDocument, NewPassage, Store, StoreError


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
from qa_bot.home.store import NewDocument, NewPassage, Store, store as module
original = module.writing
def writing(engine):
    print("transaction", flush=True)
    sys.stdin.readline()
    return original(engine)
store = Store.open(sys.argv[1])
c, number = store.collection("c"), store.begin("starter")
module.writing = writing
texts = tuple(NewPassage("word " * 150, 0, 750, (n, n + 1, n + 2)) for n in range(2))
store.insert(number, [NewDocument(c, str(n), "t", "b", "h", texts) for n in range(1000)])
"""


def test_turns_are_saved_while_another_process_adds(any_store: Store, any_store_url: str) -> None:
    """Adding 1,000 documents leaves the database free five times: each turn is saved between two transactions."""
    command = [sys.executable, "-c", WRITER, any_store_url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        saved = 0
        for _ in writer.stdout:
            any_store.save_turn(question="q", answer={})
            saved += 1
            writer.stdin.write("\n")
            writer.stdin.flush()
    assert writer.returncode == 0
    assert saved == 5
    assert any_store.counts().turns == saved
