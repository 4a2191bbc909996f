"""Answers from a small world, with what they rest on; weights by hand."""

from collections.abc import Callable
from random import Random
from unittest.mock import Mock

import numpy as np
import pytest

from kg_index.answers.answerer import LONGEST, Answerer, FactAnswer
from kg_index.answers.lookup import Lookup
from kg_index.answers.verbalise import SHOWN

EX = "http://example.org/"
WEIGHTS = {
    "link": 1.0, "link_score": 1.0, "coverage": 4.0, "unexplained": -1.0, "whole": 1.0, "precision": 4.0, "cosine": 3.0,
    "kind": 3.0, "type": 3.0, "prose": -2.0, "cut": -2.0, "inverse": -0.5, "steps": 1.0, "template": 8.0, "model": 8.0,
}  # fmt: skip


@pytest.fixture
def answerer(world: Lookup, bag_of_words) -> Answerer:
    return Answerer(world, bag_of_words, WEIGHTS)


@pytest.fixture
def asking(bag_of_words) -> Callable[[Lookup], Answerer]:
    return lambda lookup: Answerer(lookup, bag_of_words, WEIGHTS)


def verbalised(answerer: Answerer, question: str, **options: int) -> FactAnswer:
    return answerer.verbalise(answerer.parse(question).interpretations[0].interpretation, **options)


def expect_shared_words(answer: FactAnswer) -> None:
    """Every span of the answer is said in the same words by the text it rests on."""
    for item in answer.evidence:
        assert item.span is not None
        assert item.source_span is not None
        quoted = answer.text[slice(*item.span)]
        assert quoted
        assert quoted == item.text[slice(*item.source_span)]
    subjects = [fact.subject for item in answer.evidence for fact in item.facts[:1]]
    assert len(subjects) == len({*subjects})
    assert all(len({fact.subject for fact in item.facts}) == 1 for item in answer.evidence)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the capital of Peru?", "The capital of Peru is Lima."),
        ("capital PERU", "The capital of Peru is Lima."),
        ("What is Peru's capital?", "The capital of Peru is Lima."),
        ("Lima is the capital of which country?", "The capital of Peru is Lima."),
        ("Which countries border Peru?", "Peru borders Bolivia, Chile and Brazil."),
        ("How many countries border Peru?", "3 are known: Bolivia, Chile and Brazil."),
        ("How many moons does Mars have?", "The number of moons of Mars is 2."),
        ("How many planets are there?", "3 are known: Mercury, Mars and Venus."),
        ("Name the planets", "Mercury, Mars and Venus."),
        ("Which planets have 0 moons?", "The number of moons of Mercury and Venus is 0."),
        ("When was Peru independent?", "Peru became independent on 28 July 1821."),
        ("What is the population of Peru?", "The population of Peru is 33,000,000."),
        ("What is the elevation of Lima?", "The elevation of Lima is 1540 m."),
        ("In which year was Santiago founded?", "Santiago was founded in 1541."),
        ("What was founded in 1535?", "Lima was founded in 1535."),
        ("Which country has the calling code +51?", "The calling code of Peru is +51."),
        ('What has the chemical symbol "Hg"?', "The chemical symbol of Mercury is Hg."),
        ("Who discovered radium?", "Radium was discovered by Marie Curie."),
        ("What did Marie Curie discover?", "Polonium and radium were discovered by Marie Curie."),
        ("Who is the mayor of the capital of Peru?", "The capital of Peru is Lima. The mayor of Lima is Jorge Muñoz."),
        (
            "What is the elevation of the capital of Peru?",
            "The capital of Peru is Lima. The elevation of Lima is 1540 m.",
        ),
        ("What is the chemical symbol of the metal Mercury?", "The chemical symbol of Mercury is Hg."),
        ("How many moons does the planet Mercury have?", "The number of moons of Mercury is 0."),
    ],
)
def test_answers_and_what_they_rest_on(answerer: Answerer, question: str, text: str) -> None:
    answer = verbalised(answerer, question)
    assert answer.text == text
    expect_shared_words(answer)


def test_evidence_says_its_facts_and_gives_the_triples(answerer: Answerer) -> None:
    answer = verbalised(answerer, "What did Marie Curie discover?")
    first, second = answer.evidence
    assert second.text == (f"radium was discovered by Marie Curie.\n<{EX}radium> <{EX}discovered_by> <{EX}curie> .")
    assert (second.span, second.source_span) == ((13, 19), (0, 6))
    assert (first.span, first.source_span) == ((0, 8), (0, 8))
    (fact,) = first.facts
    assert answerer.lookup.triples.term(fact.subject) == f"{EX}polonium"


def test_two_steps_through_one_node_are_one_evidence(asking, build_graph) -> None:
    """a ← node → b, and what a list of middles says in one sentence each evidence says for itself."""
    graph = build_graph("""
        :a rdfs:label "Alpha" . :x rdfs:label "Xi" ; :owner :a ; :code "X1" .
        :y rdfs:label "Yps" ; :owner :a ; :code "Y2" .
        :owner rdfs:label "owner" . :code rdfs:label "code" .""")
    answer = verbalised(asking(graph), "the code of what has the owner Alpha")
    assert answer.text == "The owner of Xi and Yps is Alpha. The codes of Xi and Yps are X1 and Y2."
    assert [answer.text[slice(*item.span)] for item in answer.evidence] == ["X1", "Y2"]
    assert [len(item.facts) for item in answer.evidence] == [2, 2]
    expect_shared_words(answer)


def long_list(count: int) -> str:
    return ':hub rdfs:label "Hub" . :part rdfs:label "parts" .\n' + "".join(
        f':hub :part :e{n:03} . :e{n:03} rdfs:label "part {n:03}" .\n' for n in range(count)
    )


def test_a_long_list_says_how_many_are_left_out(asking, build_graph) -> None:
    answerer = asking(build_graph(long_list(27)))
    answer = verbalised(answerer, "What are the parts of Hub?")
    assert answer.text.startswith("The parts of Hub are part 000, part 001, ")
    assert answer.text.endswith(", part 019 and 7 more.")
    (evidence,) = answer.evidence
    assert len(evidence.facts) == SHOWN
    expect_shared_words(answer)
    short = verbalised(answerer, "What are the parts of Hub?", limit=120)
    assert short.text.endswith(" more.")
    assert len(short.text) <= 120
    expect_shared_words(short)


def test_no_answer_is_longer_than_its_limit(asking, build_graph) -> None:
    answerer = asking(build_graph(long_list(27)))
    for limit in (1, 2, 17, 25, 40, 41, 55, 200):
        answer = verbalised(answerer, "What are the parts of Hub?", limit=limit)
        assert 0 < len(answer.text) <= limit
        for item in answer.evidence:
            assert (item.span is None) == (item.source_span is None)
            if item.span is not None:
                assert answer.text[slice(*item.span)] == item.text[slice(*item.source_span)]


def test_beyond_a_thousand_it_says_at_least(asking, build_graph) -> None:
    answerer = asking(build_graph(long_list(1_200)))
    assert verbalised(answerer, "How many parts has Hub?").text.startswith("At least 1,000 are known: part 000, ")
    assert verbalised(answerer, "What are the parts of Hub?").text.endswith(" and at least 980 more.")


def test_a_value_of_megabytes_is_cut(asking, build_graph) -> None:
    answerer = asking(
        build_graph(f':a rdfs:label "Alpha" ; :story "{"long " * 400_000}" . :story rdfs:label "story" .')
    )
    answer = verbalised(answerer, "What is the story of Alpha?")
    assert len(answer.text) == 1_000
    (evidence,) = answer.evidence
    assert len(evidence.text) < 10_000
    assert verbalised(answerer, "What is the story of Alpha?", limit=10_000).evidence[0].span == (22, 4_022)


def test_values_of_several_lines_and_quotes(asking, build_graph) -> None:
    graph = build_graph(
        r""":a rdfs:label "Ann \"Bee\"\nCee" ; :motto "say \"hi\"\\\n🚀 سلام" . :motto rdfs:label "motto" ."""
    )
    answer = verbalised(asking(graph), "What is the motto of Ann Bee Cee?")
    assert answer.text == 'The motto of Ann "Bee"\nCee is say "hi"\\\n🚀 سلام.'
    expect_shared_words(answer)


def test_the_longest_run_of_shared_words_is_shown(asking, build_graph) -> None:
    """A first letter that grows to two, a list in another order, a name in small letters at the head of a list."""
    graph = build_graph("""
        :a rdfs:label "ßa" ; :in :e . :b rdfs:label "éb" ; :in :e . :c rdfs:label "ﬁc" ; :in :e .
        :e rdfs:label "Place" . :in rdfs:label "located in" .""")
    answer = verbalised(asking(graph), "What is located in Place?")
    assert answer.text == "ßa, éb and ﬁc are located in Place."
    expect_shared_words(answer)


def test_known_templates_and_a_scorer_decide_where_words_are_silent(world: Lookup, bag_of_words) -> None:
    from kg_index.relations.template_rows import Row
    from kg_index.relations.templates import TemplateTable

    class Mayors:
        def score(self, templates, pools) -> list[np.ndarray]:
            return [np.array([float(name.endswith("mayor")) for name in pool]) for pool in pools]

    question = "the big cheese of Lima"
    table = TemplateTable.of([Row("the big cheese of <m>", f"{EX}mayor", 1.0)])
    for options in ({"templates": table}, {"scorer": Mayors()}):
        answerer = Answerer(world, bag_of_words, WEIGHTS, **options)
        assert verbalised(answerer, question).text == "The mayor of Lima is Jorge Muñoz."


def test_features_of_the_best_reading_with_its_certainty(answerer: Answerer) -> None:
    parsed = answerer.parse("What is the capital of Peru?")
    scores = [item.score for item in parsed.interpretations]
    assert scores == sorted(scores, reverse=True)
    best = parsed.interpretations[0]
    assert best.score == pytest.approx(sum(w * best.interpretation.features[name] for name, w in WEIGHTS.items()))
    odds = np.exp(np.array(scores) - scores[0])
    assert [item.interpretation.answers for item in parsed.interpretations].count(best.interpretation.answers) == 1
    assert parsed.features["certainty"] == pytest.approx(1 / odds.sum())
    assert parsed.features["score"] == best.score
    assert parsed.features["coverage"] == 1


def test_readings_with_the_same_answers_support_each_other(asking, build_graph) -> None:
    graph = build_graph(
        ':a rdfs:label "Alpha" ; :boss :b ; :head :b ; :foe :c . :b rdfs:label "Bea" . :c rdfs:label "Cea" .'
    )
    parsed = asking(graph).parse("who is the boss of Alpha")
    assert len(parsed.interpretations) == 3
    odds = {
        item.interpretation.relation: np.exp(item.score - parsed.interpretations[0].score)
        for item in parsed.interpretations
    }
    same = odds[f"{EX}boss"] + odds[f"{EX}head"]
    assert parsed.features["certainty"] == pytest.approx(same / sum(odds.values()))


ODD = [
    "",
    " ",
    "?",
    "🚀🚀",
    "من هو رئيس ليما",
    "\u202eureP fo latipac",
    "\x00",
    "\ud800",
    '"',
    "“”",
    '"\\"',
    "\\",
    "'\n'",
    "capital of \x00",
    "of of of of",
    "a" * 100_000,
    "-" * 100_000,
    '"' * 10_000,
    "1" * 100_000,
    "(" * 100_000,
    "'a" * 50_000,
]


@pytest.mark.parametrize("question", ODD, ids=lambda text: repr(text[:12]))
def test_questions_about_nothing_have_no_readings(answerer: Answerer, question: str) -> None:
    parsed = answerer.parse(question)
    assert parsed.interpretations == ()
    assert parsed.features == {}
    assert parsed.question == question


def test_of_ten_thousand_words_the_beginning_is_read(answerer: Answerer) -> None:
    question = "What is the capital of Peru? " + "Chile Bolivia Brazil Lima Mercury +51 " * 10_000
    assert len(answerer.parse(question).interpretations) <= 12
    late = "word " * (LONGEST // 5) + "the capital of Peru"
    assert answerer.parse(late).interpretations == ()


def test_odd_signs_around_a_question_do_not_hide_it(answerer: Answerer) -> None:
    for question in (
        "🚀 What is the capital of Peru? 🚀",
        "\u202bWhat is the capital of Peru?\u202c",
        "What is\nthe capital\tof  Peru?\x00",
        "what's the “capital” of Peru",
    ):
        assert verbalised(answerer, question).text == "The capital of Peru is Lima."


@pytest.mark.parametrize("turtle", ["", ":peru :capital :lima ."])
def test_a_graph_without_names_knows_nothing(asking, build_graph, turtle: str) -> None:
    assert asking(build_graph(turtle)).parse("What is the capital of peru?").interpretations == ()


def test_a_name_of_a_thousand_entities(asking, build_graph) -> None:
    people = "".join(f':e{n} rdfs:label "John Smith" ; :job "singer {n}" .\n' for n in range(1_000))
    answerer = asking(build_graph(people + ':job rdfs:label "job" .'))
    assert len(answerer.parse("What is the job of John Smith?").interpretations) == 12
    assert verbalised(answerer, "What is the job of John Smith?").text.startswith("The job of John Smith is singer ")


def test_the_time_may_be_up(answerer: Answerer) -> None:
    with pytest.raises(TimeoutError):
        answerer.parse("capital of Peru", check=Mock(side_effect=TimeoutError))


NAMES = ("Ann", "ann", "the Ann", "ßeta", "Ann Bee", "Bee", "Cee 7", "Éa", "of", "Is")
RELATIONS = ("capital", "borders", "located in", "owner", "born", "type of", "of")
ASKING = ("what is the", "of the", "how many", "name the", '"Ann"', "which", "2", "that")


def random_graph(draw: Random) -> str:
    """Names that overlap, relations with and without a label, kinds of all sorts, predicates and nodes as terms."""

    def term() -> str:
        return draw.choice((f":e{draw.randrange(10)}", f":p{draw.randrange(7)}", f"_:b{draw.randrange(3)}"))

    def value() -> str:
        return draw.choice((f'"{draw.choice(NAMES)}"', str(draw.randrange(5)), '"1900-01-01"^^xsd:date', term()))

    labels = [f':e{i} rdfs:label "{name}"@en .' for i, name in enumerate(NAMES)]
    labels += [f':p{i} rdfs:label "{name}" .' for i, name in enumerate(RELATIONS) if draw.random() < 0.8]
    facts = [f"{term()} :p{draw.randrange(7)} {value()} ." for _ in range(60)]
    return "\n".join([*labels, *facts, *(f"{term()} a {term()} ." for _ in range(8))])


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_asked_of_whatever_graph_the_spans_hold(asking, build_graph, seed: int) -> None:
    draw = Random(seed)
    answerer = asking(build_graph(random_graph(draw)))
    for _ in range(40):
        question = " ".join(draw.choice((*NAMES, *RELATIONS, *ASKING)) for _ in range(draw.randrange(1, 8)))
        for scored in answerer.parse(question).interpretations:
            expect_shared_words(answerer.verbalise(scored.interpretation))
            limit = draw.randrange(1, 60)
            assert 0 < len(answerer.verbalise(scored.interpretation, limit=limit).text) <= limit
