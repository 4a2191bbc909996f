"""A database of each kind is copied to a SQLite file and back, with the same rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from qa_bot.home.store import NewDocument, NewPassage, Source, Store, StoreError
from qa_bot.home.store.copies.database_copy import copy_database, counts_of, replace_rows


def fill(url: str, text: str) -> None:
    with Store.open(url) as store:
        number, collection = store.begin("encoder"), store.collection("default")
        store.insert(number, [NewDocument(collection, "a", text, "", "0", (NewPassage(text, 0, len(text), (1, 2)),))])
        store.finish(number)
        store.sources.create(Source(1, "docs", "folder", "/docs", "default", {"format": None}))
        store.save_turn(question=text, answer={"answer": text, "sources": []}, id="t", conversation="c")
        store.save_feedback("t", "up")


def content(store: Store) -> list[object]:
    turns = [(turn.question, votes[0].vote) for turn, votes in store.stream_turns()]
    return [next(store.stream_documents()).title, turns, [source.name for source in store.sources.all()]]


def test_rows_go_out_and_back(new_store_url: Callable[[], str], tmp_path: Path) -> None:
    origin, other = new_store_url(), new_store_url()
    fill(origin, "Zwölf \x00 owls")
    fill(other, "something else")
    copy_database(origin, tmp_path / "copy.sqlite")
    assert counts_of(tmp_path / "copy.sqlite") == (1, 1, 1)
    replace_rows(other, tmp_path / "copy.sqlite")
    with Store.open(origin) as before, Store.open(other) as after:
        assert content(after) == content(before)
        assert [document.state for document in after.integrity.documents()] == ["sound"]
        assert list(after.integrity.altered_rows()) == after.integrity.faults() == []
        number = after.begin("encoder")
        assert after.collection("new") > after.collection("default"), "keys go on above the copied ones"
        after.save_feedback("t", "down")
        after.roll_back(number)


def test_a_copy_is_one_file(tmp_path: Path) -> None:
    fill(f"sqlite:///{tmp_path / 'store.sqlite'}", "owls")
    copy_database(f"sqlite:///{tmp_path / 'store.sqlite'}", tmp_path / "copy.sqlite")
    assert [path.name for path in tmp_path.glob("copy*")] == ["copy.sqlite"]


def test_a_damaged_database_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    fill(f"sqlite:///{path}", "owls " * 2000)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[4096:8192] = bytes(4096)
    path.write_bytes(data)
    with pytest.raises(StoreError, match="Expected"):
        copy_database(f"sqlite:///{path}", tmp_path / "copy.sqlite")
