"""Worked numbers for rates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.web.access.rates import TokenBuckets


def test_a_bucket_empties_and_fills() -> None:
    """Six a minute is one in ten seconds; three may come at once."""
    buckets = TokenBuckets(6, burst=3)
    for now, wait in [(0, 0), (0, 0), (0, 0), (0, 10), (4, 6), (10, 0), (10, 10), (1000, 0), (1000, 0), (1000, 0)]:
        assert buckets.wait("a", now) == pytest.approx(wait)
        buckets.take("a", now)
    assert buckets.wait("a", 1000) == pytest.approx(10), "what fills up stays at three"
    assert buckets.wait("b", 1000) == 0, "clients do not share"


def test_buckets_forget_who_came_longest_ago() -> None:
    buckets = TokenBuckets(1, burst=1, remembered=2)
    for client in ("a", "b", "a", "c"):
        buckets.take(client, 0)
    assert len(buckets) == 2
    assert [buckets.wait(client, 0) > 0 for client in ("a", "b", "c")] == [True, False, True]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 30)), max_size=80))
def test_requests_beyond_the_rate_are_rejected(visits: list[tuple[str, float]]) -> None:
    buckets, now, came = TokenBuckets(60, burst=5), 0.0, dict[str, list[float]]()
    for client, later in visits:
        now += later
        if not buckets.wait(client, now):
            came.setdefault(client, []).append(now)
        buckets.take(client, now)
    for times in came.values():
        for i, begin in enumerate(times):
            for count, end in enumerate(times[i:], start=1):
                assert count <= 5 + (end - begin) + 1e-6
