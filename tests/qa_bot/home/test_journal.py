"""Turns wait in the journal until the store is opened, and none is lost or told twice."""

import json
import threading
import time

import pytest

from qa_bot.bot import Bot
from qa_bot.home.config import Config, load_config
from qa_bot.home.folder import Home
from qa_bot.home.journal import DAY, append, open_store
from qa_bot.home.sections import ConversationsSection
from qa_bot.home.store import Store, StoreError

TURN = {"question": "Why?", "answer": {"answer": "Because."}, "timings": {"total": 0.1}, "asked": 5.0}


def stored(home):
    with open_store(home, load_config(home.path)) as store:
        return store.counts().turns


@pytest.fixture
def empty(tmp_path):
    return Home.open(tmp_path / "empty")


def test_a_turn_is_put_in_when_the_store_is_opened(empty):
    append(empty, {"id": "a", **TURN})
    with open_store(empty, load_config(empty.path)) as store:
        turn = store.turn("a")
    assert (turn.question, turn.answer, turn.asked) == ("Why?", {"answer": "Because."}, 5.0)
    assert not list(empty.path.glob("turns*.jsonl"))
    assert stored(empty) == 1


def test_what_a_killed_process_took_is_put_in_once(empty):
    append(empty, {"id": "a", **TURN})
    assert stored(empty) == 1
    lines = [json.dumps({"id": each, **TURN}) for each in "ab"]
    (empty.path / "turns.taken.jsonl").write_text("\n".join(lines) + '\n{"id": "cut sh')
    append(empty, {"id": "c", **TURN})
    assert stored(empty) == 3
    assert not list(empty.path.glob("turns*.jsonl"))


def test_many_writers_at_once(empty):
    writers = [threading.Thread(target=append, args=(empty, {"id": str(i), **TURN})) for i in range(40)]
    for writer in writers:
        writer.start()
    counts = [stored(empty) for _ in range(3)]
    for writer in writers:
        writer.join()
    assert sorted(counts) == counts
    assert stored(empty) == 40


def test_an_unusable_database_keeps_the_journal(empty):
    append(empty, {"id": "a", **TURN})
    (empty.path / "store.sqlite").write_text("this is no database, and never was one")
    with pytest.raises(StoreError):
        stored(empty)
    assert (empty.path / "turns.jsonl").exists()


def test_a_command_line_question_is_recorded(qa_bot, home):
    told = qa_bot("ask", "Why do cats sleep all day?", "--json").json
    with Bot.open(home) as bot:
        assert bot.store.turn(told["id"]).answer["answer"] == told["answer"]


def test_a_full_journal_is_taken_up_by_itself(home, monkeypatch):
    monkeypatch.setattr("qa_bot.bot.FULL", 0)
    with Bot.open(home) as bot:
        bot.ask("Why do cats sleep all day?")
    assert not (home / "turns.jsonl").exists()
    assert stored(Home.open(home)) == 1


def test_an_open_store_sees_what_was_just_asked(home):
    with Bot.open(home) as bot:
        first = bot.ask("Why do cats sleep all day?")
        deadline = time.monotonic() + 10
        while not (home / "turns.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert bot.store.turn(first.id).question == "Why do cats sleep all day?"


def test_a_turn_after_one_that_was_cut_short_is_whole(empty, caplog):
    append(empty, {"id": "a", **TURN})
    journal = empty.path / "turns.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"id": "killed", "ques')
    append(empty, {"id": "b", **TURN})
    with open_store(empty, load_config(empty.path)) as store:
        assert [store.has_turn(each) for each in ("a", "killed", "b")] == [True, False, True]
    assert "skipped a truncated turn" in caplog.text


def test_nobody_who_appends_waits_while_turns_are_put_in(empty, monkeypatch):
    """Whoever answers a question would hold up its asker for as long as the database takes."""
    taking, appended = threading.Event(), threading.Event()
    save = Store.save_new_turns

    def slowly(store, many):
        taking.set()
        assert appended.wait(10)
        save(store, many)

    append(empty, {"id": "a", **TURN})
    monkeypatch.setattr(Store, "save_new_turns", slowly)
    putting = threading.Thread(target=stored, args=(empty,))
    putting.start()
    assert taking.wait(10)
    append(empty, {"id": "b", **TURN})
    appended.set()
    putting.join()
    monkeypatch.undo()
    assert stored(empty) == 2


def test_turns_of_one_conversation_are_put_in_together(empty):
    asked = [(0, "Why do cats sleep?"), (1, "And dogs?"), (1, "And dogs?"), (2, "And fish?")]  # one told twice
    for i, question in asked:
        append(empty, {**TURN, "id": str(i), "question": question, "asked": float(i), "conversation": "c"})
    with open_store(empty, load_config(empty.path)) as store:
        assert [turn.question for turn in store.turns("c")] == ["Why do cats sleep?", "And dogs?", "And fish?"]
        (conversation,) = store.conversations()
    assert (conversation.title, conversation.turns) == ("Why do cats sleep?", 3)


# --- what is kept no longer -----------------------------------------------------------------------------------------


def holding(place, text):
    """Files of a home in which a text stands, plain or as JSON."""
    return [path.name for path in place.path.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_nothing_expires_unless_it_is_told_to(empty):
    append(empty, {"id": "a", **TURN, "conversation": "c"})
    assert stored(empty) == 1


def test_what_was_not_used_for_long_enough_is_gone_from_every_file(empty):
    now = time.time()
    for i, (asked, conversation) in enumerate(((now - 3 * DAY, "old"), (now - 3 * DAY, None), (now, "new"))):
        text = "Xylophonist" if i < 2 else "Yodeller"
        turn = {"id": str(i), "question": text, "answer": {"answer": text}, "timings": {}, "asked": asked}
        append(empty, {**turn, "conversation": conversation})
    with open_store(empty, Config()) as store:
        store.save_feedback("0", "down", "Xylophonist too")
    assert holding(empty, "Xylophonist")
    with open_store(empty, Config(conversations=ConversationsSection(keep=4))) as store:
        assert store.counts().turns == 3
    with open_store(empty, Config(conversations=ConversationsSection(keep=2.5))) as store:
        assert [each.id for each in store.conversations()] == ["new"]
        counts = store.counts()
        assert (counts.turns, counts.feedback) == (1, 0)
        assert holding(empty, "Xylophonist") == [], "even while it is open"
        assert holding(empty, "Yodeller")


def test_what_waits_in_the_journal_expires_too(empty):
    append(empty, {**TURN, "id": "a", "question": "Xylophonist", "conversation": "c"})  # asked in 1970
    append(empty, {**TURN, "id": "b", "question": "Yodeller", "conversation": "d", "asked": time.time()})
    (empty.path / "turns.taken.jsonl").write_text(json.dumps({**TURN, "id": "c", "question": "Xylophonist"}) + "\n")
    with open_store(empty, Config(conversations=ConversationsSection(keep=1))) as store:
        assert [each.id for each, _ in store.stream_turns()] == ["b"]
    assert holding(empty, "Xylophonist") == []
    assert holding(empty, "Yodeller")


def test_a_new_question_keeps_its_conversation(empty):
    for id_, asked in (("a", 5.0), ("b", time.time())):
        append(empty, {**TURN, "id": id_, "asked": asked, "conversation": "c"})
    with open_store(empty, Config(conversations=ConversationsSection(keep=1))) as store:
        assert [turn.id for turn in store.turns("c")] == ["a", "b"]


def test_an_answer_that_waits_does_not_bring_a_deleted_conversation_back(empty):
    config = load_config(empty.path)
    append(empty, {**TURN, "id": "a", "asked": time.time(), "conversation": "c"})
    with open_store(empty, config) as store:
        began = time.time()
        store.delete_conversation("c")
        append(empty, {**TURN, "id": "b", "asked": began, "conversation": "c"})
    assert stored(empty) == 0
