from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.topics.counting_grid import CountingGrid, GridConfig, log_windows
from generators.topics.word_bags import Bags, bags_of
from generators.training.grid_fitting import FitConfig, expectation, fit, initial_fitting, updated
from qa_core.networks.vocabulary import Vocabulary

ENDLESS = FitConfig(steps=8, tolerance=-1.0, patience=99, wide=())
TOPICS = (
    "sea sand wave boat shell",
    "war tank army siege truce",
    "cake bread flour oven yeast",
    "goal match team ball kick",
)


def bags(rows: list[list[int]]) -> Bags:
    lengths = [len(row) for row in rows]
    weights = np.arange(1.0, len(rows) + 1)
    return Bags(
        np.cumsum([0, *lengths]), np.array([word for row in rows for word in sorted(row)], dtype=np.int64), weights
    )


def planted(texts: int = 400, seed: int = 0) -> list[str]:
    """Texts of four words of one topic."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(TOPICS[number % len(TOPICS)].split(), size=4)) for number in range(texts)]


def brute_force_step(cells, background, config, data):
    """New cells by the update rule, in explicit sums, and the log-likelihood before the step."""
    words, size = cells.shape
    before = (config.window - 1) // 2

    def window(k):
        row, column = divmod(k, config.width)
        reach = range(-before, config.window - before)
        return [
            (row + down) % config.height * config.width + (column + right) % config.width
            for down in reach
            for right in reach
        ]

    inside = [window(k) for k in range(size)]
    beta = config.background
    h = np.array(
        [[(1 - beta) * cells[z, inside[k]].mean() + beta * background[z] for k in range(size)] for z in range(words)]
    )
    new, likelihood = np.zeros_like(cells), 0.0
    for begin, end, weight in zip(data.starts, data.starts[1:], data.weights, strict=False):
        bag = data.words[begin:end]
        joint = np.array([np.prod(h[bag, k]) for k in range(size)]) / size
        likelihood += weight * np.log(joint.sum())
        for k, q in enumerate(joint / joint.sum()):
            for z in bag:
                for i in inside[k]:  # share of this cell in the word
                    new[z, i] += weight * q * (1 - beta) * cells[z, i] / config.window**2 / h[z, k]
    return new / new.sum(axis=0), likelihood


small_bags = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=5).map(bags)
small_grids = st.builds(
    lambda height, width, window, background: GridConfig(height, width, min(height, width, window), background),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.3]),
)


@settings(max_examples=30)
@given(small_bags, small_grids, st.integers(0, 9))
def test_a_step_equals_a_brute_force_computation(data, config, seed):
    start = initial_fitting(data, 4, config, seed=seed, precision="float64")
    logs = log_windows(start.cells, start.background, config)
    counts, likelihood = expectation(data, logs)
    cells, expected = brute_force_step(start.cells, start.background, config, data)
    assert likelihood == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(updated(start.cells, counts, start.background, config), cells, rtol=1e-6, atol=1e-12)


@settings(max_examples=30)
@given(small_bags, small_grids, st.integers(0, 9))
def test_the_likelihood_rises_at_every_step(data, config, seed):
    fitting = initial_fitting(data, 4, config, seed=seed, precision="float64")
    reports = list(fit(fitting, data, ENDLESS))
    assert len(reports) == (9 if reports[0].log_likelihood else 2)  # a certain text ends the fitting
    for before, after in pairwise(reports):
        assert after.log_likelihood >= before.log_likelihood - 1e-9 * abs(before.log_likelihood)
    np.testing.assert_allclose(fitting.best.sum(axis=0), 1)


def test_planted_topics_are_recovered():
    vocabulary = Vocabulary(tuple(" ".join(TOPICS).split()))
    data = bags_of(planted(), vocabulary)
    fitting = initial_fitting(data, len(vocabulary), GridConfig(8, 8, 3, 0.01), seed=1)
    reports = list(fit(fitting, data, FitConfig(steps=40, wide=(6, 4))))
    assert [report.window for report in reports[:9]] == [6, 6, 6, 6, 4, 4, 4, 4, 3]
    for before, after in pairwise(reports):  # in single precision, within one window
        assert after.window != before.window or after.log_likelihood > before.log_likelihood - 1e-2
    # a topic on a quarter of the torus (4 × 4 cells) has 2 × 2 exclusive windows: 1 in 16 for a text of four words
    assert -reports[-1].per_word < np.log(5) + np.log(16) / 4 < np.log(20)
    grid = fitting.grid(vocabulary)
    falls = grid.posteriors([topic.replace(" ", " and ") for topic in TOPICS])
    overlap = falls @ falls.T
    assert (overlap - np.diag(np.diag(overlap))).max() < 1e-3
    held_out = planted(100, seed=7)
    where = grid.posteriors(held_out)
    assert (np.argmax(where @ falls.T, axis=1) == np.arange(100) % len(TOPICS)).all()
    best = grid.map().words[int(falls[0].argmax())]
    assert best[0] in TOPICS[0]


def test_fitting_depends_on_the_seed_but_not_on_blocks(monkeypatch):
    vocabulary = Vocabulary(tuple(" ".join(TOPICS).split()))
    data = bags_of(planted(60), vocabulary)

    def fitted(seed: int) -> CountingGrid:
        fitting = initial_fitting(data, len(vocabulary), GridConfig(4, 4, 2), seed=seed)
        list(fit(fitting, data, replace(ENDLESS, steps=3)))
        return fitting.grid(vocabulary)

    first = fitted(1).cells
    np.testing.assert_array_equal(fitted(1).cells, first)
    assert not np.allclose(fitted(2).cells, first)
    monkeypatch.setattr("generators.training.grid_fitting.BAGS", 7)
    monkeypatch.setattr("generators.training.grid_fitting.BLOCK", 3)
    np.testing.assert_allclose(fitted(1).cells, first, atol=1e-5)


def test_a_resumed_fitting_equals_an_uninterrupted_one():
    vocabulary = Vocabulary(tuple(" ".join(TOPICS).split()))
    data, held_out = bags_of(planted(60), vocabulary), bags_of(planted(30, seed=5), vocabulary)
    whole, parted = (initial_fitting(data, 20, GridConfig(4, 4, 2), seed=3) for _ in range(2))
    config = FitConfig(steps=6, wide=(3,), wide_steps=2, tolerance=0)
    reports = list(fit(whole, data, config, held_out=held_out))
    for report in fit(parted, data, config, held_out=held_out):
        if report.step == 4:
            break
    list(fit(parted, data, config, held_out=held_out))
    assert parted.history == whole.history == reports
    np.testing.assert_array_equal(parted.best, whole.best)
    assert list(fit(parted, data, config, held_out=held_out)) == []


def test_held_out_texts_stop_the_fitting():
    vocabulary = Vocabulary(tuple(" ".join(TOPICS).split()))
    data, other = bags_of(planted(12), vocabulary), bags_of(["sea tank oven ball"] * 3, vocabulary)
    fitting = initial_fitting(data, 20, GridConfig(6, 6, 2), seed=0)
    reports = list(fit(fitting, data, FitConfig(steps=50, patience=2, tolerance=0, wide=()), held_out=other))
    best = [report.step for report in reports if report.best][-1]
    assert reports[-1].step == best + 2 < 50
    assert min(report.held_out for report in reports) == reports[best].held_out


def test_a_plateau_stops_the_fitting_but_a_slow_start_does_not():
    vocabulary = Vocabulary(tuple(" ".join(TOPICS).split()))
    data = bags_of(planted(), vocabulary)
    fitting = initial_fitting(data, 20, GridConfig(8, 8, 4), seed=0)
    reports = list(fit(fitting, data, FitConfig(steps=200, wide=(), tolerance=1e-3)))
    assert 3 < reports[-1].step < 200
    assert -reports[-1].per_word < np.log(20) - 0.4


def test_fitting_without_bags_is_refused():
    empty = bags_of(["unknown"], Vocabulary(("sea",)))
    with pytest.raises(ValueError, match="Expected texts with words of the vocabulary, but got none"):
        initial_fitting(empty, 1, GridConfig(2, 2, 1), seed=0)


def test_wide_windows_must_fit_the_grid():
    config = FitConfig(wide=(16, 12, 9, 7, 6), wide_steps=2, steps=10)
    assert config.stages(GridConfig(10, 12, 6)) == [9, 7]
    assert config.most(GridConfig(10, 12, 6)) == 14
    assert [config.window(step, GridConfig(10, 12, 6)) for step in range(6)] == [9, 9, 7, 7, 6, 6]
    assert config.most(GridConfig(3, 3, 3)) == 10
    assert FitConfig(wide_steps=0).window(0, GridConfig()) == 5
