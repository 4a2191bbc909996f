"""Time does not go back within a process, unless the clock had jumped ahead."""

from __future__ import annotations

import pytest

from qa_core.wall_clock import AHEAD, STEP, after, is_ahead, now


def test_time_stands_nearly_still_until_the_clock_has_caught_up(monkeypatch) -> None:
    readings = iter([100.0, 100.5, 40.0, 41.0, 100.5 + STEP, 101.0])
    monkeypatch.setattr("time.time", lambda: next(readings))
    expected = [100.0, 100.5, 100.5 + STEP, 100.5 + 2 * STEP, 100.5 + 3 * STEP, 101.0]
    assert [now() for _ in expected] == pytest.approx(expected, abs=STEP / 10)


def test_a_clock_that_had_jumped_ahead_is_followed_back(monkeypatch) -> None:
    ahead = 200.0 + AHEAD
    readings = iter([100.0, ahead, 200.0, 201.0])
    monkeypatch.setattr("time.time", lambda: next(readings))
    assert [now() for _ in range(3)] == [100.0, ahead, ahead + STEP], "a day may be a zone of time"
    assert now() == pytest.approx(ahead + 2 * STEP)
    readings = iter([ahead + 1, 200.0, 201.0, 201.0, 201.0])
    assert [now() for _ in range(3)] == [ahead + 1, 200.0, 201.0]
    assert is_ahead(ahead + 2)
    assert not is_ahead(ahead)


@pytest.mark.parametrize("time", [0.0, 1.7e9, 2.5e11, 1e18])
def test_there_is_a_later_time_than_any(time: float) -> None:
    assert time < after(time) <= time + 1e-5 * max(1.0, time)
