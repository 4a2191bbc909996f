"""Release notes."""

import pytest

from rankers.release_notes import HISTORY, WANTED, release_bonus, versions_in


@pytest.mark.parametrize(
    "heading",
    [
        "2.4.1 (May 3, 2024)",
        "[1.0] - 2023-11-02",
        "Version 3.2, 01.02.2020",
        "Kettle 1.4 - 3 May 2013",
        "v1.0b15 (July 2012)",
        "2.0rc1 — March 2nd, 2021:",
    ],
)
def test_a_version_with_its_date_heads_history(heading):
    assert release_bonus([heading, "Fixes"]) == -HISTORY


@pytest.mark.parametrize(
    "heading",
    ["2.4.1", "1.2 Scope", "4.1 Budget 2024", "Python 3.10", "May 3, 2024", "2.1 Fees (from 2024)", "", "2.4 - "],
)
def test_other_headings_do_not(heading):
    assert release_bonus([heading]) == 0.0


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is new in 2.4?", WANTED),
        ("what was fixed in 2.4.1", WANTED),
        ("and in 2.4.10?", -HISTORY),
        ("What changed in 2.41?", -HISTORY),
        ("What changed in version 2?", -HISTORY),
    ],
)
def test_the_version_of_the_question(question, expected):
    assert release_bonus(["Changes", "2.4.1 (May 3, 2024)"], versions_in(question)) == expected
