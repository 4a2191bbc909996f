"""Titles that are questions, and labels that look like them."""

from __future__ import annotations

import pytest

from qa_core.text.analysis import terms
from qa_core.types import BlockKind, Clue, Passage, Place, Source
from rankers.question_titles import (
    ASKING,
    INHERITED,
    SECTION,
    TOPIC,
    asking_bonus,
    heading_bonus,
    is_contents,
    is_mail_head,
    is_pair,
    is_question,
    section_bonus,
)


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


def passage(title: str, *heading: str, kind: BlockKind = "prose") -> Passage:
    place = Place(heading=heading, kind=kind)
    clue = Clue(title, "Members pay 90 euros.")
    return Passage("page.md#0", "Members pay 90 euros.", clue, Source("page.md", title), place)


def test_a_page_with_sections_answers_no_single_question() -> None:
    assert is_pair(passage("Can I rent the hall?"))
    assert not is_pair(passage("Can I rent the hall?", "Prices"))
    assert not is_pair(passage("Can I rent the hall?", kind="table"))
    assert not is_pair(passage("Renting the hall"))


def test_a_heading_that_asks_the_question_raises_its_passage() -> None:
    passages = [
        passage("FAQ", "Members", "Can I rent the hall?"),
        passage("FAQ", "Can I rent the hall and the garden?"),
        passage("Rent the hall", "Renting"),
        passage("Rent the hall"),
    ]
    exact, other, label, none = heading_bonus("can I rent the hall", passages)
    assert exact > other > label == none == 0.0


def test_a_heading_that_asks_a_part_of_the_question_raises_its_passage() -> None:
    passages = [
        passage("FAQ", "What does a card cost?"),
        passage("FAQ", "What does a card cost that is lost?"),  # another question
        passage("FAQ", "Cards?"),  # too short
        passage("FAQ", "Cost of a card"),  # asks nothing
        passage("FAQ"),
    ]

    def content(text: str, language: str) -> list[str]:
        return [term for term in terms(text, language) if term not in {"what", "doe", "for"}]

    bonus = asking_bonus(lambda _: content("what does a card cost for adults", "en"), content, passages)
    assert bonus.tolist() == [ASKING * 2 / 3, 0.0, 0.0, 0.0, 0.0]


def test_the_section_that_a_question_names_comes_before_its_subsections() -> None:
    passages = [
        passage("Brezza 500", "Returns"),
        passage("Brezza 500", "Returns", "Exceptions"),
        passage("Brezza 500", "Returns of machines from abroad"),  # about less
        passage("Returns"),
    ]

    def content(question: str) -> list[float]:
        return section_bonus(lambda language: terms(question, language), passages).tolist()

    assert content("returns") == [SECTION, -INHERITED, 0.0, 0.0]
    assert content("returns brezza") == [SECTION, -INHERITED / 2, 0.0, 0.0]
    assert content("returns by members") == [0.0, -INHERITED / 2, 0.0, 0.0], "the text has the members"
    assert content("brezza 500") == content("members") == content("") == [0.0] * 4
    assert section_bonus(lambda _: terms("returns"), passages, is_topic=True)[0] == TOPIC


@pytest.mark.parametrize(
    ("title", "headings", "expected"),
    [
        ("Travel Guide Table of Contents", (), True),
        ("Rules", ("Inhaltsverzeichnis",), True),
        ("Table of contents", ("Fees",), False),
        ("Contents of the first aid kit", (), False),
    ],
)
def test_tables_of_contents(title: str, headings: tuple[str, ...], expected: bool) -> None:
    passage = Passage("1", "", Clue(), Source("1", title), Place(headings))
    assert is_contents(passage) is expected


@pytest.mark.parametrize(
    ("text", "headings", "expected"),
    [
        ("To: Petra Lang <petra@example.com>\nDate: 2024-11-12\n\nDear Petra,", (), True),
        ("Date: 2024-11-12", (), True),
        ("To: do the washing", ("From: Tom",), False),
        ("The mail went to Petra.\nTo: nobody", (), False),
    ],
)
def test_heads_of_mails(text: str, headings: tuple[str, ...], expected: bool) -> None:
    assert is_mail_head(Passage("1", text, Clue(), Source("1", "Phone"), Place(headings))) is expected
