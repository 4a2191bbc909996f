"""Versions of one statement: the current figure is the answer, the older one is named with its date."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qa_bot.answering.tiling.answer_text import tile_leads
from qa_bot.answering.tiling.versions import versions_of, year_of_end
from qa_core.text.sentences import sentences
from qa_core.types import Candidate, Clue, Details, Passage, Place, Signals, Source

NEW_TEXT = "The notice period is 30 days for every plan."
OLD_TEXT = "The notice period was 14 days for each plan."
QUESTION = "How long is the notice period?"


def candidate(name: str, text: str, *, score: float = 3.0, date: str = "", archived: bool = False) -> Candidate:
    source = Source(name, title="Notice", details=Details(date=date, archived=archived))
    passage = Passage(f"{name}#0", text, Clue(), source, Place(heading=("Notice",)))
    return Candidate(passage, score, Signals(lead=(0, len(text))))


NEW = candidate("new", NEW_TEXT, date="2025-02-01")
ARCHIVED = candidate("old", OLD_TEXT, score=2.5, date="2023-01-05", archived=True)


@pytest.mark.parametrize("best", [NEW, replace(ARCHIVED, score=3.5)])
def test_the_current_figure_is_the_answer_whichever_comes_first(best: Candidate) -> None:
    other = ARCHIVED if best is NEW else NEW
    tiling = tile_leads([best, other], limit=1000, sentences=sentences, question=QUESTION)
    assert tiling.text == NEW_TEXT
    assert tiling.former == f"Formerly (2023-01-05): {OLD_TEXT}"
    assert [tile.candidate.passage.source.document for tile in tiling.tiles] == ["new"]


def test_the_year_until_which_it_held() -> None:
    until = candidate("until", "Up to 2024 the notice period was 14 days for each plan.", score=2.5)
    assert year_of_end(until.passage) == "2024"
    former = tile_leads([NEW, until], limit=1000, sentences=sentences, question=QUESTION).former
    assert former == until.passage.text, "the text names the year itself"
    titled = replace(ARCHIVED.passage, source=replace(ARCHIVED.passage.source, title="Notice until 2024"))
    versions = versions_of(NEW, [replace(ARCHIVED, passage=titled)], QUESTION)
    assert versions is not None
    assert versions.former(QUESTION) == f"Until 2024: {OLD_TEXT}"
    assert versions.former("Wie lang ist die Frist für die Kündigung?") == f"Bis 2024: {OLD_TEXT}"


def test_a_date_that_is_not_older_is_not_named() -> None:
    versions = versions_of(NEW, [candidate("old", OLD_TEXT, date="2026-01-01", archived=True)], QUESTION)
    assert versions is not None
    assert versions.former(QUESTION) == f"Formerly: {OLD_TEXT}"


def test_dates_alone_tell_versions_of_nearly_the_same_words_below_one_heading() -> None:
    older = candidate("old", NEW_TEXT.replace("30", "14"), date="2023-01-05")
    versions = versions_of(NEW, [older], QUESTION)
    assert versions is not None
    assert versions.older is older
    assert versions_of(NEW, [candidate("same", NEW_TEXT.replace("30", "14"), date="2025-02-01")], QUESTION) is None
    other = replace(older, passage=replace(older.passage, place=Place(heading=("Interns",))))
    assert versions_of(NEW, [other], QUESTION) is None


def test_no_conflict() -> None:
    same = candidate("old", OLD_TEXT.replace("14", "30"), archived=True)
    assert versions_of(NEW, [same], QUESTION) is None, "the same figure"
    other = candidate("old", "A deposit of 14 euros is returned.", archived=True)
    assert versions_of(NEW, [other], QUESTION) is None, "another statement"
    assert versions_of(NEW, [candidate("old", "No notice.", archived=True)], QUESTION) is None, "no figure"


def test_a_newer_figure_of_another_subject_is_no_newer_version() -> None:
    storage = candidate("storage", "Winter storage costs 9 euros.", archived=True)
    berth = candidate("berth", "A berth costs 14 euros.")
    assert versions_of(storage, [berth], "What does winter storage cost?") is None
    assert versions_of(storage, [berth], "What does it cost?") is not None


def test_a_question_for_the_old_version() -> None:
    versions = versions_of(ARCHIVED, [NEW], "How long was the notice period in 2023?")
    assert versions is None


def test_a_question_for_the_month_of_a_document() -> None:
    january = candidate("2025-01-14", OLD_TEXT, date="2025-01-14")
    march = candidate("2025-03-11", NEW_TEXT, date="2025-03-11", score=3.5)
    newest = versions_of(january, [march], QUESTION)
    assert newest is not None
    assert newest.current is march
    assert versions_of(january, [march], "How long was the notice period in January?") is None


def test_rows_are_named_in_one_line() -> None:
    table = candidate("old", "| Plan | Notice period |\n| --- | --- |\n| Team | 14 days |", archived=True)
    current = candidate("new", "| Plan | Notice period |\n| --- | --- |\n| Team | 30 days |")
    versions = versions_of(current, [table], QUESTION)
    assert versions is not None
    assert versions.former(QUESTION) == "Formerly: Plan, Notice period; Team, 14 days"
