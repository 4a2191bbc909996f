"""Singular and plural."""

from __future__ import annotations

import pytest

from qa_core.counted import counted


@pytest.mark.parametrize(("count", "text"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages"), (1000, "1,000 pages")])
def test_only_one_thing_is_singular(count: int, text: str) -> None:
    assert counted(count, "page") == text
