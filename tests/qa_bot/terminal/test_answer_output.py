"""Answers and their sources in a terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from qa_bot.terminal.answer_output import show_answer
from qa_core.types import Answer, AnswerSource, Choice, Styled, StyledLine


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


ROOMS = "| Room | Seats |\n| --- | --- |\n| Tern | 4 |"
NOTE = AnswerSource("a#0", "rooms.md", "firm", "Rooms", "", 1.0, ROOMS, (0, len(ROOMS)), (0, len(ROOMS)))


def shown(answer: Answer, *, terminal: bool) -> str:
    colours = "standard" if terminal else None
    console = Console(file=io.StringIO(), width=60, force_terminal=terminal, color_system=colours, highlight=False)
    show_answer(answer, console=console)
    return console.file.getvalue()


def test_an_answer_is_markdown_in_a_pipe_and_a_table_in_a_terminal() -> None:
    answer = Answer("q", ROOMS, "passage", answered=True, confidence=0.9, sources=(NOTE,), lead=(31, 43))
    assert f"\n{ROOMS}\n" in shown(answer, terminal=False)
    assert "|" not in shown(answer, terminal=True)
    assert "Tern" in shown(answer, terminal=True)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_date_is_shown_without_a_backslash(terminal: bool) -> None:
    answer = Answer("q", "3\\. November 2025", "passage", answered=True, confidence=0.9, sources=(NOTE,))
    assert "3. November 2025" in shown(answer, terminal=terminal)


def test_a_pipe_gets_whole_lines() -> None:
    text = "word " * 50
    answer = Answer("q", text, "passage", answered=True, confidence=0.9, sources=(NOTE,))
    assert text in shown(answer, terminal=False)


def test_an_unsure_answer_says_so_first() -> None:
    answer = Answer("q", "Four.", "passage", answered=True, confidence=0.2, unsure=True)
    assert shown(answer, terminal=False).startswith("I am not sure, this comes nearest:\n\nFour.\n")
    german = replace(answer, reason="Ich bin nicht sicher, das kommt am nächsten:")
    assert "Ich bin nicht sicher" in shown(german, terminal=False)


def test_a_refusal_names_what_could_be_asked_instead() -> None:
    choices = (Choice("Leave › Sick leave", "Leave › Sick leave"), Choice("Who pays?", "Who pays?"))
    refusal = Answer("q", "", "none", answered=False, confidence=0.1, reason="No.", choices=choices, suggested=True)
    output = shown(refusal, terminal=False)
    assert output.startswith(
        "I don't know. No.\n\nYour documents answer these:\n  1. Leave › Sick leave\n  2. Who pays?\n"
    )


def test_an_older_figure_stands_below_the_answer() -> None:
    answer = Answer("q", "30 days.", "passage", answered=True, confidence=0.9, former="Until 2024: 14 days.")
    assert "30 days.\n\nUntil 2024: 14 days.\n" in shown(answer, terminal=False)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (replace(NOTE, url="https://a.org/x.pdf", page=3), "Rooms, page 3  firm/rooms.md  https://a.org/x.pdf#page=3"),
        (replace(NOTE, url="https://a.org/x.pdf#p", page=3), "https://a.org/x.pdf#p\n"),
        (replace(NOTE, path="/docs/plan.pptx", page=4), "Rooms, slide 4  firm/rooms.md  /docs/plan.pptx\n"),
        (replace(NOTE, path="rooms.md", draft=True), "Rooms, draft  firm/rooms.md\n"),
        (replace(NOTE, title="Rooms\x1b[31m", heading=("Rooms\x1b[31m", "Top")), "[1] Rooms[31m › Top  firm"),
    ],
)
def test_a_source_names_where_it_opens(source: AnswerSource, expected: str) -> None:
    answer = Answer("q", "Four.", "passage", answered=True, confidence=0.9, sources=(source,))
    assert expected in shown(answer, terminal=False)


def test_the_lead_after_a_sentence_of_a_persona_is_bold() -> None:
    line = StyledLine("Ahoy!", "generated", "cook", 0.0)
    answer = Answer(
        "q",
        "Ahoy!\n\nOld. Four.",
        "styled",
        answered=True,
        confidence=0.9,
        sources=(replace(NOTE, span=(7, 17)),),
        styled=Styled("cook", "", (line,), (0, 5)),
        lead=(12, 17),
    )
    assert "Old. \x1b[1mFour.\x1b[0m" in shown(answer, terminal=True)


def test_labels_are_in_the_language_of_the_question() -> None:
    page = replace(NOTE, page=3)
    other = replace(NOTE, document="other.md", span=None, source_span=None, archived=True)
    answer = Answer("Wo ist der Raum Tern?", ROOMS, "passage", answered=True, confidence=0.4, sources=(page, other))
    german = shown(replace(answer, unsure=True, understood="Wo ist Tern?"), terminal=False)
    for label in (
        "verstanden als „Wo ist Tern?“",
        "Ich bin nicht sicher",
        "Quelle\n",
        "Seite 3",
        "Siehe auch",
        "archiviert",
    ):
        assert label in german
    assert "Konfidenz 0.40" in german
    assert "See also" in shown(replace(answer, question="Where is the room Tern?"), terminal=False)
    few_words = replace(answer, question="Raum Tern", text="Der Raum ist im ersten Stock, neben der Treppe.")
    assert "Siehe auch" in shown(few_words, terminal=False)
