"""Ten damages of a home, by a fixed seed: each is reported or harmless, and mended."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.corruption import measure


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_random_damages_are_told_and_mended(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("qa_bot.answering.models.personas.SHIPPED", tmp_path / "no voices")  # they load for seconds
    rows = list(measure(10, seed=8))
    assert len(rows) == 10
    assert [row for row in rows if row["silently_wrong"] or row["traceback"]] == []
    assert [row for row in rows if not row["reported"] and not row["harmless"]] == []
    assert Counter(row["mended_by"] for row in rows).keys() <= {"repair", "restore", "nothing to mend"}
