"""Ten damages of a home, by a fixed seed: each is told or harmless, and mended."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.corruption import KINDS, measure


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("no_shipped_voices")
def test_random_damages_are_told_and_mended() -> None:
    rows = list(measure(10, seed=4))
    assert [row["trial"] for row in rows] == list(range(10))
    assert {row["kind"] for row in rows} == set(KINDS)
    assert [row for row in rows if row["silently_wrong"] or row["traceback"]] == []
    assert [row for row in rows if not row["reported"] and not row["harmless"]] == []
    assert Counter(row["mended_by"] for row in rows).keys() <= {"repair", "restore", "nothing to mend"}
