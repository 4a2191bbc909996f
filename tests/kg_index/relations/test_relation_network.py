import json
from pathlib import Path

import numpy as np
import pytest
import torch

from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.relation_network import RelationDetector
from kg_index.relations.template_rows import Row
from kg_index.relations.template_text import NO_PATH
from kg_index.relations.templates import TemplateTable
from kg_index.training.relation_training import (
    RelationTraining,
    _batches,
    adjust_prior,
    examples_of,
    likelihoods,
    loss_of,
    shortened,
    train_phases,
)

RELATIONS = ["http://g/author", "http://g/birthPlace", "http://g/deathPlace", NO_PATH]
TOY = TemplateTable.of(
    [
        Row("author of <m>", "http://g/author", 4),
        Row("author of <m>", "http://g/birthPlace", 1),
        Row("birth place of <m>", "http://g/birthPlace", 4),
        Row("birth place of <m>", NO_PATH, 2),
        Row("death place of <m>", "http://g/deathPlace", 4),
        Row("the <m>", NO_PATH, 2),
        Row("where did <m> die", "http://g/deathPlace", 3),
        Row("who wrote <m>", "http://g/author", 3),
    ]
)


def vectors(words) -> np.ndarray:
    """A vector a word, the same every time."""
    rows = [np.random.default_rng(list(word.encode())).normal(size=8) for word in words]
    return np.array(rows, dtype=np.float32).reshape(-1, 8)


def new(counts, relations) -> RelationDetector:
    return RelationDetector.of(counts, relations, vectors, hidden=12)


@pytest.fixture
def detector() -> RelationDetector:
    torch.manual_seed(1)
    counts = {word: 1 for template in TOY.templates() for word in template.split()}
    return new(counts, RELATIONS)


TEMPLATES = ["who wrote <m>", "", "where in the world did the author of <m> die", "birth place of <m>"]
POOL = ["http://g/author", "http://g/unknown", "http://g/deathPlace"]


def test_scores_are_probabilities_over_the_pool(detector: RelationDetector) -> None:
    scores = detector.score(TEMPLATES, [POOL] * 4)
    for row in scores:
        assert row.sum() == pytest.approx(1)
        assert row[1] == 0
    logits = detector.log_likelihoods(TEMPLATES[:1])[0]
    expected = np.exp(logits[[0, 2]]) / np.exp(logits[[0, 2]]).sum()
    np.testing.assert_allclose(scores[0][[0, 2]], expected, rtol=1e-5)


def test_no_path_found_is_never_chosen(detector: RelationDetector) -> None:
    assert detector.score(["who wrote <m>"], [[NO_PATH, "http://g/unknown"]])[0].tolist() == [0, 0]
    assert detector.score(["who wrote <m>"], [[]])[0].shape == (0,)
    assert detector.score([], []) == []


def test_a_very_long_template_is_cut(detector: RelationDetector) -> None:
    assert detector.read(["wrote " * 10_000])[0].shape == (40,)


def test_another_number_of_relations_is_refused(detector: RelationDetector, tmp_path: Path) -> None:
    detector.save(tmp_path / "m", card="")
    path = tmp_path / "m" / "config.json"
    content = json.loads(path.read_text())
    content["config"]["relations"] = 7
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="Expected 7 relations, but got 4"):
        RelationDetector.load(tmp_path / "m")


def test_the_loss_by_hand(detector: RelationDetector) -> None:
    examples = examples_of(detector, TOY, np.array([4, 0, 2, 0, 0, 0, 0, 0], dtype=np.float32))
    assert (len(examples), len(examples.templates)) == (2, 2)
    np.testing.assert_allclose(examples.weight, [4 / 3, 2 / 3])
    detector.network.eval()
    rows = detector.log_likelihoods(["author of <m>", "birth place of <m>"])
    expected = -(4 / 3 * rows[0, 0] + 2 / 3 * rows[1, 1]) / 2
    assert loss_of(detector, examples, np.arange(2)).item() == pytest.approx(expected, rel=1e-5)


def test_likelihoods_of_mappings(detector: RelationDetector) -> None:
    result = likelihoods(detector, TOY, at_once=2)
    every = np.exp(detector.log_likelihoods([row.template for row in TOY.rows()]))
    expected = [every[row_number, RELATIONS.index(row.relation)] for row_number, row in enumerate(TOY.rows())]
    np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize("weights", [[-1.0] * 8, [float("nan")] * 8, [0.0] * 8])
def test_bad_weights_are_refused(detector: RelationDetector, weights: list[float]) -> None:
    with pytest.raises(ValueError, match="Expected"):
        examples_of(detector, TOY, np.array(weights, dtype=np.float32))


def test_the_phases_learn_the_toy_task() -> None:
    """K drops wordings that share no word with the relation; the second phase takes them in."""
    config = RelationTraining(epochs=60, batch=4, learning_rate=0.01)
    steps = list(train_phases(TOY, new, KeywordMatcher().overlap, config, seed=1))
    assert list(dict.fromkeys(phase for phase, _, _ in steps)) == ["F×K", "F×(l+α)"]
    detector = steps[-1][1]
    pool = RELATIONS[:3]
    templates = ["author of <m>", "who wrote <m>", "where did <m> die", "birth place of <m>"]
    best = [pool[int(row.argmax())] for row in detector.score(templates, [pool] * 4)]
    assert best == [RELATIONS[0], RELATIONS[0], RELATIONS[2], RELATIONS[1]]


def test_the_same_seed_gives_the_same_detector() -> None:
    config = RelationTraining(epochs=2, batch=4)
    one, two = (list(train_phases(TOY, new, KeywordMatcher().overlap, config, seed=1))[-1][1] for _ in range(2))
    np.testing.assert_array_equal(one.log_likelihoods(TEMPLATES), two.log_likelihoods(TEMPLATES))


def test_of_no_path_found_as_many_are_drawn_and_weigh_the_more(detector: RelationDetector) -> None:
    rows = [Row(f"{letter} <m>", NO_PATH, 1) for letter in "abcdefgh"] + [Row("z <m>", "http://g/author", 1)]
    table = TemplateTable.of(rows)
    every = examples_of(detector, table, np.ones(9, dtype=np.float32))
    some = examples_of(detector, table, np.ones(9, dtype=np.float32), silent=2, seed=1)
    assert (len(every), len(some)) == (9, 3)
    np.testing.assert_allclose(some.weight / some.weight.sum(), [4 / 9, 4 / 9, 1 / 9], rtol=1e-6)


def test_the_second_phase_needs_a_first() -> None:
    with pytest.raises(ValueError, match="as the first"):
        list(train_phases(TOY, new, KeywordMatcher().overlap, seed=1, phases=("F×(l+α)",)))


def test_short_templates_and_paths_are_kept() -> None:
    rows = [
        Row("a <m>", "http://g/p", 1),
        Row("a <m>", "http://g/p / ^http://g/q", 2),
        Row("a b <m>", NO_PATH, 3),
        Row("a b c <m>", "http://g/p", 4),
    ]
    table = TemplateTable.of(rows)
    assert [*shortened(table, steps=1, words=3).rows()] == [rows[0], rows[2]]
    assert [*shortened(table, steps=2, words=4).rows()] == rows


def test_evening_divides_by_the_mean_likelihood(detector: RelationDetector) -> None:
    """`p(r|T) / mean_T p(r|T)^s`, normalised; the argument is not changed."""
    templates = [*TOY.templates()]
    before = np.exp(detector.log_likelihoods(templates))
    for share in (0.0, 0.5, 1.0):
        expected = before / before.mean(0) ** share
        adjusted = np.exp(adjust_prior(detector, templates, share=share).log_likelihoods(templates))
        np.testing.assert_allclose(adjusted, expected / expected.sum(1, keepdims=True), rtol=1e-4)
    np.testing.assert_array_equal(np.exp(detector.log_likelihoods(templates)), before)


def test_batches_hold_every_mapping_once(detector: RelationDetector) -> None:
    table = TemplateTable.of([Row(f"w{n:03} {'x ' * (n % 7)}<m>", RELATIONS[n % 3], 1) for n in range(200)])
    examples = examples_of(detector, table, np.ones(200, dtype=np.float32))
    for size in (1, 3, 50, 1000):
        result = [*_batches(examples, size, np.random.default_rng(1))]
        assert sorted(np.concatenate(result).tolist()) == [*range(200)]
        assert max(map(len, result)) <= 2 * size
