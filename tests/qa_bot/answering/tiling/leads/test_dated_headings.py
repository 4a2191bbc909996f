"""Answers below the heading that has the date."""

from __future__ import annotations

import pytest

from qa_bot.answering.tiling.answer_text import tile_leads
from qa_bot.answering.tiling.leads.dated_headings import dated_heading
from qa_core.text.sentences import sentences
from qa_core.types import Candidate, Clue, Passage, Place, Signals, Source

TEXT = "- Dark mode.\n- Export of plans as PDF."


def passage(*headings: str, title: str = "Release notes", text: str = TEXT) -> Passage:
    return Passage("n#0", text, Clue(), Source("n", title), Place(headings))


@pytest.mark.parametrize(
    ("question", "headings", "title", "expected"),
    [
        ("When was 3.2.0 released?", ("3.2.0 – 6 May 2024",), "Notes", "3.2.0 – 6 May 2024"),
        ("Wann war der Ausfall?", ("Ursache",), "Ausfall am 17. September 2024", "Ausfall am 17. September 2024"),
        ("On which date was it?", ("2024-09-17", "Cause"), "Outages", "2024-09-17"),
        ("What is new in 3.2.0?", ("3.2.0 – 6 May 2024",), "Notes", ""),
        ("When I export a plan, what is it?", ("3.2.0 – 6 May 2024",), "Notes", ""),
        ("When was 3.2.0 released?", ("Version 3.2.0", "§ 4.2.", "May it be so"), "Notes 10.4", ""),
    ],
)
def test_a_question_for_a_date_finds_the_heading_that_has_it(
    question: str, headings: tuple[str, ...], title: str, expected: str
) -> None:
    assert dated_heading(passage(*headings, title=title), question) == expected


def test_a_passage_with_a_date_needs_no_heading() -> None:
    dated = passage("3.2.0 – 6 May 2024", text="Released on 7 May 2024.")
    assert dated_heading(dated, "When was 3.2.0 released?") == ""


def test_the_answer_begins_with_the_heading_and_its_spans_stay_true() -> None:
    candidate = Candidate(passage("**3.2.0** – 6 May 2024"), 3.0, Signals(lead=(0, 12)))
    tiling = tile_leads([candidate], limit=300, sentences=sentences, question="When was 3.2.0 released?")
    assert tiling.text == f"**3.2.0 – 6 May 2024**\n\n{TEXT}"
    (tile,) = tiling.tiles
    assert tiling.text[slice(*tile.span)] == TEXT[slice(*tile.source_span)] == TEXT
    assert tiling.lead is not None
    assert tiling.text[slice(*tiling.lead)] == "- Dark mode."


def test_a_short_limit_leaves_the_heading_out() -> None:
    candidate = Candidate(passage("3.2.0 – 6 May 2024"), 3.0, Signals(lead=(0, 12)))
    tiling = tile_leads([candidate], limit=24, sentences=sentences, question="When was 3.2.0 released?")
    assert tiling.text.startswith("- Dark mode.")
