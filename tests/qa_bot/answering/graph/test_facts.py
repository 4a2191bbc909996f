"""Answers from a home's graph: the starter graph with its shipped questions, and small graphs."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import orjson
import pytest

from kg_index.answers.answerer import Answerer
from qa_bot.answering.graph.facts import (
    COLLECTION,
    NEGATED,
    NO_TOPIC,
    FactResult,
    Facts,
    FactsError,
    Fitted,
    open_facts,
)
from qa_bot.documents import graph
from qa_bot.home.config import Config
from qa_bot.home.encoders import resolve
from qa_bot.home.folder import Home
from qa_bot.home.sections import AnswerSection, FactsSection
from qa_bot.home.starter import FACT_QUESTIONS, GRAPH, NAMESPACE
from qa_core.types import Encoder
from qa_lab.evaluate.graph.fact_questions import FactQuestion, read_fact_questions

EX = "http://example.org/"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
SMALL = (
    f"<{EX}peru> <{EX}capital> <{EX}lima> .",
    f'<{EX}peru> {LABEL} "Peru"@en .',
    f'<{EX}lima> {LABEL} "Lima"@en .',
    f'<{EX}lima> <{EX}big_cheese> "Ana" .',
    f'<{EX}lima> <{EX}small_fry> "Bob" .',
    f"<urn:sea> <{EX}depth> \"4000\"^^<http://www.w3.org/2001/XMLSchema#integer> .",
    f'<urn:sea> {LABEL} "Sea of Names"@en .',
    f'<{EX}capital> {LABEL} "capital"@en .',
)  # fmt: skip


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return resolve("starter", models=tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[graph.Graph]:
    """The starter graph, opened."""
    home = Home.open(tmp_path_factory.mktemp("facts") / "home")
    graph.add(home, GRAPH)
    with graph.open_graph(home) as opened:
        yield opened


@pytest.fixture(scope="module")
def facts(starter: graph.Graph, encoder: Encoder) -> Facts:
    return Facts(starter, encoder, precision=0.85, limit=1_000)


@pytest.fixture(scope="module")
def questions(facts: Facts) -> list[FactQuestion]:
    return read_fact_questions(FACT_QUESTIONS, facts.lookup)


@pytest.fixture(scope="module")
def results(facts: Facts, questions: list[FactQuestion]) -> list[FactResult]:
    """Results of the questions, in order."""
    return [facts.find(question.question) for question in questions]


@pytest.fixture
def small(tmp_path: Path, write_lines: Callable[..., Path]) -> Home:
    home = Home.open(tmp_path / "small")
    graph.add(home, [write_lines("small.nt", *SMALL)])
    return home


def text_of(results: FactResult) -> str:
    assert results.answer is not None
    return results.answer.text


# the starter graph


def test_most_answerable_questions_and_few_others_are_answered(
    facts: Facts, questions: list[FactQuestion], results: list[FactResult]
) -> None:
    """A regression test, not an evaluation: the weights were fitted on these questions."""
    pairs = list(zip(questions, results, strict=True))
    answerable = [(question, result) for question, result in pairs if question.answerable]
    assert len(answerable) >= 186
    assert len(pairs) - len(answerable) >= 30
    right = [
        question
        for question, result in answerable
        if result.parsed.interpretations
        and question.right(result.parsed.interpretations[0].interpretation, facts.lookup)
    ]
    assert len(right) >= 170 / 186 * len(answerable)
    assert sum(result.accepted for _, result in answerable) >= 165 / 186 * len(answerable)
    assert sum(result.accepted for question, result in pairs if not question.answerable) <= 3


def test_every_answer_has_spans_in_its_sources(facts: Facts, results: list[FactResult]) -> None:
    trace = [result for result in results if result.answer is not None]
    assert len(trace) > 180
    for result in trace:
        text, sources = text_of(result), facts.sources(result)
        assert 0 < len(text) <= 1_000
        assert sources
        documents = [source.document for source in sources]
        assert len(documents) == len({*documents})
        for source in sources:
            assert source.span is not None
            assert source.source_span is not None
            assert text[slice(*source.span)] == source.text[slice(*source.source_span)] != ""


def test_lower_ranked_answers_have_spans_in_their_evidence(
    starter: graph.Graph, encoder: Encoder, results: list[FactResult]
) -> None:
    answerer = Answerer(starter.lookup, encoder.encode, Fitted.shipped().weights)
    interpretations = [
        scored.interpretation for result in results[::3] for scored in result.parsed.interpretations[1:6]
    ]
    assert len(interpretations) > 200
    for interpretation in interpretations:
        answer = answerer.verbalise(interpretation, limit=300)
        assert 0 < len(answer.text) <= 300
        shared = [
            (result.span, result.source_span, result.text) for result in answer.evidence if result.span is not None
        ]
        assert shared
        assert all(answer.text[slice(*span)] == text[slice(*source)] != "" for span, source, text in shared)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the capital of Australia?", "The capital of Australia is Canberra."),
        ("How many moons does Mars have?", "The number of moons of Mars is 2."),
        ("When was Marie Curie born?", "Marie Curie was born on 7 November 1867."),
        (
            "Name the continents",
            "Africa, Antarctica, Asia, Europe, North America, Oceania and South America.",
        ),
    ],
)
def test_typical_first_questions_are_answered(facts: Facts, question: str, text: str) -> None:
    answer = facts.find(question)
    assert answer.accepted
    assert sorted(text_of(answer).replace(" and ", ", ").rstrip(".").split(", ")) == sorted(
        text.replace(" and ", ", ").rstrip(".").split(", ")
    )


@pytest.mark.parametrize(
    "question",
    [
        "",
        "🚀",
        "\x00",
        "word " * 10_000,
        "a" * 100_000,
        "من أين",
        "Why do cats sleep all day?",
        "Who is the mayor of Atlantis?",
        "What is Taylor Swift's biggest hit?",
        "How do I convert Swiss francs to euros?",
        "Is Venus visible tonight?",
        "What is the capital gains tax in Germany?",
        "Which countries are in the EU?",
        "How many countries use the metric system?",
        "Which country is the nicest?",
        "What is the capital of Paris?",
        "What is the second largest spoon?",
        "What is the anthem of Brazil called?",
        "What is the capital of Germany and how many people live there?",
        "Which countries do not border Peru?",
        "Which planet has no rings?",
        "Which planet isn't the largest?",
        "What is the capital of Peru and what is not its currency?",
    ],
    ids=lambda text: repr(text[:24]),
)
def test_questions_without_a_fact_are_not_answered(facts: Facts, question: str) -> None:
    nothing = facts.find(question)
    assert not nothing.accepted
    assert nothing.reason
    assert 0 <= nothing.confidence < nothing.threshold


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the largest planet?", "The largest planet is Jupiter. The diameter of Jupiter is 139,820 km."),
        ("which is the second largest planet in the solar system", "The second largest planet is Saturn. "),
        ("Which country is the biggest?", "The biggest country is Russia. The area of Russia is 17,098,246 km²."),
        ("which planet is closest to the sun", "The closest planet is Mercury. "),
        ("what planet has the most moons", "The planet with the highest number of moons is Saturn. "),
        ("most populous country in Africa", "The country of Africa with the highest population is Nigeria. "),
        ("what is the largest country by population density", None),
    ],
)
def test_extremes(facts: Facts, question: str, text: str | None) -> None:
    answer = facts.find(question)
    assert answer.accepted == (text is not None)
    if text is None:
        return
    assert text_of(answer).startswith(text)
    (source,) = facts.sources(answer)
    assert source.span is not None
    assert source.source_span is not None
    assert text_of(answer)[slice(*source.span)] == source.text[slice(*source.source_span)]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "Who invented dynamite and in which year?",
            "Dynamite was invented by Alfred Nobel. Dynamite was invented in 1867.",
        ),
        (
            "When and where was Mozart born?",
            "Wolfgang Amadeus Mozart was born on 27 January 1756. Wolfgang Amadeus Mozart was born in Salzburg.",
        ),
        (
            "When was Mozart born and where?",
            "Wolfgang Amadeus Mozart was born on 27 January 1756. Wolfgang Amadeus Mozart was born in Salzburg.",
        ),
    ],
)
def test_two_facts_answer_two_parts(facts: Facts, question: str, text: str) -> None:
    answer = facts.find(question)
    assert answer.accepted
    assert text_of(answer) == text
    (source,) = facts.sources(answer)
    assert source.span == source.source_span == (0, len(text))
    assert source.text.startswith(text)
    assert len(source.text.splitlines()) == 3


def test_reasons(facts: Facts) -> None:
    nothing = facts.find("xyzzy")
    assert (nothing.answer, nothing.confidence, nothing.reason) == (None, 0.0, NO_TOPIC)
    assert facts.find("What is not the capital of Peru?").reason == NEGATED
    unsure = facts.find("What does Mercury smell like?")
    assert unsure.answer is not None
    assert "“Mercury”" in unsure.reason
    assert f"{unsure.confidence:.2f}" in unsure.reason


def test_sources_are_documents_of_the_graph(facts: Facts) -> None:
    answer = facts.find("What is the capital of Australia?")
    (source,) = facts.sources(answer)
    assert source.document == source.url == f"{NAMESPACE}Australia"
    assert source.id == f"{NAMESPACE}Australia {NAMESPACE}p/capital"
    assert (source.collection, source.title) == (COLLECTION, "Australia")
    assert source.score == pytest.approx(answer.confidence, abs=1e-6)
    assert source.text.splitlines() == [
        "The capital of Australia is Canberra.",
        f"<{NAMESPACE}Australia> <{NAMESPACE}p/capital> <{NAMESPACE}Canberra> .",
    ]


def test_a_trace_is_json_and_shows_each_step(facts: Facts) -> None:
    trace = orjson.loads(orjson.dumps(facts.trace(facts.find("Which planets have rings?"))))
    assert [result["kind"] for result in trace["mentions"] if result["text"] == "planets"] == [True]
    assert trace["readings"][0]["score"] == max(result["score"] for result in trace["readings"])
    assert {"template", "relation", "entity", "answers", "count", "counted", "features"} <= trace["readings"][0].keys()
    assert {"score", "certainty", "coverage"} <= trace["features"].keys()
    assert 0 <= trace["confidence"] <= 1
    assert orjson.loads(orjson.dumps(facts.trace(facts.find("")))) == {
        "mentions": [], "readings": [], "features": {}, "confidence": 0.0, "threshold": trace["threshold"]
    }  # fmt: skip


def test_search_returns_distinct_facts_best_first(facts: Facts) -> None:
    results = facts.search("What is the capital of Australia?", top=5)
    assert results[0].passage.text.startswith("The capital of Australia is Canberra.")
    assert len(results) == len({result.passage.id for result in results}) == 5
    assert [result.score for result in results] == sorted((result.score for result in results), reverse=True)
    assert facts.search("What is the capital of Australia?", top=0) == []
    assert len(facts.search("Name the countries", top=3)) == 3
    assert facts.search("xyzzy", top=5) == []


def test_the_required_precision_sets_the_threshold(starter: graph.Graph, encoder: Encoder) -> None:
    bold, shy = (Facts(starter, encoder, precision=precision, limit=100) for precision in (0.0, 1.0))
    question = "What does Mercury smell like?"
    assert bold.find(question).threshold < shy.find(question).threshold
    assert bold.find(question).accepted
    assert not shy.find(question).accepted


def test_long_answers_are_cut_to_the_limit(starter: graph.Graph, encoder: Encoder) -> None:
    short = Facts(starter, encoder, precision=0.85, limit=60)
    answer = text_of(short.find("Which countries border Germany?"))
    assert len(answer) <= 60
    assert " more" in answer


def test_a_deadline_stops_the_search(facts: Facts) -> None:
    check = Mock(side_effect=TimeoutError)
    with pytest.raises(TimeoutError):
        facts.find("What is the capital of Australia?", check=check)
    with pytest.raises(TimeoutError):
        facts.search("What is the capital of Australia?", top=3, check=check)


def test_shipped_weights_have_existing_features() -> None:
    from kg_index.answers.interpretations import FEATURES

    fitted = Fitted.shipped()
    assert {*fitted.weights} == {*FEATURES}
    assert {*fitted.confidence.features} <= {*FEATURES, "score", "certainty"}
    assert 0 < fitted.confidence.threshold(0.85) < 1


# homes


def test_a_small_graph_gives_answers_and_sources(small: Home) -> None:
    with ExitStack() as stack:
        facts = open_facts(small, Config(), stack)
        answer = facts.find("What is the capital of Peru?")
        assert text_of(answer) == "The capital of Peru is Lima."
        (source,) = facts.sources(answer)
        assert source.url == f"{EX}peru"
        (sea,) = facts.sources(facts.find("What is the depth of the Sea of Names?"))
        assert (sea.document, sea.url) == ("urn:sea", "")


def configured(**options: str) -> Config:
    return replace(Config(), facts=FactsSection(**options))


def test_configured_templates_affect_the_score(small: Home, tmp_path: Path) -> None:
    (tmp_path / "mined").mkdir()
    (tmp_path / "mined" / "known.tsv").write_text(f"who runs <m>\t{EX}small_fry\t9\n")
    answers = []
    for config in (Config(), configured(templates=str(tmp_path / "mined"))):
        with ExitStack() as stack:
            results = open_facts(small, config, stack).find("Who runs Lima?")
        best = next(
            result for result in results.parsed.interpretations if result.interpretation.relation == f"{EX}small_fry"
        )
        answers.append((best.interpretation.features["template"], best.score))
    assert [share for share, _ in answers] == [0, 1]
    assert answers[1][1] > answers[0][1]


def test_answer_settings_of_the_configuration_are_used(small: Home) -> None:
    config = replace(Config(), answer=AnswerSection(limit=10, precision=0.0))
    with ExitStack() as stack:
        assert text_of(open_facts(small, config, stack).find("What is the capital of Peru?")) == "The capita"


def test_a_missing_graph_is_refused(tmp_path: Path) -> None:
    with ExitStack() as stack, pytest.raises(FactsError, match="knowledge graph, but there is none yet"):
        open_facts(Home.open(tmp_path / "bare"), Config(), stack)


def test_the_graph_answers_without_what_cannot_be_opened(
    small: Home, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "known.tsv").write_text("no columns\n")
    missing, bad = str(tmp_path / "no"), str(tmp_path / "bad")
    for config in (configured(templates=missing), configured(relations=missing), configured(templates=bad)):
        with ExitStack() as stack:
            assert open_facts(small, config, stack).find("What is the capital of Peru?").answer is not None
    reasons = [record.getMessage().partition(": ")[0] for record in caplog.records]
    assert reasons == [f"Facts are answered without facts.{key}" for key in ("templates", "relations", "templates")]
    assert "no columns" in caplog.text


def test_a_damaged_graph_is_refused(small: Home) -> None:
    (path,) = small.graph.glob("0*/triples/ops.subjects")
    path.unlink()
    with ExitStack() as stack, pytest.raises(FactsError):
        open_facts(small, Config(), stack)


def test_an_empty_graph_has_no_answer(tmp_path: Path, write_lines: Callable[..., Path]) -> None:
    home = Home.open(tmp_path / "empty")
    graph.add(home, [write_lines("none.nt")])
    with ExitStack() as stack:
        assert open_facts(home, Config(), stack).find("What is the capital of Peru?").reason == NO_TOPIC
