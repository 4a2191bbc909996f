"""The table of requirements names tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security.md"
NAMED = re.compile(r"`tests/([\w/]+\.py)::(\w+)`")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| \d+\.", line)]


@cache
def functions_of(file: str) -> set[str]:
    """Names of the test functions in a file below `tests`."""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_a_requirement_has_a_test(row: list[str]) -> None:
    chapter, requirement, how, test = row
    assert re.fullmatch(r"\d{1,2}\.\d{1,2}\.\d{1,2}", chapter)
    assert requirement
    assert how
    named = NAMED.fullmatch(test)
    assert named, test
    assert named[2] in functions_of(named[1]), f"{named[2]} is not in tests/{named[1]}"


def test_the_chapters_that_concern_us_have_rows() -> None:
    assert {int(row[0].partition(".")[0]) for row in ROWS} == {2, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14}
