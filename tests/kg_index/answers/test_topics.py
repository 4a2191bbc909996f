from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.answers.graph_words import Vocabulary
from kg_index.answers.lookup import Lookup
from kg_index.answers.topics import LITERAL_SHARE, QuestionEntities, find_entities
from kg_index.linking.linker import Linker

EX = "http://example.org/"
Spot = Callable[[str], QuestionEntities]


def spotting(lookup: Lookup) -> Spot:
    vocabulary = Vocabulary(lookup.triples)
    linker = Linker(lookup.mentions, lookup.triples.salience, context=vocabulary.about)
    return lambda question: find_entities(question, linker, lookup.triples, vocabulary)


@pytest.fixture(scope="module")
def spot_world(world: Lookup) -> Spot:
    return spotting(world)


def values(lookup: Lookup, entities: QuestionEntities) -> list[tuple[str, str]]:
    return [(topic.text, lookup.triples.term(topic.id)) for topic in entities.topics if topic.is_value]


def test_entities_and_kinds_stand_apart(world: Lookup, spot_world: Spot) -> None:
    entities = spot_world("Which countries border Peru?")
    assert [(t.text, world.triples.term(t.id), t.is_value) for t in entities.topics] == [("Peru", f"{EX}peru", False)]
    assert [(t.text, world.triples.term(t.id)) for t in entities.kinds] == [("countries", f"{EX}Country")]
    (peru,) = entities.topics
    assert (peru.start, peru.end) == (23, 27)
    assert 0 < peru.score <= peru.share <= 1


def test_both_meanings_of_a_name_are_spotted_the_likelier_first(world: Lookup, spot_world: Spot) -> None:
    entities = spot_world("What is the symbol of the metal Mercury?")
    assert [world.triples.term(t.id) for t in entities.topics] == [f"{EX}quicksilver", f"{EX}mercury"]


@pytest.mark.parametrize("question", ["who won the Final Two", "where is Two Moons", "who wrote Catch Two"])
def test_a_number_in_words_that_is_part_of_a_name_is_no_value(world: Lookup, spot_world: Spot, question: str) -> None:
    assert values(world, spot_world(question)) == []


@pytest.mark.parametrize("question", ["which planet has Two moons", "Two moons has which planet", "WHO HAS TWO MOONS"])
def test_other_numbers_in_words_are_values(world: Lookup, spot_world: Spot, question: str) -> None:
    assert [literal for _, literal in values(world, spot_world(question))] == [
        '"2"^^<http://www.w3.org/2001/XMLSchema#integer>'
    ]


@pytest.mark.parametrize(
    ("question", "text", "literal"),
    [
        ("Which country has the code +51?", "+51", '"+51"'),
        ("What is Hg", "Hg", '"Hg"'),
        ('What has the symbol "Po"?', '"Po"', '"Po"'),
        ("What has the symbol “Po”?", "“Po”", '"Po"'),
        ("which planet has 2 moons", "2", '"2"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("who has 33,000,000 people", "33,000,000", '"33000000"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("the 2nd one", "2nd", '"2"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("the second one", "second", '"2"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("what was founded in 1535", "1535", '"1535"^^<http://www.w3.org/2001/XMLSchema#gYear>'),
    ],
)
def test_values_that_stand_in_facts(world: Lookup, spot_world: Spot, question: str, text: str, literal: str) -> None:
    entities = spot_world(question)
    assert (text, literal) in values(world, entities)
    topic = next(t for t in entities.topics if t.is_value and t.text == text)
    assert question[topic.start : topic.end] == text
    assert topic.score == topic.share == LITERAL_SHARE


def test_a_value_is_spotted_once_and_names_are_none(world: Lookup, spot_world: Spot) -> None:
    assert values(world, spot_world('Ra or Ra or "Ra"')) == [('"Ra"', '"Ra"')]
    assert values(world, spot_world('"Peru" or Country or "A liquid metal."')) == []  # labels and descriptions
    assert values(world, spot_world("ra hg po in as at")) == []  # small letters are words


def test_quotes_backslashes_and_line_ends_in_quotes(build_graph) -> None:
    graph = build_graph(r""":a :says "say \"hi\"", "back\\slash", "new\nline", "tab\tstop" .""")
    entities = spotting(graph)
    assert values(graph, entities('who says “say "hi"”?')) == [('“say "hi"”', r'"say \"hi\""')]
    assert values(graph, entities("who says 'back\\slash'?")) == [("'back\\slash'", r'"back\\slash"')]
    assert values(graph, entities("who says Back\\slash or back\\Slash")) == []
    for odd in ('"new\nline"', r'"new\nline"', '"', '""', "'\\'", "“\\”", '"\\"', r'"\u0041"', '"\x00"', '"\ud800"'):
        assert values(graph, entities(odd)) == [], odd


@given(st.text(st.characters(), max_size=60))
def test_any_text_can_be_looked_through(spot_world: Spot, text: str) -> None:
    entities = spot_world(text)
    assert all(topic.text == text[topic.start : topic.end] for topic in (*entities.topics, *entities.kinds))


def test_what_is_looked_up_is_bounded(build_graph) -> None:
    people = "".join(f':e{n} rdfs:label "John Smith" ; :code "C{n}" .\n' for n in range(1_000))
    graph = build_graph(people)
    entities = spotting(graph)("John Smith " + " ".join(f"C{n}" for n in range(1_000)))
    named = [topic for topic in entities.topics if not topic.is_value]
    assert len(named) == 12
    assert len(entities.topics) - len(named) <= 20
    numbered = build_graph("".join(f":n{n} :number {n} .\n" for n in range(300)), "numbers")
    assert len(spotting(numbered)(" ".join(map(str, range(300)))).topics) == 20


def test_nothing_is_named_in_an_empty_graph_or_one_without_labels(build_graph) -> None:
    assert spotting(build_graph(""))("What is the capital of Peru?") == QuestionEntities((), ())
    bare = build_graph(":peru :capital :lima ; :code 51 .", "bare")
    assert spotting(bare)("What is the capital of peru?") == QuestionEntities((), ())
    assert len(spotting(bare)("Who has the code 51?").topics) == 1


def test_a_predicate_is_no_topic_even_where_it_has_facts(build_graph) -> None:
    graph = build_graph(':p rdfs:label "Pressure" ; :p :a ; :unit "Pa" . :a rdfs:label "Area" .')
    entities = spotting(graph)("the pressure of the area")
    assert [graph.triples.term(topic.id) for topic in entities.topics] == [f"{EX}a"]
