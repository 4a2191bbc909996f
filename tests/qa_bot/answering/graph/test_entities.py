from collections.abc import Iterator
from pathlib import Path

import pytest

from qa_bot.answering.graph.entities import LONGEST, Entities, Entity
from qa_bot.bot import Bot
from qa_bot.conversation.followups import Exchange, Rewriter
from qa_bot.conversation.followups.mentions import mentions

CITY = Entity("Ottawa", frozenset(["city", "town"]))
COUNTRY = Entity("Canada", frozenset(["country", "state"]))
PAINTER = Entity("Leonardo da Vinci", frozenset(["person", "people"]))
PAINTING = Entity("Mona Lisa", frozenset(["work"]))


@pytest.fixture(scope="module")
def entities(starter_home: Path) -> Iterator[Entities]:
    with Bot.open(starter_home, record=False) as bot:
        facts = bot.corridor().facts
        assert facts is not None
        yield Entities(facts.lookup)


def understood(question: str, *history: Exchange) -> str:
    return Rewriter().rewrite(question, history).text


def test_names_of_a_graph_come_with_words_for_their_kind(entities: Entities) -> None:
    classes = {entity.text: entity.classes for entity in entities.find("Leonardo da Vinci never saw Ottawa or gold.")}
    assert list(classes) == ["Leonardo da Vinci", "Ottawa"]  # gold has no capital letter
    assert "person" in classes["Leonardo da Vinci"]
    assert {"city", "town"} <= classes["Ottawa"]


def test_each_name_is_returned_once_and_long_texts_are_cut(entities: Entities) -> None:
    text = "Ottawa. " * LONGEST + "Paris."
    assert [entity.text for entity in entities.find(text)] == ["Ottawa"]


@pytest.mark.parametrize("text", ["", " ", "\x00", "???", "the", "猫", "é" * 5000])
def test_texts_without_names_have_no_entities(entities: Entities, text: str) -> None:
    assert entities.find(text) == ()


ANSWER = "The capital of Canada is Ottawa, on the Ottawa River."


@pytest.mark.parametrize(
    ("question", "rewritten"),
    [
        ("How many people live in the city?", "How many people live in Ottawa?"),
        ("How large is the country?", "How large is Canada?"),
        ("How many people live in the city of London?", "How many people live in the city of London?"),
    ],
)
def test_a_class_refers_to_the_entity_of_this_class(question: str, rewritten: str) -> None:
    exchange = Exchange("Where do Canadian ministers sit?", ANSWER, "", (COUNTRY, CITY))
    assert understood(question, exchange) == rewritten


def test_he_refers_to_a_person_but_not_to_a_painting() -> None:
    exchange = Exchange(
        "Who painted the Mona Lisa?", "Leonardo da Vinci painted the Mona Lisa.", "", (PAINTER, PAINTING)
    )
    assert understood("When was he born?", exchange) == "When was Leonardo da Vinci born?"


def test_there_refers_to_a_place() -> None:
    exchange = Exchange("Who painted in Ottawa?", "Leonardo da Vinci never saw Ottawa.", "", (PAINTER, CITY))
    assert understood("What can I see there?", exchange) == "What can I see in Ottawa?"


def test_without_a_graph_classes_are_unknown() -> None:
    plain = Exchange("Where do Canadian ministers sit?", ANSWER)
    assert understood("How many people live in the city?", plain) == "How many people live in the city?"
    assert all(not mention.classes for mention in mentions([plain]))


def test_a_name_in_the_question_is_one_mention_with_its_classes() -> None:
    (mention,) = mentions([Exchange("What is Ottawa?", "", "", (CITY,))])
    assert (mention.text, mention.times, mention.answered, mention.classes) == ("Ottawa", 1, False, CITY.classes)


def test_a_name_in_the_answer_is_marked_as_answered() -> None:
    (mention,) = mentions([Exchange("Who is it?", "Ottawa.", "", (CITY,))])
    assert (mention.text, mention.answered) == ("Ottawa", True)
