"""Answers and their sources in a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from qa_bot.terminal.output import show_answer
from qa_core.types import Answer, AnswerSource


def test_a_source_is_shown_with_its_exact_place() -> None:
    source = AnswerSource(
        "a#0",
        "stock.xlsx",
        "firm",
        "Stock",
        "",
        1.0,
        "Nails, 40",
        (0, 9),
        (0, 9),
        heading=("Cellar", "Shelf 2"),
        page=3,
        row=17,
        date="2024-03-05T10:00:00Z",
        archived=True,
    )
    console = Console(file=io.StringIO(), width=200)
    show_answer(Answer("q", "Nails, 40", "passage", answered=True, confidence=0.9, sources=(source,)), console=console)
    shown = console.file.getvalue()
    assert "[1] Stock › Cellar › Shelf 2, page 3, row 17, 2024-03-05, archived  firm/stock.xlsx" in shown


def test_what_is_unknown_of_a_source_is_left_out() -> None:
    source = AnswerSource("a#0", "notes.txt", "firm", "", "", 1.0, "Nails, 40", (0, 9), (0, 9))
    console = Console(file=io.StringIO(), width=200)
    show_answer(Answer("q", "Nails, 40", "passage", answered=True, confidence=0.9, sources=(source,)), console=console)
    assert "[1] notes.txt  firm/notes.txt\n" in console.file.getvalue()
