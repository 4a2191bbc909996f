"""Questions for what is not so."""

from __future__ import annotations

import pytest

from kg_index.answers.negation import is_negated
from kg_index.answers.topics import QuestionEntities, Topic


def entities(question: str, *names: str) -> QuestionEntities:
    """These names of a question."""
    starts = [question.index(name) for name in names]
    topics = [Topic(0, start, start + len(name), name, 1.0, 1.0) for start, name in zip(starts, names, strict=True)]
    return QuestionEntities(tuple(topics), ())


@pytest.mark.parametrize(
    "question",
    [
        "Which countries do not border Peru?",
        "Which countries don't border Peru?",
        "which countries dont border peru",
        "Which country doesn’t border Peru?",
        "What is NOT the capital of Peru?",
        "Which planet has no rings?",
        "Not counting Brazil, what borders Peru?",
        "Which countries except Brazil border Peru?",
        "Which countries other than Brazil border Peru?",
        "Who never left Peru?",
        "Who did not know the capital of Peru?",
        "No country borders what?",
        "Which country is without a coast?",
        "Welche Länder grenzen nicht an Peru?",
        "Welcher Planet hat keine Ringe?",
        "Welche Länder außer Brasilien grenzen an Peru?",
    ],
)
def test_negated(question: str) -> None:
    assert is_negated(question, entities(question))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which countries border Peru?", ()),
        ("Who directed No Country for Old Men?", ("No Country for Old Men",)),
        ("Who directed Not Without My Daughter?", ("Not Without My Daughter",)),
        ("Not Without My Daughter: who directed it?", ("Not Without My Daughter",)),
        ("Which element has the symbol No?", ("No",)),
        ("Who composed symphony no. 5?", ()),
        ("who lived at No 10 Downing Street", ()),
        ("What is the no. of moons of Mars?", ()),
        ("I don't know the capital of Peru, what is it?", ()),
        ("Do you not know what the capital of Peru is?", ()),
        ("I'm not sure who discovered Peru, can you help?", ()),
        ("i have no idea what the capital of peru is", ()),
        ("No, I meant the capital of Peru", ()),
        ("No. 5 of Chanel: who made it?", ()),
        ("Can't you tell me the capital of Peru?", ()),
        ("What is the exceptional note of the novel knot?", ()),
    ],
)
def test_not_negated(question: str, names: tuple[str, ...]) -> None:
    assert not is_negated(question, entities(question, *names))


def test_a_name_does_not_hide_another_negation() -> None:
    question = "Who did not direct No Country for Old Men?"
    assert is_negated(question, entities(question, "No Country for Old Men"))
    assert is_negated("No planet?", entities("No planet?", "No"))
