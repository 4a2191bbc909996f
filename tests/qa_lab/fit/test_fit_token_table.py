import math
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_lab.fit.fit_token_table import Bags, FitConfig, Table, contrastive, fit, triangle

TEXTS = ["cats", "sleep", "day", "cats sleep", "sleep day", "why do", "unhappy", "?"]


def test_bags_leave_unknown_tokens_out(word_pieces: Path) -> None:
    bags = Bags.of(["cats zebra sleep", "zebra", "day"], SubwordTokeniser.load(word_pieces))
    assert len(bags) == 3
    ids, offsets = bags.take(np.array([2, 1, 0]))
    assert ids.tolist() == [8, 4, 5]
    assert offsets.tolist() == [0, 1, 1]


def test_a_table_gives_normalised_sums() -> None:
    table = Table(np.array([[3, 0], [0, 4]], dtype=np.float32))
    rows = table((torch.tensor([0, 1, 1]), torch.tensor([0, 2, 2])))
    np.testing.assert_allclose(rows.detach().numpy(), [[0.6, 0.8], [0, 0], [0, 1]], atol=1e-6)


def test_contrastive_loss_by_hand() -> None:
    left = torch.eye(2)
    # scores [[2, 0], [0, 2]]: each right partner has probability e² / (e² + 1)
    assert contrastive(left, left, scale=2.0).item() == pytest.approx(math.log(1 + math.exp(-2)), rel=1e-5)


def test_learning_rate_goes_up_and_down() -> None:
    factor = triangle(10, warm_up=0.2)
    assert [factor(step) for step in (0, 1, 2, 6, 9)] == [0.5, 1.0, 1.0, 0.5, 0.125]


def test_a_fitted_table_points_where_the_teacher_does(word_pieces: Path) -> None:
    """Targets made by a hidden table: the fit finds it from sums alone."""
    rng = np.random.default_rng(1)
    tokeniser = SubwordTokeniser.load(word_pieces)
    hidden = Table(rng.normal(size=(12, 4)).astype(np.float32))
    bags = Bags.of(TEXTS, tokeniser)
    targets = hidden(bags.take(np.arange(len(TEXTS)))).detach().numpy()
    fitted = fit(
        rng.normal(size=(12, 4)).astype(np.float32),
        tokeniser,
        texts=TEXTS,
        targets=targets,
        pairs={"none": [("cats", "cats")]},
        config=FitConfig(epochs=150, batch=8, learning_rate=0.05),
    )
    results = Table(fitted)(bags.take(np.arange(len(TEXTS)))).detach().numpy()
    assert (results * targets).sum(1).mean() > 0.98
