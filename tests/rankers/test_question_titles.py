"""Titles that are questions, and labels that look like them."""

from __future__ import annotations

import pytest

from rankers.question_titles import is_question


@pytest.mark.parametrize(
    "title",
    [
        "Opening hours?",
        "Do you have information about iron",
        "What is (are) Glaucoma",
        "How many days of leave do I get",
        "Why does the pump make a noise",
        "does anyone know this key",
        "Can't I park here",
        "Wie beantrage ich Urlaub",
        "Was ist ein Betriebsrat",
        "Welche Fristen müssen wir einhalten",
        "Darf man hier grillen",
    ],
)
def test_a_question_needs_no_question_mark(title: str) -> None:
    assert is_question(title)


@pytest.mark.parametrize(
    "title",
    [
        "",
        "How we collaborate",
        "How to tie a knot",
        "What to see",
        "Who to call",
        "Where your data is stored",
        "When something goes wrong",
        "What there is on the site",
        "How a pellet stove works",
        "May opening hours",
        "Do not disturb",
        "Wie wir arbeiten",
        "Was zu tun ist",
        "Kann-Bestimmungen",
    ],
)
def test_labels_are_no_questions(title: str) -> None:
    assert not is_question(title)
