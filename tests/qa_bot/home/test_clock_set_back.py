"""The computer's clock is set back by an hour: nothing is lost, brought back, or put in another order."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from qa_bot.backup.last import last_backup
from qa_bot.backup.schedule import backup_when_due
from qa_bot.backup.writing import backup
from qa_bot.bot import Bot
from qa_bot.documents.sync import add
from qa_bot.home.config import Config
from qa_bot.home.sections import BackupSection
from qa_bot.home.store import NotFoundError, Store, Turn
from tests.qa_bot.documents.stored import ROWS

HOUR = 3600.0


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
