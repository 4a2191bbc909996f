"""What is read of a passage."""

from __future__ import annotations

import pytest

from qa_bot.answering.verification.reading import read_text, whole_text, window
from qa_core.types import Candidate, Clue, Passage, Place, Signals, Source


def test_title_and_headings_are_read_before_the_window() -> None:
    text = "**Nine** euros. " + "word " * 100
    passage = Passage("a", text, Clue(), Source("a", title="Fees"), place=Place(heading=("Dogs",)))
    assert whole_text(Candidate(passage, 1.0)).startswith("Fees › Dogs. Nine euros. word")
    assert len(whole_text(Candidate(passage, 1.0))) > 500
    later = Candidate(passage, 1.0, Signals(lead=(400, 410)))
    assert read_text(Candidate(passage, 1.0)).startswith("Fees › Dogs. Nine euros. word")
    assert read_text(later).startswith("Fees › Dogs. word word")
    assert len(read_text(later)) < 380


@pytest.mark.parametrize(
    ("lead", "expected"),
    [
        (None, "one two th"),  # ten characters from the beginning
        ((8, 13), "two three fo"),  # three of the other five after the lead, two before it, from the word's beginning
        ((14, 23), "four five"),  # the lead at the end: one character before it, the blank
        ((0, 23), "one two th"),  # a longer lead is cut
    ],
)
def test_a_window_holds_the_lead_and_twice_as_much_after_as_before_it(lead, expected) -> None:
    assert window("one two three four five", lead, 10).strip() == expected


def test_a_short_text_is_read_whole() -> None:
    assert window("one two", (4, 7), 10) == window("one two", None, 10) == "one two"


ROWS = "".join(f"| Action {number} | Ctrl+{number} |\n" for number in range(10, 60))
HEADER = "| Action | Hotkey |\n| --- | --- |\n"


@pytest.mark.parametrize(
    ("before", "header", "expected"),
    [
        ("", HEADER, "Action | Hotkey\nAction"),
        ("Keys:\n\n", HEADER, "Action | Hotkey\nAction"),
        ("", f"| Action | {'Hotkey ' * 60}|\n| --- | --- |\n", ""),
        ("", "", ""),
    ],
)
def test_rows_are_read_below_their_header_unless_it_is_long(before: str, header: str, expected: str) -> None:
    text = f"{before}{header}{ROWS}\nPress them."
    lead = (text.index("| Action 40"), text.index("| Action 41") - 1)
    passage = Passage("a", text, Clue(), Source("a"))
    read = read_text(Candidate(passage, 1.0, Signals(lead=lead)))
    assert "Action 40 | Ctrl+40" in read
    assert read.startswith(expected)
    assert read.count("Hotkey") == bool(expected)


def test_the_first_rows_are_read_with_their_header_once() -> None:
    lead = (len(HEADER), len(HEADER) + 5)
    for signals in (Signals(), Signals(lead=lead)):
        read = read_text(Candidate(Passage("a", HEADER + ROWS, Clue(), Source("a")), 1.0, signals))
        assert read.startswith("Action | Hotkey\nAction 10 | Ctrl+10\nAction 11")
        assert read.count("Hotkey") == 1
