"""The command line shows, renames, exports and deletes conversations."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.journal import append, open_store


@pytest.fixture
def home_with_conversations(home: Path) -> Path:
    """A home with two conversations, one of them with a vote."""
    with open_store(Home.open(home), Config()) as store:
        answer = {"answer": "They *nap*.", "sources": [], "answered": True}
        first = store.save_turn(question="Why do cats sleep?", answer=answer, conversation="c1", asked=1.0)
        store.save_turn(question="And dogs?", answer={"reason": "None."}, conversation="c1", asked=2.0)
        store.save_turn(question="Other?", answer=answer, conversation="c2", asked=3.0)
        store.save_feedback(first, "up", "thanks")
    return home


def test_conversations_are_listed_and_shown(home_with_conversations, qa_bot) -> None:
    listed = qa_bot("conversations", "--json").json["conversations"]
    assert [(row["id"], row["title"], row["turns"]) for row in listed] == [
        ("c2", "Other?", 1),
        ("c1", "Why do cats sleep?", 2),
    ]
    assert len(qa_bot("conversations", "--limit", 1, "--json").json["conversations"]) == 1
    shown = qa_bot("conversations").out
    assert re.search(r"c1 +\d{4}-\d\d-\d\d \d\d:\d\d +2 +Why do cats sleep\?", shown)
    called = qa_bot("conversations", "show", "c1")
    assert called.out.startswith("# Why do cats sleep?\n\n2 questions, ")
    assert "They *nap*.\n\n*voted up: thanks*\n" in called.out
    whole = qa_bot("conversations", "show", "c1", "--json").json
    assert [turn["question"] for turn in whole["turns"]] == ["Why do cats sleep?", "And dogs?"]
    missing = qa_bot("conversations", "show", "c9")
    assert (missing.code, missing.out) == (3, "")
    assert "Expected the id of a conversation, but got 'c9'." in missing.err


def test_empty_list_of_conversations(qa_bot) -> None:
    assert qa_bot("conversations").out == "No conversations yet.\n"
    assert qa_bot("conversations", "--json").json == {"conversations": []}


def test_renaming_a_conversation(home_with_conversations, qa_bot) -> None:
    assert qa_bot("conversations", "rename", "c1", "  Cats\nand [dogs] ").code == 0
    assert qa_bot("conversations", "--json").json["conversations"][1]["title"] == "Cats and [dogs]"
    assert "Cats and [dogs]" in qa_bot("conversations").out
    assert qa_bot("conversations", "rename", "c1", " ").code == 2
    assert qa_bot("conversations", "rename", "c9", "x").code == 3


def test_exporting_a_conversation(home_with_conversations, qa_bot, tmp_path) -> None:
    out = tmp_path / "cats.md"
    assert qa_bot("conversations", "export", "c1", "--out", out).code == 0
    assert out.read_text() == qa_bot("conversations", "show", "c1").out
    again = qa_bot("conversations", "export", "c1", "--out", out, "--format", "json")
    assert (again.code, "add --force" in again.err) == (1, True)
    assert qa_bot("conversations", "export", "c1", "--out", out, "--format", "json", "--force").code == 0
    assert json.loads(out.read_text()) == qa_bot("conversations", "show", "c1", "--json").json
    assert qa_bot("conversations", "export", "c9", "--out", tmp_path / "none").code == 3
    assert not (tmp_path / "none").exists()


def test_deleted_conversations_are_gone_from_every_file(home_with_conversations, qa_bot) -> None:
    with open_store(Home.open(home_with_conversations), Config()) as store:
        turn = store.save_turn(question="kept? Xylophonist", answer={"a": "Xylophonist"}, conversation="c3", asked=4.0)
        store.save_feedback(turn, "down", "Xylophonist")
    assert any(b"Xylophonist" in path.read_bytes() for path in home_with_conversations.rglob("*") if path.is_file())
    called = qa_bot("conversations", "delete", "c3", "c9", "c1", "c1", "--json")
    assert (called.code, called.json) == (0, {"deleted": 2, "missing": ["c9"]})
    assert [row["id"] for row in qa_bot("conversations", "--json").json["conversations"]] == ["c2"]
    assert not [
        path for path in home_with_conversations.rglob("*") if path.is_file() and b"Xylophonist" in path.read_bytes()
    ]
    assert qa_bot("conversations", "delete", "c1").code == 3


def test_all_that_people_asked_is_gone_from_every_file(home_with_conversations, qa_bot) -> None:
    home = Home.open(home_with_conversations)
    with open_store(home, Config()) as store:
        turn = store.save_turn(question="Xylophonist?", answer={"a": "Xylophonist"}, conversation="c3", asked=4.0)
        store.save_feedback(turn, "down", "Xylophonist")
        store.save_turn(question="Xylophonist alone?", answer={}, conversation=None, asked=5.0)
        store.settle_gap("xylophonist settled")
    append(home, {"question": "A turn that is damaged, by a Xylophonist"})
    called = qa_bot("conversations", "delete", "--all", "--json")
    assert (called.code, called.json) == (0, {"deleted": 3, "questions": 1})
    assert "Backups and exports" in called.err
    files = [path for path in home_with_conversations.rglob("*") if path.is_file()]
    assert not [path for path in files if b"xylophonist" in path.read_bytes().lower()]
    assert qa_bot("conversations", "--json").json == {"conversations": []}
    assert qa_bot("conversations", "delete", "--all").code == 0
    assert qa_bot("status", "--json").json["documents"], "documents stay"


@pytest.mark.parametrize("name", ["upgrades", ".replaced"])
def test_copies_inside_the_home_that_hold_what_was_deleted_are_named(home_with_conversations, qa_bot, name) -> None:
    assert name not in qa_bot("conversations", "delete", "c1").err
    (home_with_conversations / name).mkdir()
    assert f"{home_with_conversations / name}, from before" in qa_bot("conversations", "delete", "c2").err


@pytest.mark.parametrize("arguments", [(), ("c1", "--all")])
def test_it_says_what_to_delete(home_with_conversations, qa_bot, arguments) -> None:
    assert qa_bot("conversations", "delete", *arguments).code == 2
    assert len(qa_bot("conversations", "--json").json["conversations"]) == 2
