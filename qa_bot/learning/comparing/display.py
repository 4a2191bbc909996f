"""What a terminal shows of a comparison: two answers side by side where there is room, and the table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from qa_bot.learning.comparing.tables import shown_p

if TYPE_CHECKING:
    from qa_bot.learning.comparing.blind import Shown
    from qa_bot.learning.comparing.tables import Row, Table

WIDE = 100
"""Columns from which on two answers stand side by side."""
NO_ANSWER = "No answer."


def pair(shown: Shown, of: int) -> Group:
    """A pair as a judge sees it: which side is which stands nowhere."""
    heading = Text.assemble("\n", (f"{shown.place + 1} of {of}  ", "dim"), (shown.question or shown.body, "bold"))
    body = [Text(shown.body, style="dim")] if shown.question and shown.body else []
    return Group(heading, *body, _Both(_answer("1", shown.first), _answer("2", shown.second)))


def table(told: Table) -> Group:
    """The table with what it is of, and what it says in words."""
    comparison = told.comparison
    made = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for place, name in enumerate(("", "questions", "judged", "A", "tie", "B", "A − B", "p", "p rand.")):
        made.add_column(name, justify="right" if place else "left", no_wrap=True)
    for row in told.rows:
        made.add_row(*_cells(row))
    return Group(_heading(told), made, Text(told.conclusion(f"A ({comparison.a})", f"B ({comparison.b})")))


@dataclass(frozen=True, slots=True)
class _Both:
    """Two answers, beside each other where there is room."""

    first: Panel
    second: Panel

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < WIDE:
            yield from (self.first, self.second)
            return
        beside = Grid.grid(expand=True)
        for _column in range(2):
            beside.add_column(ratio=1)
        beside.add_row(self.first, self.second)
        yield beside


def _answer(number: str, text: str) -> Panel:
    return Panel(Text(text) if text else Text(NO_ANSWER, style="dim italic"), title=number, title_align="left")


def _heading(told: Table) -> Text:
    comparison = told.comparison
    parts = [f"{len(comparison.pairs):,} questions, {comparison.identical:,} with identical answers"]
    parts += [f"{told.waiting:,} not judged yet"] * bool(told.waiting)
    parts += [f"{len(told.judges)} judges" if len(told.judges) != 1 else "1 judge"]
    parts += [f"Krippendorff's α {told.alpha:.2f}"] * (not math.isnan(told.alpha))
    return Text.assemble((f"\nA: {comparison.a}   B: {comparison.b}\n", "bold"), ", ".join(parts))


def _cells(row: Row) -> list[str]:
    shares = (f"{share:.0%}" for share in (row.prefer_a, row.tie, row.prefer_b))
    ps = (shown_p(p).removeprefix("p = ").removeprefix("p ") for p in (row.p, row.p_randomised))
    spread = f"{row.difference:+.0%} [{row.low:+.0%}, {row.high:+.0%}]"
    return [row.grade, f"{row.questions:,}", f"{row.judgements:,}", *shares, spread, *ps]
