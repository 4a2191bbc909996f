"""Readings of questions over a small world: paths, answers, and what tells how well an interpretation fits."""

from collections.abc import Callable, Sequence
from math import log1p
from unittest.mock import Mock

import numpy as np
import pytest

from kg_index.answers.graph_words import Vocabulary
from kg_index.answers.interpretations import FEATURES, Interpretation, Interpreter
from kg_index.answers.lookup import Lookup
from kg_index.answers.topics import find_entities
from kg_index.answers.walks import MOST_ANSWERS, Walker
from kg_index.linking.linker import Linker
from kg_index.relations.template_rows import Row
from kg_index.relations.templates import TemplateTable

EX = "http://example.org/"
Read = Callable[[str], list[Interpretation]]


def interpretation(lookup: Lookup, encode, **options) -> Read:
    vocabulary = Vocabulary(lookup.triples)
    linker = Linker(lookup.mentions, lookup.triples.salience, context=vocabulary.about)
    interpreter = Interpreter(Walker(lookup.triples, vocabulary), encode, **options)
    return lambda question: interpreter.interpret(question, find_entities(question, linker, lookup.triples, vocabulary))


@pytest.fixture
def read(world: Lookup, bag_of_words) -> Read:
    return interpretation(world, bag_of_words)


def named(lookup: Lookup, ids: Sequence[int]) -> set[str]:
    return {lookup.label(result) for result in ids}


def of(results: list[Interpretation], relation: str, *, topic: str | None = None) -> Interpretation:
    """The one interpretation of a relation, written with the ends of its IRIs."""
    matching = [r for r in results if r.relation.replace(EX, "") == relation and topic in (None, r.topic.text)]
    assert len(matching) == 1, [result.relation for result in results]
    return matching[0]


def test_direct_and_inverse_facts(world: Lookup, read: Read) -> None:
    direct = of(read("What is the capital of Peru?"), "capital")
    assert named(world, direct.answers) == {"Lima"}
    assert (direct.template, direct.counted, direct.more) == ("what is the capital of <m>", False, False)
    assert [step.inverse for step in direct.path] == [False]
    inverse = of(read("Lima is the capital of what?"), "^capital")
    assert named(world, inverse.answers) == {"Peru"}
    assert inverse.features["inverse"] == 1
    assert inverse.features["guessed"] == 0


def test_features_by_hand(world: Lookup, read: Read, bag_of_words) -> None:
    """The question has "seat" but not "country"; it has one of the two stems of "seat of government"."""
    results = of(read("What seat has the noble Peru?"), "capital").features
    texts, capital, seat = bag_of_words(["what seat has the noble", "capital", "seat of government"])
    assert set(results) == set(FEATURES)
    assert results["coverage"] == pytest.approx(1 / 2)
    assert (results["unexplained"], results["untold"], results["whole"]) == (1, 1, 0)
    assert results["precision"] == pytest.approx(1 / 2)
    assert results["cosine"] == pytest.approx(max(float(texts @ capital), float(texts @ seat)), abs=1e-6)
    assert results["soft"] == pytest.approx(results["cosine"] / 2)
    assert (results["template"], results["model"], results["kind"], results["prose"]) == (0, 0, 0, 0)
    assert (results["steps"], results["size"]) == (0, pytest.approx(log1p(1)))
    assert results["type"] == 0
    assert results["link"] == results["link_score"] == 1


def test_a_kind_picks_its_members_from_the_answers(build_graph, bag_of_words) -> None:
    graph = build_graph("""
        :River rdfs:label "river" ; skos:altLabel "rivers" . :Town rdfs:label "town" ; skos:altLabel "towns" .
        :crosses rdfs:label "crosses" . :road rdfs:label "Long Road" ; :crosses :a, :b, :c, "2 bridges" .
        :a a :River ; rdfs:label "Aa" . :b a :Town ; rdfs:label "Bee" . :c a :River ; rdfs:label "Sea" .""")
    read = interpretation(graph, bag_of_words)
    assert named(graph, of(read("Which rivers does the Long Road cross?"), "crosses").answers) == {"Aa", "Sea"}
    assert named(graph, of(read("Which towns does the Long Road cross?"), "crosses").answers) == {"Bee"}
    everything = of(read("What does the Long Road cross?"), "crosses")
    assert named(graph, everything.answers) == {"Aa", "Bee", "Sea", "2 bridges"}
    assert everything.features["kind"] == 0
    counted = of(read("How many rivers does the Long Road cross?"), "crosses")
    assert (counted.counted, len(counted.answers)) == (True, 2)
    assert (counted.features["kind"], counted.features["type"]) == (1, 0.5)


def test_a_number_of_the_graph_is_the_count(world: Lookup, read: Read) -> None:
    results = of(read("How many moons does Mars have?"), "moons")
    assert not results.counted
    assert named(world, results.answers) == {"2"}
    assert (results.features["type"], results.features["kind"]) == (1, 1)


@pytest.mark.parametrize(
    ("question", "relation", "fits"),
    [
        ("When was Peru independent?", "independent", 1),
        ("When was Peru capital?", "capital", -1),
        ("How high is Lima?", "elevation", 1),
        ("How high is Lima?", "founded", -1),
        ("In which year was Lima founded?", "founded", 1),
        ("Who is mayor of Lima?", "mayor", 0),
        ("Who is the elevation of Lima?", "elevation", -1),
        ("What is the elevation of Lima?", "elevation", 0),
    ],
)
def test_answers_are_of_the_type_that_is_wanted(read: Read, question: str, relation: str, fits: float) -> None:
    assert of(read(question), relation).features["type"] == fits


def test_two_steps(world: Lookup, read: Read) -> None:
    results = of(read("Who is the mayor of the capital of Peru?"), "capital / mayor")
    assert named(world, results.answers) == {"Jorge Muñoz"}
    assert (results.features["steps"], results.features["coverage"]) == (1, 1)
    back = of(read("What is the elevation of the capital that has the mayor Jorge Muñoz?"), "^mayor / elevation")
    assert named(world, back.answers) == {"1540"}
    relations = [result.relation for result in read("capital of the capital of Peru")]
    assert len(relations) == len({*relations})
    assert not [r for r in relations if r.count("capital") > 1]  # there and back is no path


def test_values_lead_to_what_they_are_said_of(world: Lookup, read: Read) -> None:
    results = of(read("Which country has the calling code +51?"), "^calling_code")
    assert named(world, results.answers) == {"Peru"}
    assert (results.features["value"], results.features["cut"], results.features["kind"]) == (1, 0, 1)
    assert named(world, of(read("Which planets have 0 moons?"), "^moons").answers) == {"Mercury", "Venus"}


def test_all_of_a_kind(world: Lookup, read: Read) -> None:
    (results,) = read("Name the planets")
    assert named(world, results.answers) == {"Mars", "Venus", "Mercury"}
    assert results.path[0].inverse
    (counted,) = read("How many planets are there?")
    assert (counted.counted, len(counted.answers)) == (True, 3)
    for result in (results, counted):
        assert (result.features["kind"], result.features["guessed"], result.features["whole"]) == (1, 0, 1)
    assert read("I like planets") == []
    assert read("Name the planets with life") == []  # which of them the graph does not say


@pytest.mark.parametrize(
    ("question", "cut"),
    [
        ("Who was Swift founded by?", 0),
        ("Who was Taylor Swift founded by?", 1),
        ("Who was Swift Boats founded by?", 1),
        ("Who was Swift-Boats founded by?", 1),
        ("Who was un-swift founded by?", 1),
        ("Taylor swift was founded by whom?", 0),  # a first word is always large
        ("who was Swift 7 founded by", 0),
    ],
)
def test_a_name_may_go_on(read: Read, question: str, cut: int) -> None:
    assert of(read(question), "founded_by").features["cut"] == cut


def test_questions_for_prose_are_marked(read: Read) -> None:
    assert of(read("Why is Lima the capital of Peru?"), "capital").features["prose"] == 1
    assert of(read("What is the capital of Peru?"), "capital").features["prose"] == 0


def test_known_templates_take_part(world: Lookup, bag_of_words) -> None:
    rows = [Row("the boss of <m>", f"{EX}mayor", 3.0), Row("the boss of <m>", f"{EX}elevation", 1.0)]
    table = TemplateTable.of(sorted(rows))
    results = interpretation(world, bag_of_words, templates=table)("the boss of Lima")
    assert of(results, "mayor").features["template"] == pytest.approx(3 / 4)
    assert of(results, "elevation").features["template"] == pytest.approx(1 / 4)
    assert of(results, "founded").features["template"] == 0


def test_a_trained_scorer_takes_part(world: Lookup, bag_of_words) -> None:
    scored: list[Sequence[str]] = []

    class Scorer:
        def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[np.ndarray]:
            assert list(templates) == ["the boss of <m>"]
            scored.extend(pools)
            return [np.array([5.0 if name.endswith("mayor") else 3.0 for name in pool]) for pool in pools]

    results = interpretation(world, bag_of_words, scorer=Scorer())("the boss of Lima")
    (pool,) = scored
    weights = np.exp([5.0 if name.endswith("mayor") else 3.0 for name in pool])
    assert of(results, "mayor").features["model"] == pytest.approx(weights.max() / weights.sum())
    assert sum(result.features["model"] for result in results) == pytest.approx(1)
    assert f"^{EX}capital" in pool


def test_what_does_not_lead_on_is_left_out(build_graph, bag_of_words) -> None:
    """An answer is not what was asked about, nor a node without a name; such a node may lie between."""
    graph = build_graph("""
        :a rdfs:label "Alpha" ; :likes :a, _:node ; :lives _:node . _:node :city :b . :b rdfs:label "Beta" .
        :lives rdfs:label "address" . :city rdfs:label "city" .""")
    results = interpretation(graph, bag_of_words)("city of the address of Alpha")
    assert {result.relation.replace(EX, "") for result in results} == {"lives / city"}
    assert named(graph, results[0].answers) == {"Beta"}


def test_cycles_end(build_graph, bag_of_words) -> None:
    graph = build_graph("""
        :a a :a, :b ; rdfs:label "Alpha" ; :a :a . :b a :a ; rdfs:label "Beta" ; skos:altLabel "Alpha" ; :next :a .
        :next rdfs:label "next" .""")
    for question in ("Name the Alpha", "What is the next of Beta?", "How many Beta are there?"):
        results = interpretation(graph, bag_of_words)(question)
        assert all(result.topic.id not in result.answers for result in results)


@pytest.fixture(scope="module")
def hub(tmp_path_factory, built_graph) -> Lookup:
    films = "".join(f":f{n} :maker :hub ; a :Film ; :seen :e{n % 7} ; :odd{n} :hub .\n" for n in range(20_000))
    head = """
        :hub rdfs:label "Hub" . :maker rdfs:label "maker" . :seen rdfs:label "audience" .
        :Film rdfs:label "film" ; skos:altLabel "films" ."""
    return built_graph(head + films, tmp_path_factory.mktemp("hub"))


def test_a_hub_is_work_within_bounds(hub: Lookup, bag_of_words) -> None:
    encoded: list[str] = []

    def encode(texts: Sequence[str]) -> np.ndarray:
        encoded.extend(texts)
        return bag_of_words(texts)

    read = interpretation(hub, encode)
    made = of(read("What is the audience of what the maker Hub made?"), "^maker / seen")
    assert len(made.answers) == 7
    assert made.more
    assert len(encoded) < 5_000
    (films,) = read("How many films are there?")
    assert (len(films.answers), films.more, films.counted) == (MOST_ANSWERS, True, True)


def test_what_may_stop_is_asked_between_topics(world: Lookup, bag_of_words) -> None:
    vocabulary = Vocabulary(world.triples)
    linker = Linker(world.mentions, world.triples.salience)
    entities = find_entities("Peru, Chile and Lima", linker, world.triples, vocabulary)
    check = Mock(side_effect=[None, TimeoutError])
    with pytest.raises(TimeoutError):
        Interpreter(Walker(world.triples, vocabulary), bag_of_words).interpret(
            "Peru, Chile and Lima", entities, check=check
        )
    assert check.call_count == 2
