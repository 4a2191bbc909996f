from dataclasses import replace

import pytest

from qa_bot.answering.verification.latest import date_in_series, latest_first, words_of_date
from qa_core.types import Candidate, Clue, Details, Passage, Source

QUESTION = "When is the work day?"


def dated(date: str, *, name: str = "", title: str = "Minutes", score: float = 3.0) -> Candidate:
    source = Source(name or f"{date}-minutes.md", title, details=Details(date=date))
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


def test_the_last_one_is_the_newest_of_the_series_however_near_the_others_are():
    series = [dated("2025-01-14"), dated("2025-03-11", score=0.5), dated("2025-11-02", name="mail.eml", score=2.9)]
    series[2] = replace(
        series[2], passage=replace(series[2].passage, source=replace(series[2].passage.source, title="Re"))
    )
    for question in ("What was decided in the last meeting?", "Was wurde in der letzten Sitzung beschlossen?"):
        assert latest_first(question, [0, 2, 1], series, [0.9, 0.1, 0.9]) == [1, 0, 2]
    assert latest_first("How long does it last?", [0, 1], series[:2], [0.9, 0.1]) == [0, 1]


def test_those_of_the_month_come_first():
    series = [dated("2025-01-14"), dated("2025-03-11", score=0.5), dated("2024-03-12", score=0.4)]
    for question in ("What was decided in March?", "Was wurde im März beschlossen?"):
        assert latest_first(question, [0, 1, 2], series, [0.9, 0.1, 0.1]) == [1, 2, 0]
    assert latest_first("What was decided in March 2024?", [0, 1, 2], series, [0.9, 0.1, 0.1]) == [2, 0, 1]


def test_the_date_of_a_document_answers_its_month_and_last():
    passage = dated("2025-03-11").passage
    assert words_of_date("What did the last meeting in March decide?", passage) == {"last", "march"}
    assert words_of_date("What did the meeting in May decide?", passage) == set()
    assert words_of_date("What was the last meeting?", dated("2025-03-11", name="rules.md").passage) == set()


def test_documents_without_a_date_in_their_names_are_no_series():
    pages = [dated("2025-09-24", name="rules.md"), dated("2025-10-29", name="leave.md")]
    assert latest_first(QUESTION, [0, 1], pages, [0.9, 0.9]) == [0, 1]
    mixed = [HEAD[0], dated("2025-10-29", name="leave.md")]
    assert latest_first(QUESTION, [0, 1], mixed, [0.9, 0.9]) == [0, 1], "the rules were only changed later"


@pytest.mark.parametrize(
    ("name", "date", "is_dated"),
    [
        ("minutes_march_2025.html", "2025-03-11", True),
        ("MINUTES_8APR25.txt", "2025-04-08", True),
        ("AGM minutes June 2025.docx", "2025-06-24", True),
        ("Protokoll März 2025.md", "2025-03-04", True),
        ("guide_march_2025.md", "2026-11-27", False),  # the file's date, not that of its name
        ("may-i-park-20.md", "2020-05-01", False),
        ("maybe25.md", "2025-05-01", False),
    ],
)
def test_a_month_and_its_year_in_a_name_date_a_document(name: str, date: str, is_dated: bool) -> None:
    assert date_in_series(dated(date, name=name).passage) == (date if is_dated else "")


def test_names_with_further_words_are_of_one_series() -> None:
    names = {"2025-01-14": "Minutes 2025-01-14 FINAL.docx", "2025-03-11": "minutes_march_2025.html"}
    series = [dated(date, name=name) for date, name in names.items()]
    titled = [
        replace(one, passage=replace(one.passage, source=replace(one.passage.source, title=title)))
        for one, title in zip(series, ("Society", "Committee"), strict=True)
    ]
    assert latest_first("What was decided in March?", [0, 1], titled, [0.9, 0.1]) == [1, 0]


def test_titles_with_years_and_common_words_are_of_one_series() -> None:
    titles = {
        "Pool – season 2023": "pool.txt",
        "The pool: prices and hours 2025": "hours.html",
        "Staff 2026": "staff.md",
    }
    series = [
        replace(one, passage=replace(one.passage, source=replace(one.passage.source, title=title)))
        for title, name in titles.items()
        for one in [dated("", name=name)]
    ]
    assert [date_in_series(one.passage) for one in series] == ["2023-00", "2025-00", "2026-00"]
    assert latest_first("What does the pool cost?", [0, 1, 2], series, [0.9, 0.9, 0.9]) == [1, 0, 2]
    assert latest_first("What did the pool cost in 2023?", [0, 1, 2], series, [0.9, 0.9, 0.9]) == [0, 1, 2]
    assert words_of_date("What did the pool cost in March?", series[0].passage) == set()


def test_documents_of_one_name_in_folders_of_years_are_of_one_series() -> None:
    head = [
        dated("", name="fees-2019/caravans.html", title="Fees of caravans"),
        dated("", name="fees-2020/caravans.html", title="What caravans pay", score=2.9),
        dated("", name="fees-2020/tents.html", title="What tents pay", score=2.9),
    ]
    assert [date_in_series(one.passage) for one in head] == ["2019-00", "2020-00", "2020-00"]
    assert latest_first("What does a caravan pay?", [0, 1, 2], head, [0.9, 0.9, 0.9]) == [1, 0, 2]
    assert latest_first("What does a caravan pay?", [0, 2], head, [0.9, 0.9, 0.9]) == [0, 2]
