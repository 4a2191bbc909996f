"""The clock is set back by an hour, or jumps years ahead and back: nothing is lost, brought back or reordered."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from qa_bot.backup.schedule import backup_when_due
from qa_bot.backup.writing import backup
from qa_bot.bot import Bot
from qa_bot.documents.sync import add
from qa_bot.home.checks.last_backup import last_backup
from qa_bot.home.config import Config
from qa_bot.home.sections import BackupSection
from qa_bot.home.store import NotFoundError, Store, Turn
from qa_core import wall_clock
from tests.qa_bot.documents.stored import ROWS

HOUR = 3600.0
YEARS = 3650 * 86_400.0


@pytest.fixture
def clock(monkeypatch):
    """Call it with the seconds to add to the time."""
    real, shift = time.time, [0.0]
    monkeypatch.setattr("time.time", lambda: real() + shift[0])
    return lambda seconds: shift.__setitem__(0, shift[0] + seconds)


def test_turns_keep_their_order_and_a_new_conversation_its_turns(home, clock) -> None:
    with Bot.open(home, flags={"ranking.effort": "low"}) as bot:
        bot.ask("Why do cats sleep all day?", conversation="c")
        assert len(bot.store.turns("c")) == 1
        clock(-HOUR)
        bot.ask("What causes the tides?", conversation="c")
        assert [turn.question[:4] for turn in bot.store.turns("c")] == ["Why ", "What"]
        bot.delete_conversation("c")
        bot.ask("Why do cats purr?", conversation="c")
        assert [turn.question for turn in bot.store.turns("c")] == ["Why do cats purr?"]


def test_a_late_answer_does_not_bring_a_deleted_conversation_back(store: Store, clock) -> None:
    """The answer and the deletion are of processes that see different times."""
    ahead = time.time() + HOUR
    first = Turn("a", "Why?", {}, "", "c", {}, asked=ahead, created=ahead)
    store.save_new_turns([first])
    store.delete_conversation("c")
    store.save_new_turns([replace(first, id="b", asked=ahead - 1, created=ahead - 1)])
    with pytest.raises(NotFoundError):
        store.turns("c")


def test_a_conversation_is_never_used_earlier_than_before(store: Store) -> None:
    store.save_new_turns([Turn("a", "Why?", {}, "", "c", {}, asked=500.0, created=500.0)])
    store.save_new_turns([Turn("b", "How?", {}, "", "c", {}, asked=400.0, created=400.0)])
    assert [info.updated for info in store.conversations()] == [500.0]


def test_a_settled_question_stays_settled(store: Store, clock) -> None:
    store.save_turn(question="Why?", answer={"kind": "none", "answered": False})
    (gap,), _ = store.gaps()
    clock(-HOUR)
    store.settle_gap(gap.key)
    assert store.gaps() == ([], 0)


def test_backups_keep_their_order_and_the_schedule_goes_on(empty_home, encoder, write_lines, clock, tmp_path) -> None:
    add(empty_home, Config(), encoder, [write_lines("a.jsonl", *ROWS)])
    config = replace(Config(), backup=BackupSection(every="1d", to=str(tmp_path / "backups")))
    first = backup(empty_home, config, tmp_path / "backups")
    assert backup_when_due(empty_home, config) is None
    clock(-HOUR)
    second = backup_when_due(empty_home, config)
    assert second is not None
    assert second.name > first.name
    last = last_backup(empty_home)
    assert last is not None
    assert (last.name, last.made < time.time() + 1) == (second.name, True)
    assert backup_when_due(empty_home, config) is None, "not before each command"


def test_a_file_that_is_changed_within_the_repeated_hour_is_read_again(empty_home, encoder, tmp_path, clock) -> None:
    file = tmp_path / "note.md"
    file.write_text("# Bread\n\nYeast gives off gas.\n")
    add(empty_home, Config(), encoder, [file])
    state = file.stat()
    clock(-HOUR)
    file.write_text("# Bread\n\nYeast likes warmth.\n"[: state.st_size].ljust(state.st_size, "\n"))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns - 3_600_000_000_000))
    report = add(empty_home, Config(), encoder, [file])
    assert report.updated == 1


# --- years ahead and back -------------------------------------------------------------------------------------------


@pytest.fixture(params=["the same process", "another one"])
def come_back(request, clock, monkeypatch):
    """Call it to set the clock right; the process is then another one, or the same."""

    def come_back() -> None:
        clock(-YEARS)
        if request.param == "another one":
            monkeypatch.setattr(wall_clock, "_last", 0.0)

    return come_back


def ask(store: Store, question: str, conversation: str | None = "c", *, answered: bool = True) -> str:
    answer = {"kind": "passage" if answered else "none", "answered": answered}
    return store.save_turn(question=question, answer=answer, conversation=conversation)


def test_turns_keep_the_order_of_writing_and_new_ones_have_the_right_time(home, clock, come_back) -> None:
    right = time.time()
    with Bot.open(home, flags={"ranking.effort": "low"}) as bot:
        bot.ask("Why do cats sleep all day?", conversation="c")
        clock(YEARS)
        bot.ask("What causes the tides?", conversation="c")
        come_back()
        bot.ask("Why do cats purr?", conversation="c")
        bot.ask("Do fish sleep?", conversation="c")
        bot.ask("Why is the sky blue?", conversation="new")
        turns = bot.store.turns("c")
        assert [turn.question.split()[-1] for turn in turns] == ["day?", "tides?", "purr?", "sleep?"]
        assert [turn.id for turn in bot.store.last_turns("c", 2)] == [turn.id for turn in turns[2:]]
        assert [turn.created - right < HOUR for turn in turns] == [True, False, True, True]
        (new,) = bot.store.turns("new")
        assert max(new.asked, new.created) - right < HOUR
        assert [info.id for info in bot.store.conversations()] == ["new", "c"], "the last used first"
        assert all(info.updated - right < HOUR for info in bot.store.conversations())


def test_an_hour_ahead_and_a_restart_keep_the_order_of_writing(store: Store, clock, monkeypatch) -> None:
    clock(HOUR)
    ask(store, "first")
    clock(-HOUR)
    monkeypatch.setattr(wall_clock, "_last", 0.0)
    store.save_new_turns([Turn(name, name, {}, "", "c", {}, time.time(), time.time()) for name in ("second", "third")])
    assert [turn.question for turn in store.turns("c")] == ["first", "second", "third"]
    assert [*store.integrity.altered_rows()] == [], "their checksums are those of the times that are stored"


def test_a_turn_that_waited_in_a_journal_stays_at_its_time(store: Store) -> None:
    for name, at in (("late", 500.0), ("early", 400.0)):
        store.save_new_turns([Turn(name, name, {}, "", "c", {}, asked=at, created=at)])
    assert [turn.question for turn in store.turns("c")] == ["early", "late"]


def test_votes_keep_their_order_and_have_the_right_time(store: Store, clock, come_back) -> None:
    right, turn = time.time(), ask(store, "Why?")
    clock(YEARS)
    store.save_feedback(turn, "up")
    come_back()
    store.save_feedback(turn, "down")
    assert [vote.vote for vote in store.feedback(turn)] == ["up", "down"]
    assert store.feedback(turn)[-1].created - right < HOUR
    assert store.last_feedback("c")[turn].vote == "down"


def test_a_conversation_deleted_at_a_wrong_time_can_begin_anew(store: Store, clock, come_back) -> None:
    ask(store, "Why?")
    clock(YEARS)
    store.delete_conversation("c")
    come_back()
    ask(store, "How?")
    assert [turn.question for turn in store.turns("c")] == ["How?"]


def test_a_conversation_of_a_wrong_time_stays_deleted(store: Store, clock, come_back) -> None:
    before = time.time()
    clock(YEARS)
    ask(store, "Why?")
    come_back()
    store.delete_conversation("c")
    store.save_new_turns([Turn("late", "How?", {}, "", "c", {}, asked=before, created=before)])
    with pytest.raises(NotFoundError):
        store.turns("c")


def test_a_question_settled_at_a_wrong_time_is_listed_when_it_is_asked_again(store: Store, clock, come_back) -> None:
    first = ask(store, "Why?", answered=False)
    clock(YEARS)
    ask(store, "Why?", answered=False)
    (gap,), _ = store.gaps()
    assert store.settle_gap(gap.key) == 2
    come_back()
    again = ask(store, "Why?", answered=False)
    (gap,), _ = store.gaps()
    assert gap.asked == 1
    clock(3 * 86_400.0)
    store.save_feedback(again, "down")
    assert store.gaps()[0][0].downvoted == 1, "it stays listed"
    store.settle_gap(gap.key)
    assert store.gaps() == ([], 0)
    store.save_feedback(first, "up")
    assert store.gaps() == ([], 0)


def test_a_question_of_a_wrong_time_that_was_settled_is_listed_when_it_is_asked_again(
    store: Store, clock, come_back
) -> None:
    clock(YEARS)
    ask(store, "Why?", answered=False)
    come_back()
    (gap,), _ = store.gaps()
    assert store.settle_gap(gap.key) == 1
    assert store.gaps() == ([], 0)
    ask(store, "Why?", answered=False)
    assert store.gaps()[1] == 1
