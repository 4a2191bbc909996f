"""Weights and calibration of facts on made-up questions: the interpretation with the higher cosine is right."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kg_index.answers.answerer import ParsedQuestion, ScoredInterpretation
from kg_index.answers.interpretations import FEATURES, Interpretation
from kg_index.answers.topics import QuestionEntities, Topic
from kg_index.triples.paths import Step
from qa_bot.documents import graph
from qa_bot.home.encoders import STARTER
from qa_bot.home.folder import Home
from qa_lab.evaluate.graph.fact_questions import FactQuestion
from qa_lab.fit.fit_fact_confidence import (
    MODEL_WEIGHT,
    STARTER_WEIGHT,
    SURE,
    TEMPLATE_WEIGHT,
    Judged,
    calibrated,
    describe,
    held_out,
    judged,
    weights_of,
)


def interpretation(answer: int, **features: float) -> ScoredInterpretation:
    topic = Topic(1, 0, 1, "a", 1.0, 1.0)
    return ScoredInterpretation(Interpretation(topic, (Step(2, False),), "r", "<m>", (answer,), False, features), 0.0)


def example(number: int, cosines: tuple[float, ...], right: tuple[bool, ...], *, source: str = "toy") -> Judged:
    interpretations = tuple(interpretation(index, cosine=cosine, cut=0.5) for index, cosine in enumerate(cosines))
    query = FactQuestion(number, "a?", frozenset({"0"} if any(right) else ()))
    return Judged(source, query, ParsedQuestion("a?", QuestionEntities((), ()), interpretations), right)


def toy(count: int = 30, seed: int = 0) -> list[Judged]:
    """Of each third question nothing is right, and no cosine is high."""
    rng = np.random.default_rng(seed)
    results = []
    for number in range(count):
        if number % 3 == 2:
            results.append(example(number, tuple(rng.uniform(0, 0.3, 2).tolist()), (False, False)))
            continue
        low, high = rng.uniform(0, 0.4), rng.uniform(0.6, 1)
        results.append(example(number, (low, high), (False, True)))
    return results


def test_weights_are_those_of_all_features_and_two_by_hand() -> None:
    weights = weights_of(toy())
    assert {*weights} == {*FEATURES}
    assert (weights["template"], weights["model"]) == (TEMPLATE_WEIGHT, MODEL_WEIGHT)
    assert weights["cosine"] > 0
    assert weights["cut"] == pytest.approx(0, abs=1e-9)


def test_other_weights_put_readings_in_another_order() -> None:
    query = example(1, (0.2, 0.9, 0.5), (False, True, False))
    assert not query.first_right
    reranked = query.reranked({"cosine": 2.0, "nowhere": 1.0})
    assert [item.score for item in reranked.parsed.interpretations] == pytest.approx([1.8, 1.0, 0.4])
    assert reranked.right == (True, False, False)
    assert reranked.first_right
    assert query.reranked({"cosine": -1.0}).right == (False, False, True)
    assert query.reranked({}).right == query.right  # ties keep their order


def test_questions_over_the_starter_graph_count_more() -> None:
    assert example(1, (0.1,), (True,)).example.weight == 1
    assert example(1, (0.1,), (True,), source=STARTER).example.weight == STARTER_WEIGHT


def test_each_question_is_ordered_by_weights_of_the_others() -> None:
    """One lying question turns no order but those of other folds; its own is that of the honest ones."""
    honest = toy()
    liar = example(99, (0.1, 0.9), (True, False))
    ordered = held_out([*honest, liar])
    assert [item.question.number for item in ordered] == [item.question.number for item in (*honest, liar)]
    assert all(item.first_right for item in ordered[:-1] if item.question.answerable)
    assert not ordered[-1].first_right
    assert held_out(honest) == held_out(honest)
    assert {tuple(s.score for s in e.parsed.interpretations) for e in held_out(honest, seed=1)} != {
        tuple(s.score for s in e.parsed.interpretations) for e in held_out(honest)
    }


def test_confidences_tell_right_from_wrong() -> None:
    empty = Judged("toy", FactQuestion(100, "?", frozenset()), ParsedQuestion("?", QuestionEntities((), ()), ()), ())
    examples = [*held_out(toy(90)), empty]
    calibration, confidences = calibrated(examples)
    assert calibration.features == SURE
    assert len(confidences) == len(examples)
    assert confidences[-1] == 0
    right = [c for e, c in zip(examples, confidences, strict=True) if e.first_right]
    wrong = [c for e, c in zip(examples, confidences, strict=True) if not e.first_right]
    assert min(right) > max(wrong)
    assert max(wrong) < 0.5 < min(right)
    assert 0 < calibration.threshold(0.9) < 1


def test_figures_by_source() -> None:
    examples = [
        example(1, (0.5,), (True,), source="a"),
        example(2, (0.5,), (False,), source="a"),
        example(3, (0.5, 0.4), (False, True), source="b"),
    ]
    first, second = describe(examples, [0.9, 0.6, 0.2], 0.5).splitlines()
    assert first.startswith("a: right 1 of 1 answerable, 0 of 0 whose own fact is in the graph")
    assert first.endswith("from 0.5 on 1 of 2 given are right, 1 of 1 unanswerable are answered")
    assert second.startswith("b: right 0 of 1 answerable")
    assert second.endswith("from 0.5 on 0 of 0 given are right, 0 of 0 unanswerable are answered")


def test_nothing_to_fit() -> None:
    with pytest.raises(ValueError, match="right and wrong interpretations"):
        weights_of([example(1, (0.1,), (False,))])


def test_all_readings_of_a_graph_are_judged(tmp_path: Path, write_lines: Callable[..., Path]) -> None:
    """Beside its own questions those of the starter collection, which a graph of one fact cannot answer."""
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    home = Home.open(tmp_path / "place")
    facts = ("<http://e.x/zyx> <http://e.x/capital> <http://e.x/abc> .", f'<http://e.x/zyx> {label} "Zyxland" .')
    graph.add(home, [write_lines("facts.nt", *facts)])
    results = judged("toy", home, write_lines("q.jsonl", {"question": "capital of Zyxland", "answers": ["abc"]}))
    first, *others = results
    assert (first.first_right, first.source, len(first.parsed.interpretations)) == (True, "toy", 1)
    assert len(others) > 900
    assert not any(item.question.answerable or item.parsed.interpretations for item in others)
    questions = {item.question.question for item in others}
    assert "What is the capital of Australia?" not in questions  # the starter graph answers it
