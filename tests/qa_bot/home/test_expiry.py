"""A clock that jumps far ahead deletes no conversation."""

from __future__ import annotations

import json

import pytest

from qa_bot.home.config import Config
from qa_bot.home.expiry import CLOCK, DAY, LEAP, TRIAL, ClockState
from qa_bot.home.folder import Home
from qa_bot.home.journal import append, open_store
from qa_bot.home.sections import ConversationsSection

TODAY = 1_700_000_000.0
YEARS = 3650 * DAY
KEEPING = Config(conversations=ConversationsSection(keep=30))
TURN = {"question": "Why?", "answer": {"answer": "Because."}, "timings": {"total": 0.1}}


def ask(home: Home, id: str, at: float) -> None:  # noqa: A002  (the turn's own name)
    append(home, {**TURN, "id": id, "conversation": id, "asked": at})


@pytest.fixture
def left(empty_home: Home, monkeypatch):
    """Conversations after the home was opened at a time."""

    def at(now: float, config: Config = KEEPING) -> list[str]:
        monkeypatch.setattr("time.time", lambda: now)
        with open_store(empty_home, config) as store:
            return sorted(conversation.id for conversation in store.conversations())

    return at


def test_a_far_time_is_doubted_until_the_clock_has_gone_on_for_a_week() -> None:
    seen = ClockState(TODAY)
    assert seen.at(TODAY + LEAP * DAY) == ClockState(TODAY + LEAP * DAY)
    assert seen.at(TODAY - YEARS) == ClockState(TODAY - YEARS)
    far = TODAY + LEAP * DAY + 1
    doubted = seen.at(far)
    assert doubted == ClockState(TODAY, far)
    assert doubted.at(far + TRIAL * DAY - 1) == doubted
    assert doubted.at(far + TRIAL * DAY) == ClockState(far + TRIAL * DAY)
    assert doubted.at(TODAY + 60) == ClockState(TODAY + 60), "it was set right"
    assert doubted.at(far + YEARS) == ClockState(TODAY, far + YEARS), "it jumped again"
    assert doubted.at(far + 2 * LEAP * DAY).at(far + DAY) == ClockState(TODAY, far + DAY), "still too far ahead"


@pytest.mark.parametrize("has_file", [True, False])
def test_conversations_stay_when_the_clock_jumps_ahead(empty_home: Home, left, caplog, has_file: bool) -> None:
    ask(empty_home, "a", TODAY)
    assert left(TODAY + DAY) == ["a"]
    if not has_file:
        (empty_home.path / CLOCK).unlink()
    ask(empty_home, "b", TODAY + YEARS)
    assert left(TODAY + YEARS) == ["a", "b"]
    assert "The clock says 2033-11-11, 3,6" in caplog.text
    assert "deleted after 2033-11-18" in caplog.text
    assert left(TODAY + 2 * DAY) == ["a", "b"]
    assert left(TODAY + 31 * DAY) == ["b"], "the clock was set right, and time passed"
    assert left(TODAY + 33 * DAY) == [], "what was used at the wrong time was used before it was set right"


def test_after_a_long_absence_conversations_go_a_week_later(empty_home: Home, left) -> None:
    ask(empty_home, "a", TODAY)
    assert left(TODAY + DAY) == ["a"]
    back = TODAY + 200 * DAY
    assert left(back) == left(back + 6 * DAY) == ["a"]
    assert left(back + 7 * DAY) == []
    assert json.loads((empty_home.path / CLOCK).read_text()) == {"seen": back + 7 * DAY, "doubted": None}


def test_a_home_in_use_needs_no_file(empty_home: Home, left) -> None:
    ask(empty_home, "old", TODAY - 200 * DAY)
    for day in (60, 8):
        ask(empty_home, f"{day} days ago", TODAY - day * DAY)
    assert left(TODAY) == ["8 days ago"]


@pytest.mark.parametrize("content", ["", "{}", '{"seen": "x", "doubted": null}', "[1]"])
def test_a_damaged_file_is_as_none(empty_home: Home, left, content: str) -> None:
    ask(empty_home, "a", TODAY)
    (empty_home.path / CLOCK).write_text(content)
    assert left(TODAY + YEARS) == ["a"]
    assert json.loads((empty_home.path / CLOCK).read_text()) == {"seen": TODAY, "doubted": TODAY + YEARS}


def test_a_full_disk_deletes_nothing_else(empty_home: Home, left, monkeypatch) -> None:
    ask(empty_home, "a", TODAY)
    assert left(TODAY) == ["a"]

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("qa_bot.home.expiry.atomic_file", full)
    assert left(TODAY + YEARS) == left(TODAY + YEARS + TRIAL * DAY) == ["a"]


def test_without_keep_no_file_is_written(empty_home: Home, left) -> None:
    ask(empty_home, "a", TODAY)
    assert left(TODAY + YEARS, Config()) == ["a"]
    assert not (empty_home.path / CLOCK).exists()


def test_single_questions_of_a_wrong_time_go_as_others(empty_home: Home, left, monkeypatch) -> None:
    assert left(TODAY) == []
    append(empty_home, {**TURN, "id": "a", "asked": TODAY + YEARS})
    assert left(TODAY + YEARS) == left(TODAY + DAY) == []
    for day, count in ((30, 1), (32, 0)):
        monkeypatch.setattr("time.time", lambda day=day: TODAY + day * DAY)
        with open_store(empty_home, KEEPING) as store:
            assert store.counts().turns == count
            assert [*store.integrity.altered_rows()] == []


def test_a_clock_without_a_battery_lets_nothing_be_older(empty_home: Home, left) -> None:
    """It begins in 1970 at each start, and is set a little later."""
    ask(empty_home, "a", TODAY)
    for day in range(20):
        assert left(TODAY + day * DAY) == ["a"]
        assert left(60.0 + day) == ["a"]
    assert left(TODAY + 20 * DAY) == ["a"]
