"""A sweep goes on with the outcomes of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.faults.outcomes import add, begin, recorded, table


def row(operation: str, point: int, *, kind: str = "kill", left: str = "before", points: int = 9, faults=()) -> Any:
    outcome = {"operation": operation, "kind": kind, "point": point, "left": left, "code": 0, "faults": list(faults)}
    return {**outcome, "points": points}


def test_rows_that_hold_are_kept_and_the_others_are_struck_again(tmp_path: Path) -> None:
    path, whole, other = tmp_path / "faults.jsonl", row("add", 1), row("vote", 7, points=16)
    begin(path, [whole, row("add", 2, faults=["left over: .tmp"]), row("ask", 1, points=3)])
    add(path, [other])
    with path.open("a") as file:
        file.write(json.dumps(row("add", 3))[:20])
    rows = recorded(path, {"add": 9, "ask": 4})
    assert rows == [whole, other]
    begin(path, rows)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [whole, other]
    assert recorded(tmp_path / "missing", {}) == []


def test_a_line_that_is_no_outcome_is_named(tmp_path: Path) -> None:
    path = tmp_path / "faults.jsonl"
    path.write_text(f'{json.dumps(row("add", 1))}\n{{"point": 2}}\n{json.dumps(row("add", 3))}\n')
    with pytest.raises(ValueError, match=r"faults\.jsonl:2: Expected an outcome of a sweep, but got '\{\"point"):
        recorded(path, {"add": 9})


def test_the_table_counts_points_once_and_states_by_kind() -> None:
    rows = [row("add", 1), row("add", 1, kind="EIO"), row("add", 2, left="after"), row("add", 3, left="", faults=["?"])]
    head, line, total = table(rows, {"add": 230}, ("kill", "EIO"))
    assert head.split() == ["operation", "points", "struck", "kill", "EIO"]
    assert line.split() == ["add", "230", "3", "1+2", "1", "wrong", "1+0"]
    assert total == "3 of 230 points, 4 outcomes, 1 wrong"
