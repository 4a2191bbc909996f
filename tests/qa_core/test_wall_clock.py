"""Time never goes back within a process."""

from __future__ import annotations

import pytest

from qa_core.wall_clock import STEP, now


def test_time_stands_nearly_still_until_the_clock_has_caught_up(monkeypatch) -> None:
    readings = iter([100.0, 100.5, 40.0, 41.0, 100.5 + STEP, 101.0])
    monkeypatch.setattr("time.time", lambda: next(readings))
    expected = [100.0, 100.5, 100.5 + STEP, 100.5 + 2 * STEP, 100.5 + 3 * STEP, 101.0]
    assert [now() for _ in expected] == pytest.approx(expected, abs=STEP / 10)
