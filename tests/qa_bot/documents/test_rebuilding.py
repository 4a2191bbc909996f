"""An index that is built again: after another analyser or encoder, and by repair."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.documents.first_fill import rebuild_unreadable
from qa_bot.documents.index_update import ChangeError
from qa_bot.documents.sync import add, delete, repair, switch_encoder
from qa_bot.home import index, index_writer
from qa_bot.home.folder import Home
from qa_bot.home.generations import CorruptGenerationError
from qa_bot.home.index import Manifest
from tests.qa_bot.documents.stored import (
    BREAD,
    CONFIG,
    ROWS,
    by_keyword,
    by_vector,
    counts,
    generation_number,
    generation_of,
    manifest,
    stored_documents,
)


@pytest.fixture
def newer_analyser(four: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "ANALYSER_VERSION", "newer/2")
    monkeypatch.setattr(index_writer, "ANALYSER_VERSION", "newer/2")
    monkeypatch.setattr(index, "READABLE_ANALYSERS", frozenset())


@pytest.mark.usefixtures("newer_analyser")
def test_an_index_of_another_analyser_is_not_searched(four) -> None:
    with pytest.raises(CorruptGenerationError, match="qa-bot/3, but this version has newer/2; run `qa-bot rep"):
        index.Index(generation_of(four))


@pytest.mark.usefixtures("newer_analyser")
def test_an_index_of_another_analyser_is_rebuilt_before_it_is_changed(four, encoder, write_lines) -> None:
    assert counts(add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)], collection="facts")) == (1, 0, 0, 0)
    assert delete(four, CONFIG, encoder, ids=["tea"]) == (1, [])
    assert manifest(four).analyser == "newer/2"
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "bread"}


@pytest.mark.usefixtures("newer_analyser")
def test_a_home_of_another_analyser_is_rebuilt_once(four, encoder, caplog) -> None:
    assert rebuild_unreadable(four, CONFIG, lambda: encoder)
    assert "it is rebuilt from the database" in caplog.text
    assert not rebuild_unreadable(four, CONFIG, lambda: encoder)
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "tea"}


def test_a_manifest_without_an_analyser_is_of_the_first_one(four) -> None:
    generation = generation_of(four)
    old = {name: value for name, value in generation.manifest.items() if name != "analyser"}
    assert Manifest.of(replace(generation, manifest=old)).analyser == "qa-bot-english/1"


def test_switching_the_encoder_reencodes_everything(four, encoder, other_encoder) -> None:
    text = f"{ROWS[2]['title']}\n{ROWS[2]['text']}"
    switch_encoder(four, CONFIG, other_encoder, name="other")
    assert by_vector(four, other_encoder, text)[0] > 0.99
    assert by_vector(four, encoder, text)[0] < 0.5
    assert (manifest(four).encoder, manifest(four).fingerprint) == ("other", other_encoder.fingerprint)
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "tea"}


def test_adding_nothing_new_with_another_encoder_must_reencode(four, other_encoder, write_lines) -> None:
    added = add(four, CONFIG, other_encoder, [write_lines("a.jsonl", *ROWS)], collection="facts")
    assert counts(added) == (0, 0, 4, 0)
    assert by_vector(four, other_encoder, f"{ROWS[2]['title']}\n{ROWS[2]['text']}")[0] > 0.99


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda index: (index / "CURRENT").write_text("garbage"),
        lambda index: (index / "CURRENT").write_bytes(b""),
        lambda index: remove(index / "CURRENT"),
        lambda index: remove(index / "00000002"),
        lambda index: remove(index / "00000002" / "manifest.json"),
        lambda index: (index / "00000002" / "manifest.json").write_text("{"),
        lambda index: [remove(path) for path in index.iterdir()],
        lambda index: remove(index),
    ],
    ids=["garbage", "empty", "no CURRENT", "no folder", "no manifest", "cut manifest", "nothing", "no index"],
)
def test_repair_rebuilds_from_the_store(four, encoder, write_lines, spoil) -> None:
    add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)], collection="facts")
    before = stored_documents(four)
    spoil(four.index)
    with pytest.raises((CorruptGenerationError, ChangeError), match="run `qa-bot repair`"):
        add(four, CONFIG, encoder, [write_lines("c.jsonl", {**BREAD, "_id": "c"})])
    with pytest.raises((CorruptGenerationError, ChangeError), match="run `qa-bot repair`"), Bot.open(four.path) as bot:
        bot.ask("Why?")
    assert repair(four, CONFIG, encoder) == 5
    assert stored_documents(four) == before
    add(four, CONFIG, encoder, [write_lines("c.jsonl", {**BREAD, "_id": "c"})], collection="facts")
    assert len(stored_documents(four)) == 6


def test_repair_of_an_empty_home_leaves_it_empty(empty_home, encoder) -> None:
    assert repair(empty_home, CONFIG, encoder) == 0
    assert generation_number(empty_home) is None


def test_lost_database_is_reported(four, encoder, write_lines) -> None:
    for path in four.path.glob("store.sqlite*"):
        path.unlink()
    for change in (
        lambda: add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)]),
        lambda: repair(four, CONFIG, encoder),
    ):
        with pytest.raises(ChangeError, match="but got an empty one; bring back a backup"):
            change()
    assert by_keyword(four, "vinegar") == 1
