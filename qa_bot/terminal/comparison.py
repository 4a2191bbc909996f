"""A blind comparison in a terminal: two answers side by side if there is room, and the table of results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from qa_bot.learning.comparing.tables import format_p

if TYPE_CHECKING:
    from qa_bot.learning.comparing.blind import BlindPair
    from qa_bot.learning.comparing.tables import Row, Table

WIDE = 100
"""Columns of a terminal that shows two answers side by side."""
WIDEST = 200
"""Columns of the two at most; a file has no width."""
NO_ANSWER = "No answer."


def render_pair(pair: BlindPair, total: int) -> Group:
    """A pair as a judge sees it, without any name of a side."""
    heading = Text.assemble("\n", (f"{pair.position + 1} of {total}  ", "dim"), (pair.question or pair.body, "bold"))
    body = [Text(pair.body, style="dim")] if pair.question and pair.body else []
    return Group(heading, *body, _SideBySide(_answer("1", pair.first), _answer("2", pair.second)))


def render_table(table: Table) -> Group:
    """The table of a comparison, with its heading and its conclusion in words."""
    comparison = table.comparison
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for number, name in enumerate(("", "questions", "judged", "A", "tie", "B", "A − B", "p", "p rand.")):
        grid.add_column(name, justify="right" if number else "left", no_wrap=True)
    for row in table.rows:
        grid.add_row(*_cells(row))
    return Group(_heading(table), grid, Text(table.conclusion(f"A ({comparison.a})", f"B ({comparison.b})")))


@dataclass(frozen=True, slots=True)
class _SideBySide:
    """Two answers, one below the other in a narrow terminal."""

    first: Panel
    second: Panel

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < WIDE:
            yield from (self.first, self.second)
            return
        grid = Grid(show_header=False, box=None, padding=0, pad_edge=False, width=min(options.max_width, WIDEST))
        for _column in range(2):
            grid.add_column(ratio=1)
        grid.add_row(self.first, self.second)
        yield grid


def _answer(number: str, text: str) -> Panel:
    return Panel(Text(text) if text else Text(NO_ANSWER, style="dim italic"), title=number, title_align="left")


def _heading(table: Table) -> Text:
    comparison = table.comparison
    parts = [f"{len(comparison.pairs):,} questions, {comparison.identical:,} with identical answers"]
    parts += [f"{table.waiting:,} not judged yet"] * bool(table.waiting)
    parts += [f"{len(table.judges)} judges" if len(table.judges) != 1 else "1 judge"]
    parts += [f"Krippendorff's α {table.alpha:.2f}"] * (not math.isnan(table.alpha))
    return Text.assemble((f"\nA: {comparison.a}   B: {comparison.b}\n", "bold"), ", ".join(parts))


def _cells(row: Row) -> list[str]:
    shares = (f"{share:.0%}" for share in (row.prefer_a, row.tie, row.prefer_b))
    ps = (format_p(p).removeprefix("p = ").removeprefix("p ") for p in (row.p, row.p_randomised))
    spread = f"{row.difference:+.0%} [{row.low:+.0%}, {row.high:+.0%}]"
    return [row.grade, f"{row.questions:,}", f"{row.judgements:,}", *shares, spread, *ps]
