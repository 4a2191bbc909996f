"""Former ids of documents and files that are gone, on both kinds of database."""

from __future__ import annotations

import random

from qa_bot.home.store import Content, DepartedFile, PresentIds, Renaming, Store, Turn, with_present_ids
from qa_bot.home.store import aliases as stored_aliases
from qa_core.wall_clock import now
from tests.qa_bot.home.store.test_sources import insert


def renamed(time: float, *pairs: tuple[str, str]) -> list[Renaming]:
    return [Renaming(old, new, time, time) for old, new in pairs]


def present_ids(*renamings: Renaming) -> PresentIds:
    return PresentIds(("default", one) for one in renamings)


def test_a_former_id_means_the_document_that_had_it_at_the_time() -> None:
    present = present_ids(*renamed(1, ("a", "b")), *renamed(3, ("a", "c")), *renamed(5, ("b", "d")))
    assert [present("default", "a", time) for time in (0.5, 2, 4)] == ["d", "c", "a"]
    assert [present("default", "b", time) for time in (0.5, 2, 6)] == ["d", "d", "b"]
    assert present("other", "a", 0) == "a"


def test_documents_that_swap_their_ids() -> None:
    present = present_ids(*renamed(1, ("a", "b"), ("b", "a")), *renamed(2, ("b", "a"), ("a", "b")))
    assert [present("default", "a", time) for time in (0, 1, 2)] == ["a", "b", "a"]
    assert [present("default", "b", time) for time in (0, 1, 2)] == ["b", "a", "b"]


def test_a_document_that_was_away_has_its_new_id_since_it_is_back() -> None:
    """Meanwhile another document had the new id, and moved on."""
    present = present_ids(Renaming("a", "b", 1, 4), *renamed(2, ("b", "c")))
    assert (present("default", "a", 0), present("default", "b", 1), present("default", "a", 2)) == ("b", "c", "a")


def test_times_that_contradict_each_other_end_somewhere() -> None:
    assert present_ids(Renaming("a", "b", 5, 0), Renaming("b", "a", 5, 0))("default", "a", 0) == "b"


def test_any_renamings_are_followed() -> None:
    """Documents change their ids at random, in chains and swaps, and ids are used again."""
    chance = random.Random(4)
    for _ in range(50):
        ids, renamings = {number: f"id{number}" for number in range(6)}, list[Renaming]()
        seen: list[tuple[str, float, int]] = []
        for time in range(8):
            seen += [(id_, time, number) for number, id_ in ids.items()]
            numbers = chance.sample(sorted(ids), 3)
            places = [*chance.sample([ids[number] for number in numbers], 2), f"id{chance.randrange(6, 9)}"]
            if len({*ids.values()} - {ids[number] for number in numbers} | {*places}) == len(ids):
                changes = dict(zip(numbers, places, strict=True))
                renamings += renamed(time + 0.5, *((ids[number], id_) for number, id_ in changes.items()))
                ids |= changes
        present = present_ids(*(one for one in renamings if one.old != one.new))
        assert all(present("default", id_, time) == ids[number] for id_, time, number in seen)


def test_turns_name_present_ids() -> None:
    sources = [{"document": "a", "collection": "d"}, {"document": "a", "collection": "e"}, {"text": "t"}]
    turn = Turn("1", "q", {"answer": "x", "sources": sources}, asked=9.0, created=1.0)
    changed = with_present_ids(turn, PresentIds([("d", Renaming("a", "b", 2, 2))]))
    assert [source.get("document") for source in changed.answer["sources"]] == ["b", "a", None]
    no_sources = Turn("1", "q", {"answer": "x"})
    assert with_present_ids(no_sources, PresentIds([])) is no_sources


def test_former_ids_lead_to_the_present_document(any_store: Store) -> None:
    keys = insert(any_store, "c", "other", "e")
    collection = any_store.collection("default")
    any_store.sources.add_aliases(collection, renamed(1, ("a", "b"), ("other", "c"), ("reused", "e")))
    any_store.sources.add_aliases(collection, renamed(2, ("b", "c"), ("c", "c"), ("gone", "never")))
    any_store.sources.add_aliases(collection, renamed(3, ("reused", "b")))
    any_store.sources.add_aliases(collection, renamed(4, ("b", "other"), ("b", "other")))
    present = any_store.sources.present_ids()
    assert [present("default", id_, 0) for id_ in ("a", "b", "other", "reused")] == ["c", "c", "c", "e"]
    assert any_store.find(["a", "b", "other", "reused", "gone", "none"]) == {
        "a": (keys["c"],),
        "b": (keys["other"],),  # the last document that had it
        "other": (keys["other"],),  # a live document comes first
        "reused": (keys["other"],),
    }
    assert [document.external_id for document in any_store.with_id("a")] == ["c"]


def test_files_that_are_gone_are_remembered_for_a_while(any_store: Store, monkeypatch) -> None:
    def gone(number: int, departed: float) -> DepartedFile:
        return DepartedFile(Content(5, f"hash{number}"), f"{number}.md", {"": f"{number}.md"}, departed)

    store, start = any_store.sources, now()
    store.note_departed("default", [gone(1, start - 2), gone(2, start - 1), gone(3, start - stored_aliases.LIFETIME)])
    store.note_departed("default", [gone(2, start)])
    contents = [Content(5, f"hash{number}") for number in (1, 2, 3)]
    assert list(store.departed("default", contents)) == [gone(1, start - 2), gone(2, start)]
    assert list(store.departed("default", [Content(6, "hash1")])) == list(store.departed("other", contents)) == []
    store.forget_departed("default", contents[:1])
    assert list(store.departed("default", contents)) == [gone(2, start)]
    monkeypatch.setattr(stored_aliases, "DEPARTED", 1)
    store.note_departed("default", [gone(1, start + 1)])
    assert list(store.departed("default", contents)) == [gone(1, start + 1)]
