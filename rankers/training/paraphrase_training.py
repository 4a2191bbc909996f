"""Training of pair scorers to tell questions that ask the same from those that do not, by accuracy on held-out pairs.

for progress in train_paraphrase(Training(scorer.model, optimiser, seed=1), scorer, pairs, config, held_out=dev):
    print(progress)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qa_core.networks.losses import pairwise_cross_entropy
from qa_core.networks.pair_classifier import LabelledPairs, alike
from qa_core.training.loop import Progress, Training, train
from qa_core.training.schedules import triangle
from qa_core.types import IntArray
from rankers.trainable import Trainable, score_no_grad


@dataclass(frozen=True, slots=True)
class ParaphraseConfig:
    """As in the thesis (§5.4)."""

    batch: int = 1000  # pairs
    epochs: int = 20
    patience: int = 3  # epochs without a better accuracy on development data
    learning_rate: float = 0.002
    clip: float = 5.0  # largest norm of all gradients together; 0 is off
    identical: int = 20_000  # questions paired with themselves, as further positives; as many as there are
    warm_up: float = 0.0  # share of all steps in which the rate rises, to fall afterwards; 0 keeps it as it is


SETTLED, SETTLED_AT_ONCE = 2_048, 64
"""Pairs that batch normalisation is settled with, and of a batch."""
MOMENTUM = 0.1
"""Of batch normalisation in training: PyTorch's own."""

PAPER = ParaphraseConfig()
CPU = ParaphraseConfig(batch=64, epochs=12, identical=500)


def train_paraphrase(
    training: Training,
    scorer: Trainable,
    pairs: LabelledPairs,
    config: ParaphraseConfig,
    *,
    held_out: LabelledPairs | None = None,
    report_every: int = 50,
) -> Iterator[Progress]:
    """By binary cross-entropy, in batches of like length, the two questions of a pair in either order.

    With held-out pairs the model of the highest accuracy stays. Raises ValueError where all pairs have one label.
    """
    if len(set(pairs.labels)) < 2:
        raise ValueError(
            f"Expected pairs that ask the same and pairs that do not, but all {len(pairs)} have the label "
            f"{pairs.labels[0]}; give both kinds."
        )
    own = with_identical(pairs, config.identical, np.random.default_rng(training.seed))
    texts, places = placed(scorer, own)
    labels = torch.tensor(own.labels)
    lengths = [max(len(first), len(second)) for first, second in own.pairs]
    steps = -(-len(own) // config.batch)

    def drawn(_epoch: int, rng: np.random.Generator) -> Iterator[tuple[IntArray, NDArray[np.bool_]]]:
        for chosen in alike(lengths, rng, size=config.batch):
            yield chosen, rng.random(len(chosen)) < 0.5

    def loss(model: nn.Module, batch: tuple[IntArray, NDArray[np.bool_]]) -> Tensor:  # noqa: ARG001 the scorer holds it
        chosen, turned = batch
        first, second = places[chosen].T
        logits = scorer.scores(texts, np.where(turned, second, first), np.where(turned, first, second))
        return pairwise_cross_entropy(logits, labels[chosen].to(logits.device))

    aside = placed(scorer, held_out) if held_out is not None else None

    def evaluated(_: nn.Module) -> float:
        refresh_batch_norm(scorer, texts, places, np.random.default_rng(training.seed))
        assert held_out is not None, "there is something to evaluate on"
        return accuracy(scorer, held_out, aside)

    yield from train(
        training,
        drawn,
        loss,
        epochs=config.epochs,
        evaluate=evaluated if held_out is not None else None,
        patience=config.patience if held_out is not None else None,
        clip=config.clip or None,
        schedule=triangle(config.epochs * steps, warm_up=config.warm_up) if config.warm_up else None,
        report_every=report_every,
        steps_per_epoch=steps,
    )


def with_identical(pairs: LabelledPairs, count: int, rng: np.random.Generator) -> LabelledPairs:
    """The pairs, and up to `count` of their questions, drawn at random, each with itself as a positive."""
    texts = list(dict.fromkeys(chain.from_iterable(pairs.pairs)))
    chosen = sorted(rng.choice(len(texts), min(count, len(texts)), replace=False).tolist())
    same = tuple((texts[place], texts[place]) for place in chosen)
    return LabelledPairs(pairs.pairs + same, pairs.labels + (True,) * len(same))


def refresh_batch_norm(scorer: Trainable, texts: object, places: IntArray, rng: np.random.Generator) -> None:
    """Take the means and variances of batch normalisation from pairs as they are met in scoring.

    Those kept in training are of the last batches, each of one length, and of states with dropout, whose variance is
    another (Li et al. 2019): with them logits were off by a third of a unit.

    Args:
        texts: as the scorer read them.
        places: (N, 2) of pairs.
    """
    layers = [layer for layer in scorer.model.modules() if isinstance(layer, nn.BatchNorm1d)]
    if not layers:
        return
    was_training = scorer.model.training
    scorer.model.eval()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # the mean over all batches
        layer.train()
    chosen = places[rng.permutation(len(places))[:SETTLED]]
    with torch.no_grad():
        for start in range(0, len(chosen), SETTLED_AT_ONCE):
            scorer.scores(texts, *chosen[start : start + SETTLED_AT_ONCE].T)
    for layer in layers:
        layer.momentum = MOMENTUM
    scorer.model.train(was_training)


def accuracy(scorer: Trainable, pairs: LabelledPairs, read: tuple[object, IntArray] | None = None) -> float:
    """Share of the pairs whose logit has the sign of their label; `read` is what `placed` gave for them, if it did."""
    texts, places = read or placed(scorer, pairs)
    order = np.argsort([max(map(len, pair)) for pair in pairs.pairs], kind="stable")  # like lengths pad less
    found = score_no_grad(scorer, texts, places[order, 0], places[order, 1]) > 0
    return float((found == np.array(pairs.labels)[order]).mean())


def placed(scorer: Trainable, pairs: LabelledPairs) -> tuple[object, IntArray]:
    """The texts of pairs as the scorer reads them, each once on both sides, and the places (N, 2) of each pair."""
    numbers = {text: place for place, text in enumerate(dict.fromkeys(chain.from_iterable(pairs.pairs)))}
    places = np.array([(numbers[first], numbers[second]) for first, second in pairs.pairs], dtype=np.int64)
    return scorer.read(tuple(numbers), tuple(numbers)), places.reshape(-1, 2)
