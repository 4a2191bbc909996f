from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from qa_core.training.loop import Training
from qa_core.types import IntArray
from rankers.trainable import score_pairs
from rankers.training.answer_pool import AnswerPool, AnswerSet
from rankers.training.pair_training import (
    PairwiseConfig,
    PointwiseConfig,
    mean_average_precision,
    train_pairwise,
    train_pointwise,
    triples,
)

ANIMALS = ("cat", "dog", "owl", "bee", "elk")
SETS = [
    AnswerSet(f"a {name}", tuple(f"the {other} itself" for other in ANIMALS), tuple(other == name for other in ANIMALS))
    for name in ANIMALS
]


class Words:
    """A bilinear score of bags of words."""

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.words = {word: row for row, word in enumerate(("a", "the", "itself", *ANIMALS))}
        self.model: nn.Module = nn.Bilinear(len(self.words), len(self.words), 1)

    def read(self, questions: Sequence[str], answers: Sequence[str]) -> Any:
        return self._bags(questions), self._bags(answers)

    def scores(self, texts: Any, questions: IntArray, answers: IntArray) -> Tensor:
        scores: Tensor = self.model(texts[0][questions], texts[1][answers]).squeeze(1)
        return scores

    def _bags(self, texts: Sequence[str]) -> Tensor:
        bags = torch.zeros(len(texts), len(self.words))
        for row, text in enumerate(texts):
            bags[row, [self.words[word] for word in text.split() if word in self.words]] = 1
        return bags


def run(pool: AnswerPool, scorer: Words, *, pairwise: bool, **settings: Any) -> list[float]:
    training = Training(scorer.model, torch.optim.Adam(scorer.model.parameters(), lr=0.05), seed=1)
    if pairwise:
        reports = train_pairwise(training, scorer, pool, PairwiseConfig(epochs=30, batch=8, **settings), held_out=pool)
    else:
        reports = train_pointwise(
            training, scorer, pool, PointwiseConfig(epochs=60, batch=8, **settings), held_out=pool
        )
    return [progress.dev for progress in reports if progress.dev is not None]


@pytest.mark.parametrize("settings", [{}, {"balanced": True}])
def test_pointwise_training_learns_the_toy_task(settings: dict[str, Any]):
    scorer, pool = Words(), AnswerPool.of(SETS)
    run(pool, scorer, pairwise=False, patience=60, **settings)
    assert mean_average_precision(scorer, pool) == 1


@pytest.mark.parametrize(
    "settings", [{"sampling": "random"}, {"sampling": "hard"}, {"sampling": "mix", "elsewhere": 0.5}]
)
def test_pairwise_training_learns_the_toy_task(settings: dict[str, Any]):
    scorer, pool = Words(), AnswerPool.of(SETS)
    run(pool, scorer, pairwise=True, patience=30, **settings)
    assert mean_average_precision(scorer, pool) == 1


def test_the_hinge_of_a_triple_by_hand():
    """s(q, a⁺) = 2, s(q, a⁻) = 1.5, λ = 1: the hinge is .5, its gradient for the bias 0."""
    scorer = Words()
    pool = AnswerPool.of([AnswerSet("a cat", ("the cat", "the dog"), (True, False))])
    with torch.no_grad():
        for parameter in scorer.model.parameters():
            parameter.zero_()
        scorer.model.weight[0, scorer.words["cat"], scorer.words["cat"]] = 2
        scorer.model.weight[0, scorer.words["cat"], scorer.words["dog"]] = 1.5
    training = Training(scorer.model, torch.optim.SGD(scorer.model.parameters(), lr=0.1), seed=1)
    config = PairwiseConfig(epochs=1, negatives=1, sampling="random")
    (report,) = train_pairwise(training, scorer, pool, config)
    assert report.loss == pytest.approx(0.5)
    weight = scorer.model.weight[0].detach()
    assert weight[scorer.words["cat"], scorer.words["cat"]] == pytest.approx(2.1)
    assert weight[scorer.words["cat"], scorer.words["dog"]] == pytest.approx(1.4)
    assert scorer.model.bias.item() == 0


def test_half_of_mixed_negatives_are_the_hardest():
    pool = AnswerPool.of([AnswerSet("q", ("right", *map(str, range(50))), (True, *[False] * 50))])
    config = PairwiseConfig(negatives=4, sampling="mix", drawn=40)
    seen = []

    def hardness(questions: IntArray, answers: IntArray) -> np.ndarray:
        seen.append(answers)
        return answers.astype(np.float32)

    batch = triples(pool, np.array([0]), np.random.default_rng(0), config, hardness)
    assert batch.shape == (4, 3)
    assert set(batch[:, 0]) == set(batch[:, 1]) == {0}
    assert sorted(batch[:2, 2], reverse=True) == sorted(seen[0], reverse=True)[:2]
    assert 0 not in batch[:, 2]
    assert len(triples(pool, np.array([0]), np.random.default_rng(0), replace(config, sampling="random"), None)) == 4


def test_a_question_without_wrong_answers_takes_those_of_others():
    pool = AnswerPool.of([AnswerSet("q", ("x",), (True,)), AnswerSet("p", ("y", "z"), (True, False))])
    config = PairwiseConfig(negatives=3, sampling="random")
    batch = triples(pool, np.array([0, 1]), np.random.default_rng(1), config, None)
    assert set(batch[:3, 2]) <= {1, 2}
    assert set(batch[3:, 2]) == {2}


def test_a_question_with_only_right_answers_is_refused():
    pool = AnswerPool.of(
        [AnswerSet("q", ("x",), (True,)), AnswerSet("p", ("x", "y"), (True, False)), AnswerSet("q", ("y",), (True,))]
    )
    with pytest.raises(ValueError, match="Expected a wrong answer to 'q'"):
        triples(pool, np.array([0]), np.random.default_rng(1), PairwiseConfig(sampling="random"), None)


def test_a_constant_score_ignores_the_order_of_the_file():
    """The right answer is the first of two in the file, but equal scores rank it first in half of the questions."""
    scorer = Words()
    with torch.no_grad():
        for parameter in scorer.model.parameters():
            parameter.zero_()
    pool = AnswerPool.of([AnswerSet(f"q {n}", (f"right {n}", f"wrong {n}"), (True, False)) for n in range(400)])
    assert mean_average_precision(scorer, pool) == pytest.approx(0.75, abs=0.05)


def test_a_score_does_not_depend_on_other_pairs():
    scorer = Words()
    pairs = [("a cat", "the cat"), ("a dog", "the cat"), ("a cat", "the dog"), ("", "")]
    scores = score_pairs(scorer, pairs)
    assert scores.shape == (4,)
    np.testing.assert_allclose(score_pairs(scorer, pairs[::-1]), scores[::-1], atol=1e-6)
    np.testing.assert_allclose([score_pairs(scorer, [pair])[0] for pair in pairs], scores, atol=1e-6)
    assert score_pairs(scorer, []).shape == (0,)
