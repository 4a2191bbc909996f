import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.topics.counting_grid import CountingGrid, GridConfig, log_windows
from qa_core.networks.vocabulary import Vocabulary

WORDS = ("sea", "beach", "war", "peace")


def random_grid(height=3, width=4, window=2, background=0.1, seed=0) -> CountingGrid:
    rng = np.random.default_rng(seed)
    cells = rng.dirichlet([0.5] * len(WORDS), size=height * width).T.astype(np.float32)
    shares = rng.dirichlet([1.0] * len(WORDS)).astype(np.float32)
    config = GridConfig(height, width, window, background)
    return CountingGrid.of(config, Vocabulary(WORDS), cells, shares)


def brute_force(grid: CountingGrid, text: str) -> np.ndarray:
    """p(text | k) by eq. 8.3 and 8.4, factor by factor."""
    config, before = grid.config, (grid.config.window - 1) // 2
    likelihoods = []
    for k in range(config.cells):
        row, column = divmod(k, config.width)
        likelihood = 1.0
        for word in text.split():
            z = WORDS.index(word)
            total = 0.0
            for down in range(config.window):
                for right in range(config.window):
                    cell = (row + down - before) % config.height, (column + right - before) % config.width
                    total += float(grid.cells[z, cell[0] * config.width + cell[1]])
            h = total / config.window**2
            likelihood *= (1 - config.background) * h + config.background * float(grid.background[z])
        likelihoods.append(likelihood)
    return np.array(likelihoods)


@settings(max_examples=40)
@given(
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    background=st.sampled_from([0.0, 0.2]),
    seed=st.integers(0, 99),
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    data=st.data(),
)
def test_likelihood_and_posterior_equal_a_brute_force_computation(sizes, background, seed, words, data):
    window = data.draw(st.integers(1, min(sizes)))
    grid, text = random_grid(*sizes, window, background, seed), " ".join(words)
    expected = brute_force(grid, text)
    assert math.exp(grid.log_likelihoods([text])[0]) == pytest.approx(expected.mean(), rel=1e-4)
    np.testing.assert_allclose(grid.posterior(text).probabilities, expected / expected.sum(), rtol=1e-4, atol=1e-6)


def test_a_hand_worked_posterior():
    # two by two cells, window 1, no background: h is π itself
    cells = np.array([[0.5, 0.25, 0.0, 1.0], [0.5, 0.75, 1.0, 0.0]], dtype=np.float32)
    grid = CountingGrid.of(GridConfig(2, 2, 1, 0.0), Vocabulary(("sea", "war")), cells, np.full(2, 0.5, np.float32))
    hint = grid.posterior("Sea, war! and sea")  # .125, .046875, 0, 0
    np.testing.assert_allclose(hint.probabilities, [8 / 11, 3 / 11, 0, 0], atol=1e-6)
    assert (hint.known, hint.unknown, hint.steers, hint.notice()) == (("sea", "war"), ("and",), True, None)
    assert grid.log_likelihoods(["sea"])[0] == pytest.approx(math.log(1.75 / 4))


@pytest.mark.parametrize(("text", "named"), [("xyzzy plugh", "xyzzy, plugh"), ("", "no words"), ("?!", "no words")])
def test_a_hint_of_unknown_words_has_a_notice(text, named):
    hint = random_grid().posterior(text)
    np.testing.assert_allclose(hint.probabilities, np.full(12, 1 / 12))
    assert not hint.steers
    assert f"but got {named}; it steers nothing" in hint.notice()
    assert random_grid().log_likelihoods([text])[0] == 0


def test_batched_posteriors_equal_single_ones_and_are_finite_for_long_texts():
    grid, texts = random_grid(), ["sea beach", "nothing", "war " * 10_000]
    rows = grid.posteriors(texts)
    assert rows.shape == (3, 12)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)
    for row, text in zip(rows, texts, strict=True):
        np.testing.assert_array_equal(row, grid.posterior(text).probabilities)
    assert grid.posteriors([]).shape == (0, 12)


def test_the_posterior_is_uniform_if_no_window_has_all_words():
    cells = np.array([[1.0] * 4, [0.0] * 4], dtype=np.float32)
    grid = CountingGrid.of(GridConfig(2, 2, 1, 0.0), Vocabulary(("sea", "war")), cells, np.full(2, 0.5, np.float32))
    np.testing.assert_allclose(grid.posterior("sea war").probabilities, 0.25)


def test_log_windows_of_many_words_are_computed_in_blocks():
    config = GridConfig(2, 2, 2, 0.5)
    cells = np.random.default_rng(0).random((2500, 4)).astype(np.float32)
    shares = np.full(2500, 1 / 2500, np.float32)
    expected = np.log(0.5 * cells.mean(axis=1, keepdims=True) + 0.5 / 2500)
    np.testing.assert_allclose(log_windows(cells, shares, config), np.repeat(expected, 4, axis=1), rtol=1e-4)


def test_a_grid_of_another_height_is_refused(tmp_path):
    random_grid().save(tmp_path / "grid", card="# A grid\n")
    config = json.loads((tmp_path / "grid" / "config.json").read_text())
    for height, message in ((5, "cells whose words do not sum to 1, among 20"), (2, "out of bounds")):
        config["config"]["height"] = height
        (tmp_path / "grid" / "config.json").write_text(json.dumps(config))
        with pytest.raises(ValueError, match=f"Expected the weights of this grid, but got others: .*{message}"):
            CountingGrid.load(tmp_path / "grid")


def test_pruned_cells_keep_their_most_likely_words():
    cells = np.array([[0.9, 0.4], [0.08, 0.3], [0.02, 0.3]], dtype=np.float32)
    grid = CountingGrid.of(GridConfig(1, 2, 1), Vocabulary(("a", "b", "c")), cells, np.full(3, 1 / 3, np.float32))
    np.testing.assert_allclose(grid.pruned(0.05).cells, [[0.9 / 0.98, 0.4], [0.08 / 0.98, 0.3], [0, 0.3]], rtol=1e-6)
    np.testing.assert_array_equal(grid.pruned(0.5).cells, [[1, 1], [0, 0], [0, 0]])  # the best stays in any case
    np.testing.assert_allclose(grid.pruned(0.0).cells, cells, rtol=1e-6)


def test_precomputed_windows_do_not_change_posteriors():
    fresh, prepared = random_grid(), random_grid()
    assert prepared.log_windows.shape == (4, 12)
    texts = ["sea war", "peace", ""]
    np.testing.assert_array_equal(fresh.posteriors(texts), prepared.posteriors(texts))


@pytest.mark.parametrize(
    ("sizes", "match"),
    [
        ({"window": 0}, "but got window 0 in 32 × 32 cells"),
        ({"height": 4}, "but got window 5 in 4 × 32 cells"),
        ({"background": 1.0}, "Expected a background from 0 to below 1, but got 1.0"),
        ({"background": math.nan}, "but got nan"),
    ],
)
def test_invalid_grid_sizes_are_refused(sizes, match):
    with pytest.raises(ValueError, match=match):
        GridConfig(**sizes)
