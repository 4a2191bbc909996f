"""Rows of sources, their files and former ids of documents, on both kinds of database."""

from __future__ import annotations

import pytest

from qa_bot.home.store import NewDocument, NewPassage, Source, SourceFile, Store, StoreError


def file(path: str, *, stem: str = "", documents: int = 1) -> SourceFile:
    return SourceFile(path, stem or path, 10, 1_700_000_000_000_000_001, "h", "s", "read", documents)


def insert(store: Store, *ids: str, source: int | None = None) -> dict[str, int]:
    """Add documents whose files are their ids; keys by id."""
    collection, generation = store.collection("default"), store.begin("e")
    new = [
        NewDocument(collection, id_, "", "", id_, (NewPassage("text", 0, 4),), source=source, file=id_) for id_ in ids
    ]
    inserted = store.insert(generation, new)
    store.finish(generation)
    return {id_: document.document for id_, document in zip(ids, inserted, strict=True)}


@pytest.fixture
def docs(any_store: Store) -> Source:
    source = Source(any_store.sources.next_key(), "docs", "folder", "/team/docs", "default", {"format": "text"})
    any_store.sources.create(source)
    return source


def test_a_source_is_stored_and_changed(any_store: Store, docs: Source) -> None:
    assert any_store.sources.all() == [docs]
    any_store.sources.change(docs.id, name="papers", synced=5.0, error="gone")
    (changed,) = any_store.sources.all()
    assert (changed.name, changed.options, changed.synced, changed.error) == ("papers", {"format": "text"}, 5.0, "gone")
    with pytest.raises(StoreError):
        any_store.sources.create(Source(any_store.sources.next_key(), "papers", "folder", "/else", "default", {}))


def test_files_are_replaced_scoped_and_forgotten(any_store: Store, docs: Source) -> None:
    store = any_store.sources
    store.save_files(docs.id, [file("a.md"), file("sub/b.md"), file("sub2/c.md")])
    store.save_files(docs.id, [file("a.md", documents=7)])
    assert store.files(docs.id)["a.md"] == file("a.md", documents=7)
    assert [*store.files(docs.id, "sub")] == ["sub/b.md"]
    store.forget_files(docs.id, ["a.md", "unknown"])
    assert {*store.files(docs.id)} == {"sub/b.md", "sub2/c.md"}


def test_ids_that_files_of_other_places_have(any_store: Store, docs: Source) -> None:
    any_store.sources.save_files(docs.id, [file("a.md", stem="x/a.md")])
    assert list(any_store.sources.taken(["a.md", "x/a.md"], place="/else")) == ["x/a.md"]
    assert list(any_store.sources.taken(["x/a.md"], place="/team/docs")) == []


def test_documents_of_files_are_counted_and_claimed(any_store: Store, docs: Source) -> None:
    keys = insert(any_store, "a.md", "b.md", source=docs.id)
    keys |= insert(any_store, "c.md#one", "c.md")
    store = any_store.sources
    assert store.documents_by_file(docs.id) == {"a.md": 1, "b.md": 1}
    collection = any_store.collection("default")
    assert [(one.document, one.external_id) for one in store.unowned(collection)] == [(keys["c.md#one"], "c.md#one")]
    store.claim(docs.id, "a.md", [keys["c.md"]])
    assert [one.external_id for one in store.of_files(docs.id, ["a.md"])] == ["a.md", "c.md"]
    assert store.of_source(docs.id) == [keys["a.md"], keys["b.md"], keys["c.md"]]
    (info,) = store.infos()
    assert (info.files, info.documents, info.passages) == (0, 3, 3)


def test_an_inner_source_becomes_part_of_an_outer_one(any_store: Store, docs: Source) -> None:
    store = any_store.sources
    insert(any_store, "a.md", source=docs.id)
    store.save_files(docs.id, [file("a.md")])
    outer = Source(store.next_key(), "team", "folder", "/team", "default", {})
    store.create(outer)
    store.absorb(docs.id, outer.id, "docs")
    assert store.all() == [outer]
    assert store.files(outer.id) == {"docs/a.md": file("docs/a.md", stem="a.md")}
    assert store.documents_by_file(outer.id) == {"docs/a.md": 1}
