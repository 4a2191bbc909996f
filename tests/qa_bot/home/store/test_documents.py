"""Any sequence of finished and killed generations, against a dictionary."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from qa_bot.home.store import NewDocument, NewPassage, Store

names = st.sampled_from("abcde")
changes = st.lists(st.tuples(st.sampled_from(["put", "delete"]), names, st.integers(0, 9)), max_size=6)
generations = st.lists(st.tuples(changes, st.sampled_from(["finished", "killed", "published", "unpurged"])), max_size=5)


def apply(store: Store, number: int, changes: list[tuple[str, str, int]]) -> None:
    collection = store.collection("c")
    for verb, name, value in changes:
        old = store.known(collection, [name])
        if old:
            store.retire(number, [old[name].document])
        if verb == "put":
            passages = (NewPassage(f"{name}{value}", 0, 2, (value, value + 100, value + 200)),)
            store.insert(number, [NewDocument(collection, name, "t", "b", str(value), passages)])


def expected(before: dict[str, str], changes: list[tuple[str, str, int]]) -> dict[str, str]:
    after = dict(before)
    for verb, name, value in changes:
        after.pop(name, None)
        if verb == "put":
            after[name] = str(value)
    return after


@settings(max_examples=15)
@given(generations)
def test_only_what_was_published_stays(plan) -> None:
    oracle: dict[str, str] = {}
    published = None
    with tempfile.TemporaryDirectory() as folder, Store.open(f"sqlite:///{Path(folder) / 's.sqlite'}") as store:
        for changes, end in plan:
            number = store.begin("starter", published=published)
            apply(store, number, changes)
            if end != "killed":
                oracle, published = expected(oracle, changes), number
            if end in ("finished", "unpurged"):
                store.finish(number, {})
            if end == "finished":
                store.purge(number)
        store.begin("starter", published=published)
        assert {d.external_id: d.hash for d in store.stream_documents()} == oracle
        assert store.counts().documents == len(oracle)
