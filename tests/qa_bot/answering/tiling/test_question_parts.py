"""Questions that ask two things or compare two: each part has its own passage."""

from __future__ import annotations

import pytest

from qa_bot.answering.tiling.answer_text import tile_leads
from qa_bot.answering.tiling.question_parts import (
    covered,
    defined_term,
    definition_of,
    has_steps,
    open_part,
    parts_of,
)
from qa_core.text.sentences import sentences
from qa_core.types import Candidate, Clue, Passage, Place, Signals, Source


def candidate(name: str, text: str, score: float, *, title: str = "") -> Candidate:
    return Candidate(Passage(name, text, Clue(), Source(name, title)), score, Signals(lead=(0, len(text))))


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("When does the pool open and how much is a ticket?", ("When does the pool open", "how much is a ticket?")),
        ("When does the pool open? What is a ticket?", ("When does the pool open", "What is a ticket?")),
        ("What is the difference between Team and Business?", ("Team", "Business?")),
        ("How does Team differ from Business?", ("Team", "Business?")),
        ("How do Team and Business differ?", ("Team", "Business")),
        ("Team vs. Business", ("Team", "Business")),
        ("Worin besteht der Unterschied zwischen Team und Business?", ("Team", "Business?")),
        ("Wie unterscheiden sich Team und Business?", ("Team", "Business?")),
        ("How do I book a pool and a sauna?", ()),
        ("When does the pool open?", ()),
    ],
)
def test_parts(question: str, parts: tuple[str, ...]) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is a client?", "client"),
        ("what does SLA mean", "SLA"),
        ('What does "grace" mean in the token protocol?', "grace"),
        ("What are the core hours?", "core hours"),
        ("What is meant by “pro bono”?", "pro bono"),
        ("Was ist ein Semesterticket?", "Semesterticket"),
        ("Was versteht man unter der Gleitzeit?", "Gleitzeit"),
        ("What is the hotel limit in New York?", ""),
        ("What does that plan cost?", ""),
        ("Who is a client?", ""),
        ("client", ""),
    ],
)
def test_the_term_whose_definition_is_asked_for(question: str, term: str) -> None:
    assert defined_term(question) == term


def test_the_part_that_a_passage_leaves_open() -> None:
    passage = candidate("pool", "The pool opens at nine.", 3.0).passage
    parts = parts_of("When does the pool open and how much is a sauna ticket?")
    assert covered(parts[0], passage) == 1
    assert open_part(parts, passage) == "how much is a sauna ticket?"
    assert open_part(("When does the pool open", "how much does it cost?"), passage) == "", "it is the pool"
    assert open_part(("When does the pool open", "who cleans?"), passage) == "", "one word is not enough"
    assert open_part(("the pool", "the sauna?"), passage) == "the sauna?", "sides of a comparison are names"


def test_both_parts_are_answered_from_two_passages() -> None:
    pool = candidate("pool", "The pool opens at nine.", 3.0)
    near = candidate("gym", "The gym opens at ten.", 2.9)
    ticket = candidate("tickets", "A sauna ticket is five euros.", 1.5)
    far = candidate("far", "The price of a sauna ticket is high.", 0.5)
    question = "When does the pool open and how much is a sauna ticket?"
    tiling = tile_leads([pool, near, ticket, far], limit=1000, sentences=sentences, question=question)
    assert tiling.text == f"{pool.passage.text}\n\n{ticket.passage.text}"
    assert [tile.candidate.passage.id for tile in tiling.tiles] == ["pool", "tickets"]
    alone = tile_leads([pool, near, ticket], limit=1000, sentences=sentences, question="When does the pool open?")
    assert alone.text == f"{pool.passage.text}\n\n{near.passage.text}"


def test_a_pair_is_followed_by_the_pair_of_the_open_part() -> None:
    pair = Candidate(Passage("a", "Up to 50 GB.", Clue(), Source("a", "What is the size limit of files?")), 3.0)
    other = Candidate(Passage("b", "Linux.", Clue(), Source("b", "Which systems are supported?")), 1.5)
    question = "What is the size limit of files and which systems are supported?"
    tiling = tile_leads([pair, other], limit=1000, sentences=sentences, question=question)
    assert tiling.text == "Up to 50 GB.\n\n**Which systems are supported?**\n\nLinux."


def test_the_other_side_of_a_comparison_follows() -> None:
    def section(heading: str, text: str, score: float) -> Candidate:
        passage = Passage(text, text, Clue(), Source("switch"), Place(heading=("Lamp", heading)))
        return Candidate(passage, score, Signals(lead=(0, len(text))))

    on = section("Switched On Mode", "With the lamp on, mode and off differ.", 3.0)
    near = section("Modes", "Lamps have modes, on, off and dim.", 2.9)
    off = section("Switched Off Mode", "The lamp takes half a watt.", 1.5)
    far = section("Switched Off Mode at night", "Nothing.", 1.0)

    def second(question: str) -> str:
        tiling = tile_leads([on, near, off, far], limit=1000, sentences=sentences, question=question)
        return tiling.text.rpartition("**\n\n")[2]

    assert second("What is the difference between the switched on and the switched off mode?") == off.passage.text
    assert second("How do switched on and switched off differ?") == off.passage.text
    assert second("What is the difference between the red and the green mode?") == near.passage.text
    assert second("What is the switched on mode?") == near.passage.text


@pytest.mark.parametrize(
    ("heading", "kind", "expected"),
    [
        ("How to set up a round", "prose", True),
        ("So melden Sie sich an", "prose", True),
        ("Step 2: Print", "prose", True),
        ("Prices", "steps", True),
        ("Prices", "prose", False),
        ("Howling dogs", "prose", False),
        ("Sommerfest", "prose", False),
    ],
)
def test_steps_may_be_named_by_their_heading(heading, kind, expected):
    passage = Passage("a#0", "Find people.", Clue(), Source("a"), Place((heading,), kind=kind))
    assert has_steps(passage) is expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("| NCR | Nonconformity report: a record |", True),
        ("| **NCR** | Nonconformity report |", True),
        ("| NCR | 12 |", False),
        ("| NCR 4 | Nonconformity report |", False),
        ("| Tom | NCR | a report |", False),
    ],
)
def test_the_row_of_a_glossary_defines_its_first_cell(row: str, expected: bool) -> None:
    assert (definition_of("NCR").search(f"| Term | Meaning |\n| --- | --- |\n{row}") is not None) is expected
