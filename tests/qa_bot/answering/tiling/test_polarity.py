"""Yes and no: the word of a passage stays only if it also answers the question that was asked."""

from __future__ import annotations

import pytest

from qa_bot.answering.tiling.answer_text import tile_leads
from qa_bot.answering.tiling.polarity import agrees, are_opposite, opening
from qa_core.text.sentences import sentences
from qa_core.types import Candidate, Clue, Details, Passage, Place, Signals, Source

CHOCOLATE = "Is chocolate bad for dogs?"
POISONOUS = "Yes, chocolate is poisonous to dogs because they break it down slowly."
DOGS = "Are dogs forbidden in the office?"
ALLOWED = "No, dogs are allowed in the office on Fridays."


def passage(text: str, *, title: str = "", heading: tuple[str, ...] = (), language: str = "") -> Passage:
    source = Source(title or "page", title, details=Details(language=language))
    return Passage(f"{source.document}#0", text, Clue(title), source, Place(heading))


@pytest.mark.parametrize(
    ("question", "title", "answer", "expected"),
    [
        (CHOCOLATE, CHOCOLATE, POISONOUS, True),
        ("is chocolate poisonous to dogs", CHOCOLATE, POISONOUS, True),  # the answer says the word
        ("My dog is ill. Is chocolate bad for dogs?", CHOCOLATE, POISONOUS, True),
        ("Is chocolate safe for dogs?", CHOCOLATE, POISONOUS, False),
        ("Can dogs eat chocolate?", CHOCOLATE, POISONOUS, False),  # nothing says what eating has to do with it
        ("Is chocolate not bad for dogs?", CHOCOLATE, POISONOUS, False),
        ("Isn't chocolate bad for dogs?", CHOCOLATE, POISONOUS, False),
        ("Why is chocolate bad for dogs?", CHOCOLATE, POISONOUS, False),  # not a question for yes or no
        ("chocolate dogs", CHOCOLATE, POISONOUS, False),
        ("Are dogs forbidden in the office?", DOGS, ALLOWED, True),
        ("Are dogs allowed in the office?", DOGS, ALLOWED, False),
        ("Is it forbidden to bring dogs on Fridays?", DOGS, ALLOWED, False),  # nothing is known of bringing
        ("Can I work from Spain?", "", "Yes, for thirty days.", False),
        ("Darf ich essen?", "Darf ich hier essen?", "Ja, in der Cafeteria.", True),
        ("Ist Essen erlaubt?", "Ist Essen verboten?", "Nein, Essen ist erlaubt.", False),
    ],
)
def test_agreement(question: str, title: str, answer: str, expected: bool) -> None:
    assert agrees(question, title, answer) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Is it safe to eat?", "Is it poisonous?", True),
        ("Is tea healthy?", "Is tea unhealthy?", True),
        ("Are helmets mandatory?", "Are helmets optional?", True),
        ("Is it legal?", "Is it forbidden?", True),
        ("Is it safe?", "Is it harmless?", False),
        ("Is it good or bad?", "Is it bad?", False),  # the question names both sides
        ("Do cats swim?", "Do dogs swim?", False),
    ],
)
def test_opposites(one: str, other: str, expected: bool) -> None:
    assert are_opposite(one, other) is are_opposite(other, one) is expected


def test_the_word_is_left_out_or_kept_behind_its_question() -> None:
    text = passage(POISONOUS, title=CHOCOLATE)
    assert opening(CHOCOLATE, text) == ("", 0)
    assert opening("Is chocolate safe for dogs?", text) == ("", 5)
    assert opening("Is chocolate safe for dogs?", passage("Chocolate is poisonous.", title=CHOCOLATE)) == ("", 0)
    assert opening("Can I smoke?", passage("No.", title="Can I smoke indoors?")) == ("", 0)
    assert opening("Is smoking allowed?", passage("No.", title="Is smoking forbidden?")) == (
        "“Is smoking forbidden?” ",
        0,
    )
    assert opening("Can I fly?", passage("Yes.", title="Travel")) == ("", 0)  # no question is known


@pytest.mark.parametrize(
    "text", ["No one may enter.", "Yesterday it rained.", "Noon is early.", "no", "No 5 is red", ""]
)
def test_other_words_are_no_yes_or_no(text: str) -> None:
    assert opening("Is it open?", passage(text, title="Is it shut?")) == ("", 0)


def test_a_heading_is_nearer_than_a_title() -> None:
    text = passage("Yes, in the yard.", title="Can I park here?", heading=("Rules", "Can I smoke here?"))
    assert opening("Can I smoke here?", text) == ("", 0)
    assert opening("Can I park here?", text) == ("“Can I smoke here?” ", 0)


def test_an_answer_begins_with_a_capital_and_its_span_equals_the_source() -> None:
    source_passage = passage(POISONOUS, title=CHOCOLATE)
    tiling = tile_leads(
        [Candidate(source_passage, 3.0)], limit=500, sentences=sentences, question="Can dogs eat chocolate?"
    )
    assert tiling.text.startswith("Chocolate is poisonous")
    (tile,) = tiling.tiles
    assert tile.span == (1, len(tiling.text))
    assert tiling.text[slice(*tile.span)] == source_passage.text[slice(*tile.source_span)]


def test_leads_and_second_passages_lose_the_word_too() -> None:
    first = Candidate(passage(POISONOUS, title=CHOCOLATE), 3.0, Signals(lead=(0, len(POISONOUS))))
    second = Candidate(passage(ALLOWED, title=DOGS), 2.9, Signals(lead=(0, len(ALLOWED))))
    tiling = tile_leads([first, second], limit=500, sentences=sentences, question="Can dogs eat chocolate?")
    assert tiling.text == f"C{POISONOUS[6:]}\n\n**{DOGS}**\n\nD{ALLOWED[5:]}"
    assert tiling.lead == (0, len(POISONOUS) - 5)
    for tile, source in zip(tiling.tiles, (POISONOUS, ALLOWED), strict=True):
        assert tiling.text[slice(*tile.span)] == source[slice(*tile.source_span)]


def test_the_owners_answer_is_given_as_written() -> None:
    owned = Candidate(passage("Yes, but ask first of all.", title="Can I fly?"), 3.0, Signals(owner_answer=True))
    assert tile_leads([owned], limit=500, sentences=sentences, question="flying").text == "Yes, but ask first of all."


@pytest.mark.parametrize(
    "answer",
    [
        "Yes, but only from 10 euros.",
        "No, except for dogs that assist.",
        "Nein, außer am Freitag.",
        "No, at weekends only.",
    ],
)
def test_a_dependent_clause_keeps_its_yes_or_no(answer: str) -> None:
    page = passage(answer, title="Can I pay by card?")
    assert opening("Do you like money?", page) == ("“Can I pay by card?” ", 0)
