"""Rows that differ from their checksums are named, and only sound copies replace them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from qa_bot.home.store import NewDocument, NewPassage, Source, Store

CHANGES = {
    "title": "UPDATE documents SET title = 'Dogs' WHERE external_id = 'cats'",
    "details": "UPDATE documents SET details = '{\"date\": \"1999-01-01\"}' WHERE external_id = 'cats'",
    "unreadable details": "UPDATE documents SET details = '{\"da' WHERE external_id = 'cats'",
    "text": "UPDATE passages SET text = 'They never sleep.' WHERE text = 'They sleep.'",
    "span": "UPDATE passages SET start = 1 WHERE text = 'They sleep.'",
    "unreadable units": "UPDATE passages SET units = '[0, 1, 2]' WHERE text = 'They sleep.'",
    "lost passage": "DELETE FROM passages WHERE text = 'They sleep.'",
    "sketch": "UPDATE sketches SET value = 8 WHERE value = 7",
    "lost sketch": "DELETE FROM sketches WHERE value = 7",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """Three documents of one passage each, a turn and a vote."""
    with Store.open(f"sqlite:///{path}") as opened:
        number, collection = opened.begin("encoder"), opened.collection("default")
        texts = {"cats": "They sleep.", "owls": "They hunt at night.", "bees": "They dance."}
        opened.insert(
            number,
            [
                NewDocument(collection, id_, id_.title(), "", "0", (NewPassage(text, 0, len(text), (7, len(text))),))
                for id_, text in texts.items()
            ],
        )
        opened.finish(number)
        opened.save_turn(question="Why?", answer={"answer": "Because.", "sources": []}, id="first")
        opened.save_feedback("first", "up", "good")
        yield opened


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = ON")
        assert connection.execute(statement).rowcount


def altered(store: Store) -> list[str]:
    return [document.id for document in store.integrity.documents() if document.state == "altered"]


def test_rows_as_they_were_written_are_sound(store: Store) -> None:
    assert [(d.id, d.collection, d.state) for d in store.integrity.documents()] == [
        ("cats", "default", "sound"),
        ("owls", "default", "sound"),
        ("bees", "default", "sound"),
    ]
    assert (list(store.integrity.altered_rows()), store.integrity.faults()) == ([], [])


@pytest.mark.parametrize("statement", CHANGES.values(), ids=CHANGES)
def test_an_altered_document_is_named(store: Store, path: Path, statement: str) -> None:
    change(path, statement)
    assert "cats" in altered(store)
    assert set(altered(store)) <= ({"cats", "owls", "bees"} if "sketches" in statement else {"cats"})


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE turns SET question = 'How?'", [("turns", "first")]),
        ("UPDATE turns SET answer = '{\"answ'", [("turns", "first")]),
        ("UPDATE feedback SET vote = 'down'", [("feedback", 1)]),
    ],
)
def test_altered_turns_and_votes_are_named(store: Store, path: Path, statement: str, expected: object) -> None:
    change(path, statement)
    assert list(store.integrity.altered_rows()) == expected


def test_a_revised_answer_has_a_new_checksum(store: Store) -> None:
    store.revise_answer("first", lambda answer: {**answer, "answer": "Since 9 o'clock.\ud800"})
    assert list(store.integrity.altered_rows()) == []


def test_a_vote_for_a_missing_turn_is_a_fault(store: Store, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM turns")
    assert store.integrity.faults() == ["a row of feedback refers to a missing row of turns"]


def test_only_a_sound_copy_replaces_a_document(store: Store, path: Path) -> None:
    key = next(document.key for document in store.integrity.documents() if document.id == "cats")
    sound = store.integrity.content(key)
    assert sound is not None
    change(path, CHANGES["text"])
    wrong = store.integrity.content(key)
    assert wrong is not None
    assert not store.integrity.write(wrong)
    assert altered(store) == ["cats"]
    assert store.integrity.write(sound)
    assert altered(store) == []
    assert next(store.stream_documents()).passages[0].text == "They sleep."


def test_altered_documents_can_be_left_out_of_a_stream(store: Store, path: Path) -> None:
    change(path, CHANGES["unreadable details"])
    keys = [document.key for document in store.integrity.documents() if document.state == "altered"]
    assert [document.external_id for document in store.integrity.stream(keys)] == ["owls", "bees"]


def test_rows_without_checksums_are_sealed_except_some(store: Store, path: Path) -> None:
    store.save_turn(question="How?", answer={}, conversation="c")
    store.sources.create(Source(1, "docs", "folder", "/docs", "default", {}))
    for table in ("documents", "turns", "feedback", "conversations", "sources"):
        change(path, f"UPDATE {table} SET checksum = NULL")
    first, *_ = store.integrity.documents()
    assert {document.state for document in store.integrity.documents()} == {"unsealed"}
    assert store.integrity.seal([first.key]) == 2 + 2 + 1 + 1 + 1
    assert list(store.integrity.altered_rows()) == []
    assert [document.state for document in store.integrity.documents()] == ["unsealed", "sound", "sound"]
    assert store.integrity.unsealed() == 1


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE conversations SET title = 'Who?'", ("conversations", "c")),
        ("UPDATE conversations SET persona = 'x'", ("conversations", "c")),
        ("UPDATE sources SET place = '/elsewhere'", ("sources", 1)),
        ("UPDATE sources SET options = '{}'", ("sources", 1)),
        ("UPDATE sources SET options = '{'", ("sources", 1)),
    ],
)
def test_altered_conversations_and_sources_are_named_and_brought_back(
    store: Store, path: Path, statement: str, expected: tuple[str, object]
) -> None:
    store.save_turn(question="Hello!", answer={}, conversation="c")
    store.save_turn(question="Why?", answer={}, conversation="c")
    assert store.conversations()[0].title == "Why?", "renamed, as the checksum knows"
    store.rename_conversation("c", "Reasons")
    store.sources.create(Source(1, "docs", "folder", "/docs", "default", {"format": None}))
    store.sources.change(1, place="/moved", synced=5.0, error="")
    assert list(store.integrity.altered_rows()) == []
    copy = store.integrity.row(*expected)
    assert copy is not None
    change(path, statement)
    assert list(store.integrity.altered_rows()) == [expected]
    assert store.integrity.write_row(expected[0], copy)
    assert list(store.integrity.altered_rows()) == []
    assert store.conversations()[0].title == "Reasons"
    assert [(source.place, source.options) for source in store.sources.all()] == [("/moved", {"format": None})]


def test_a_change_of_an_altered_source_does_not_hide_the_damage(store: Store, path: Path) -> None:
    store.sources.create(Source(1, "docs", "folder", "/docs", "default", {}))
    change(path, "UPDATE sources SET collection = 'other'")
    store.sources.change(1, synced=5.0)
    assert list(store.integrity.altered_rows()) == [("sources", 1)]


def test_a_page_is_smaller_than_the_store(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qa_bot.home.store.integrity.rows.PAGE", 2)
    assert [document.id for document in store.integrity.documents()] == ["cats", "owls", "bees"]
    assert [document.external_id for document in store.integrity.stream()] == ["cats", "owls", "bees"]
