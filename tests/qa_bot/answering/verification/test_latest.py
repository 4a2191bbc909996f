from dataclasses import replace

from qa_bot.answering.verification.latest import latest_first
from qa_core.types import Candidate, Clue, Details, Passage, Source

QUESTION = "When is the work day?"


def dated(date: str, *, name: str = "", score: float = 3.0) -> Candidate:
    source = Source(name or f"{date}-minutes.md", "Minutes", details=Details(date=date))
    return Candidate(Passage(f"{source.document}#0", "The work day is on Saturday.", Clue(), source), score)


HEAD = [dated("2025-09-24"), dated("2025-10-29", name="workday.eml", score=2.8), dated("2025-03-01", score=2.7)]
COVERS = [0.9, 0.85, 0.9]


def test_the_latest_of_a_series_comes_first():
    assert latest_first(QUESTION, [0, 1, 2], HEAD, COVERS) == [1, 0, 2]


def test_a_question_that_names_a_month_or_a_year_asks_for_that_one():
    for question in ("When was the work day in September?", "When is the work day 2025?", "Wann war er im Mai?"):
        assert latest_first(question, [0, 1, 2], HEAD, COVERS)[0] == 0
    assert latest_first("may I come to the work day?", [0, 1, 2], HEAD, COVERS)[0] == 1


def test_a_later_one_that_says_less_about_the_question_stays_behind():
    assert latest_first(QUESTION, [0, 1, 2], HEAD, [0.9, 0.7, 0.9]) == [0, 1, 2]
    far = [HEAD[0], replace(HEAD[1], score=2.0), HEAD[2]]
    assert latest_first(QUESTION, [0, 1, 2], far, COVERS) == [0, 1, 2]


def test_documents_without_a_date_in_their_names_are_no_series():
    pages = [dated("2025-09-24", name="rules.md"), dated("2025-10-29", name="leave.md")]
    assert latest_first(QUESTION, [0, 1], pages, [0.9, 0.9]) == [0, 1]
    mixed = [HEAD[0], dated("2025-10-29", name="leave.md")]
    assert latest_first(QUESTION, [0, 1], mixed, [0.9, 0.9]) == [0, 1], "the rules were only changed later"
