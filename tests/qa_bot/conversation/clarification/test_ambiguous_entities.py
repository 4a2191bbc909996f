"""Ambiguous names in a small graph: Georgia is a country and a state, Springfield the name of two towns."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from kg_index.answers.answerer import ScoredInterpretation
from kg_index.answers.interpretations import Interpretation
from kg_index.answers.topics import Topic
from qa_bot.answering.graph.facts import Facts
from qa_bot.conversation.clarification.ambiguous_entities import MARGIN, close_interpretations, namings, senses, topics
from qa_bot.documents import graph
from qa_bot.home.encoders import resolve
from qa_bot.home.folder import Home
from qa_core.types import Encoder

EX = "http://example.org/"
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
ALIAS = "<http://www.w3.org/2004/02/skos/core#altLabel>"
DESCRIPTION = "<https://schema.org/description>"


def labelled(name: str, label: str, kind: str = "", **facts: str) -> list[str]:
    """Triples of an entity; values that begin with a capital are text, others are entities."""
    lines = [f'<{EX}{name}> {LABEL} "{label}"@en .']
    lines += [f"<{EX}{name}> {RDF_TYPE} <{EX}{kind}> ."] if kind else []
    for predicate, value in facts.items():
        lines.append(
            f"<{EX}{name}> <{EX}{predicate}> " + (f'"{value}" .' if value[:1].isupper() else f"<{EX}{value}> .")
        )
    return lines


LINES = (
    *labelled("country", "country"),
    *labelled("us_state", "US state"),
    *labelled("town", "town"),
    *labelled("city", "city"),
    *labelled("capital", "capital"),
    *labelled("mayor", "mayor"),
    *labelled("motto", "motto"),
    *labelled("georgia", "Georgia", "country", capital="tbilisi", motto="Strength is in unity"),
    *labelled("georgia_us", "Georgia", "us_state", capital="atlanta", motto="Wisdom and justice"),
    *labelled("tbilisi", "Tbilisi", "city"),
    *labelled("atlanta", "Atlanta", "city"),
    *labelled("springfield_north", "Springfield", "town", mayor="Ana Alba", motto="Onward"),
    *labelled("springfield_south", "Springfield", "town", mayor="Bob Brown", motto="Onward"),
    f'<{EX}springfield_north> {DESCRIPTION} "Town by the northern lake; not the one in the valley." .',
    f'<{EX}springfield_south> {ALIAS} "Little Springfield"@en .',
    *labelled("peru", "Peru", "country", capital="lima"),
    *labelled("lima", "Lima", "city"),
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return resolve("starter", models=tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Facts]:
    folder = tmp_path_factory.mktemp("senses")
    (folder / "small.nt").write_text("\n".join([*LINES, ""]), encoding="utf-8")
    home = Home.open(folder / "home")
    graph.add(home, [folder / "small.nt"])
    with graph.open_graph(home) as opened:
        yield Facts(opened, encoder, precision=0.85, limit=1_000)


@pytest.fixture(scope="module")
def number(facts: Facts) -> Callable[[str], int]:
    def of(name: str) -> int:
        id_ = facts.lookup.triples.id_of(EX + name)
        assert id_ is not None
        return id_

    return of


def offers(facts: Facts, question: str) -> list[tuple[str, str, str]]:
    return [(choice.text, choice.question, fact) for choice, fact in senses(facts.find(question), facts)]


def test_each_choice_names_one_entity(facts: Facts):
    assert offers(facts, "What is the capital of Georgia?") == [
        ("Georgia (country)", "What is the capital of Georgia (country)?", "The capital of Georgia is Tbilisi."),
        ("Georgia (US state)", "What is the capital of Georgia (US state)?", "The capital of Georgia is Atlanta."),
    ]


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of Peru?",  # one entity
        "What is the motto of Springfield?",  # the same answer
        "Which country called Georgia has which capital?",  # says which
        "What is the capital of the US state Georgia?",
        "What is the population of Georgia?",  # no such fact
        "Georgia",  # a name alone
        "",
    ],
)
def test_clear_questions_offer_no_choice(facts: Facts, question: str):
    assert offers(facts, question) == []


def test_a_name_that_leads_to_another_entity_is_not_offered(facts: Facts, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "qa_bot.conversation.clarification.ambiguous_entities.namings", lambda *_: [("Georgia", "Georgia")]
    )
    assert [fact for *_, fact in offers(facts, "What is the capital of Georgia?")] == [
        facts.find("What is the capital of Georgia?").answer.text  # type: ignore[union-attr]
    ]


def test_entities_of_one_type_are_distinguished_by_alias_or_description(facts: Facts, number: Callable[[str], int]):
    north, south = number("springfield_north"), number("springfield_south")
    assert namings(north, "springfield", [south], facts) == [
        ("Springfield (Town by the northern lake)", "springfield (Town by the northern lake)")
    ]
    assert namings(south, "springfield", [north], facts) == [("Little Springfield", "Little Springfield")]
    assert namings(number("georgia"), "georgia", [], facts) == [("Georgia (country)", "georgia (country)")]
    assert namings(number("lima"), "lima", [], facts)[0] == ("Lima", "Lima")


def test_long_names_are_not_offered(facts: Facts, number: Callable[[str], int]):
    assert namings(number("georgia"), "g" * 200, [], facts) == []


def test_bare_name_offers_facts_of_each_entity_in_turn(facts: Facts):
    matches = topics(facts.find("Georgia"), facts, frozenset({"georgia"}), defined=False)
    offered = [(choice.text, fact) for choice, fact in matches]
    assert offered[:2] == [
        ("Georgia (country): capital", "The capital of Georgia is Tbilisi."),
        ("Georgia (US state): capital", "The capital of Georgia is Atlanta."),
    ]
    assert {text for text, _ in offered[2:]} == {"Georgia (country): motto", "Georgia (US state): motto"}


def test_definition_of_a_single_entity_offers_nothing(facts: Facts):
    fact_matches = facts.find("What is Peru?")
    assert [*topics(fact_matches, facts, frozenset({"peru"}), defined=True)] == []
    assert [choice.text for choice, _ in topics(fact_matches, facts, frozenset({"peru"}), defined=False)] == ["capital"]


def test_deadline_is_checked_before_each_question(facts: Facts):
    checks: list[int] = []
    fact_matches = facts.find("What is the capital of Georgia?")
    assert len([*senses(fact_matches, facts, check=lambda: checks.append(1))]) == 2
    assert len(checks) == 2


def scored(
    entity: int, answers: Sequence[int], score: float, *, start: int = 0, precision: float = 1.0
) -> ScoredInterpretation:
    topic = Topic(entity, start, start + 7, "georgia", 0.5, 0.5)
    features = {"whole": 1.0, "precision": precision}
    return ScoredInterpretation(Interpretation(topic, (), "capital", "", tuple(answers), False, features), score)


def test_only_other_entities_of_the_same_mention_with_other_answers_are_close():
    best = scored(1, [10], 9.0)
    other, third = scored(2, [20], 9.0 - MARGIN), scored(3, [30], 8.9)
    assert close_interpretations([best, third, other]) == [best, third, other]
    for odd in (
        scored(1, [11], 8.9),  # the same entity
        scored(2, [10], 8.9),  # the same answer
        scored(2, [20], 8.9 - MARGIN),  # much less likely
        scored(2, [20], 8.9, start=20),  # another mention
        scored(2, [20], 8.9, precision=0.0),  # another relation
    ):
        assert close_interpretations([best, odd]) == [best]
    assert close_interpretations([]) == []
