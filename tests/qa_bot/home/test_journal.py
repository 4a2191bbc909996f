"""Turns stay in the journal until the store is opened; none is lost or stored twice."""

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.home import journal
from qa_bot.home.config import Config, load_config
from qa_bot.home.expiry import DAY
from qa_bot.home.folder import Home
from qa_bot.home.journal import append, open_store
from qa_bot.home.sections import ConversationsSection
from qa_bot.home.store import Store, StoreError

TURN = {"question": "Why?", "answer": {"answer": "Because."}, "timings": {"total": 0.1}, "asked": 5.0}


def stored(home):
    with open_store(home, load_config(home.path)) as store:
        return store.counts().turns


def test_turn_is_stored_when_the_store_is_opened(empty_home):
    append(empty_home, {"id": "a", **TURN})
    with open_store(empty_home, load_config(empty_home.path)) as store:
        turn = store.turn("a")
    assert (turn.question, turn.answer, turn.asked) == ("Why?", {"answer": "Because."}, 5.0)
    assert not list(empty_home.path.glob("turns*.jsonl"))
    assert stored(empty_home) == 1


def test_turns_of_a_killed_process_are_stored_once(empty_home):
    append(empty_home, {"id": "a", **TURN})
    assert stored(empty_home) == 1
    lines = [json.dumps({"id": id_, **TURN}) for id_ in "ab"]
    (empty_home.path / "turns.taken.jsonl").write_text("\n".join(lines) + '\n{"id": "cut sh')
    append(empty_home, {"id": "c", **TURN})
    assert stored(empty_home) == 3
    assert not list(empty_home.path.glob("turns*.jsonl"))


def test_many_writers_at_once(empty_home):
    with ThreadPoolExecutor(40) as pool:
        futures = [pool.submit(append, empty_home, {"id": str(i), **TURN}) for i in range(40)]
        counts = [stored(empty_home) for _ in range(3)]
    assert all(future.exception() is None for future in futures)
    assert sorted(counts) == counts
    assert stored(empty_home) == 40


def test_an_unusable_database_keeps_the_journal(empty_home):
    append(empty_home, {"id": "a", **TURN})
    (empty_home.path / "store.sqlite").write_text("this is no database, and never was one")
    with pytest.raises(StoreError):
        stored(empty_home)
    assert (empty_home.path / "turns.jsonl").exists()


def test_a_command_line_question_is_recorded(qa_bot, home):
    answer = qa_bot("ask", "Why do cats sleep all day?", "--json").json
    with Bot.open(home) as bot:
        assert bot.store.turn(answer["id"]).answer["answer"] == answer["answer"]


def test_full_journal_is_stored_automatically(home, monkeypatch):
    monkeypatch.setattr("qa_bot.bot.FULL", 0)
    with Bot.open(home) as bot:
        bot.ask("Why do cats sleep all day?")
    assert not (home / "turns.jsonl").exists()
    assert stored(Home.open(home)) == 1


def test_open_store_contains_the_latest_turn(home):
    with Bot.open(home) as bot:
        first = bot.ask("Why do cats sleep all day?")
        deadline = time.monotonic() + 10
        while not (home / "turns.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert bot.store.turn(first.id).question == "Why do cats sleep all day?"


def test_turn_after_a_truncated_one_is_stored(empty_home, caplog):
    append(empty_home, {"id": "a", **TURN})
    journal = empty_home.path / "turns.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"id": "killed", "ques')
    append(empty_home, {"id": "b", **TURN})
    with open_store(empty_home, load_config(empty_home.path)) as store:
        assert [store.has_turn(id_) for id_ in ("a", "killed", "b")] == [True, False, True]
    assert "a turn in the journal is damaged" in caplog.text.lower()
    assert (empty_home.path / "turns.damaged.jsonl").read_bytes() == b'{"id": "killed", "ques\n'


def test_append_does_not_wait_for_the_store(empty_home, monkeypatch):
    """Otherwise an answer would be delayed by the database."""
    taking, appended = threading.Event(), threading.Event()
    save = Store.save_new_turns

    def slowly(store, many):
        taking.set()
        assert appended.wait(10)
        save(store, many)

    append(empty_home, {"id": "a", **TURN})
    monkeypatch.setattr(Store, "save_new_turns", slowly)
    putting = threading.Thread(target=stored, args=(empty_home,))
    putting.start()
    assert taking.wait(10)
    append(empty_home, {"id": "b", **TURN})
    appended.set()
    putting.join()
    monkeypatch.undo()
    assert stored(empty_home) == 2


def test_repeated_turns_of_a_conversation_are_stored_once(empty_home):
    questions = [(0, "Why do cats sleep?"), (1, "And dogs?"), (1, "And dogs?"), (2, "And fish?")]  # one is repeated
    for i, question in questions:
        append(empty_home, {**TURN, "id": str(i), "question": question, "asked": float(i), "conversation": "c"})
    with open_store(empty_home, load_config(empty_home.path)) as store:
        assert [turn.question for turn in store.turns("c")] == ["Why do cats sleep?", "And dogs?", "And fish?"]
        (conversation,) = store.conversations()
    assert (conversation.title, conversation.turns) == ("Why do cats sleep?", 3)


# --- expiry ----------------------------------------------------------------------------------------------------------


def files_containing(home, text):
    """Names of a home's files that contain a text."""
    return [path.name for path in home.path.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_nothing_expires_by_default(empty_home):
    append(empty_home, {"id": "a", **TURN, "conversation": "c"})
    assert stored(empty_home) == 1


def test_expired_turns_are_gone_from_every_file(empty_home):
    now = time.time()
    for i, (created, conversation) in enumerate(((now - 3 * DAY, "old"), (now - 3 * DAY, None), (now, "new"))):
        text = "Xylophonist" if i < 2 else "Yodeller"
        turn = {"id": str(i), "question": text, "answer": {"answer": text}, "timings": {}, "asked": created}
        append(empty_home, {**turn, "conversation": conversation})
    with open_store(empty_home, Config()) as store:
        store.save_feedback("0", "down", "Xylophonist too")
    assert files_containing(empty_home, "Xylophonist")
    with open_store(empty_home, Config(conversations=ConversationsSection(keep=4))) as store:
        assert store.counts().turns == 3
    with open_store(empty_home, Config(conversations=ConversationsSection(keep=2.5))) as store:
        assert [conversation.id for conversation in store.conversations()] == ["new"]
        counts = store.counts()
        assert (counts.turns, counts.feedback) == (1, 0)
        assert files_containing(empty_home, "Xylophonist") == [], "even while it is open"
        assert files_containing(empty_home, "Yodeller")


def test_turns_in_the_journal_expire(empty_home):
    old = time.time() - 3 * DAY
    append(empty_home, {**TURN, "id": "a", "question": "Xylophonist", "conversation": "c", "asked": old})
    append(empty_home, {**TURN, "id": "b", "question": "Yodeller", "conversation": "d", "asked": time.time()})
    (empty_home.path / "turns.taken.jsonl").write_text(
        json.dumps({**TURN, "id": "c", "question": "Xylophonist", "asked": old}) + "\n"
    )
    with open_store(empty_home, Config(conversations=ConversationsSection(keep=1))) as store:
        assert [turn.id for turn, _ in store.stream_turns()] == ["b"]
    assert files_containing(empty_home, "Xylophonist") == []
    assert files_containing(empty_home, "Yodeller")


def test_new_question_prevents_expiry(empty_home):
    for id_, created in (("a", time.time() - 3 * DAY), ("b", time.time())):
        append(empty_home, {**TURN, "id": id_, "asked": created, "conversation": "c"})
    with open_store(empty_home, Config(conversations=ConversationsSection(keep=1))) as store:
        assert [turn.id for turn in store.turns("c")] == ["a", "b"]


def test_turn_in_the_journal_does_not_restore_a_deleted_conversation(empty_home):
    config = load_config(empty_home.path)
    append(empty_home, {**TURN, "id": "a", "asked": time.time(), "conversation": "c"})
    with open_store(empty_home, config) as store:
        began = time.time()
        store.delete_conversation("c")
        append(empty_home, {**TURN, "id": "b", "asked": began, "conversation": "c"})
    assert stored(empty_home) == 0


class FullDisk(FileIO):
    """Takes ten bytes of a line."""

    def write(self, data):
        return super().write(data[:10])


def test_a_full_disk_leaves_no_part_of_a_turn(empty_home, monkeypatch):
    append(empty_home, {"id": "a", **TURN})
    before = (empty_home.path / "turns.jsonl").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(journal, "FileIO", FullDisk)
        with pytest.raises(OSError, match="No space left"):
            append(empty_home, {"id": "b", **TURN})
    assert (empty_home.path / "turns.jsonl").read_bytes() == before
    append(empty_home, {"id": "c", **TURN})
    assert stored(empty_home) == 2


def test_a_turn_is_synced_with_its_folder(empty_home, monkeypatch):
    """After a loss of power a turn is there that was acknowledged: file and folder entry."""
    synced = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(Path(f"/proc/self/fd/{descriptor}").readlink()))
    append(empty_home, {"id": "a", **TURN})
    append(empty_home, {"id": "b", **TURN})
    file = empty_home.path / "turns.jsonl"
    assert synced == [file, empty_home.path, file]
