"""Comparisons in a terminal: answers side by side if they fit, and a table of at most eighty columns."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from qa_bot.learning.comparing.blind import BlindPair
from qa_bot.learning.comparing.comparison import Comparison, Pair
from qa_bot.learning.comparing.judgements import Judgement, Judgements
from qa_bot.learning.comparing.tables import table_of
from qa_bot.terminal.comparison import render_pair, render_table

SHOWN = BlindPair("q1", "Why [bold]so[/bold]?", "With details.", "The first answer.", "", 11)


def printed_lines(renderable: object, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(renderable)
    return out.getvalue().splitlines()


@pytest.mark.parametrize(("width", "beside"), [(120, True), (80, False)])
def test_answers_are_side_by_side_on_wide_terminals(width: int, beside: bool) -> None:
    lines = printed_lines(render_pair(SHOWN, 80), width)
    assert any("12 of 80  Why [bold]so[/bold]?" in line for line in lines)
    assert any("With details." in line for line in lines)
    (one,) = [line for line in lines if "The first answer." in line]
    assert ("No answer." in one) == beside
    assert sum("No answer." in line for line in lines) == 1
    assert max(map(len, lines)) <= width


def test_the_table_fits_a_terminal() -> None:
    pairs = tuple(Pair(f"q{n}", "?", "", "a", "b", n % 4) for n in range(1200))
    judged = {p.qid: {"ann": Judgement("ann", p.qid, "AB", "A" if n % 3 else "B")} for n, p in enumerate(pairs)}
    table = table_of(Comparison("n", "left", "right", 0, pairs), Judgements(judged))
    lines = printed_lines(render_table(table), 80)
    assert [line.split()[0] for line in lines[4:9]] == ["0", "1", "2", "3", "all"]
    assert lines[8].split()[:6] == ["all", "1,200", "1,200", "67%", "0%", "33%"]
    assert lines[8].split()[-4:] == ["<", ".001", "<", ".001"]
    assert not any("…" in line for line in lines)
