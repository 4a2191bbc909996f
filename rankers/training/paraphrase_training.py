"""Trains pair scorers to detect questions that ask the same, by accuracy on held-out pairs.

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
from qa_core.training.loop import Progress, Training, train
from qa_core.training.pair_classifier import LabelledPairs, similar_length_batches
from qa_core.training.schedules import triangle
from qa_core.types import IntArray
from rankers.trainable import Trainable, score_no_grad


@dataclass(frozen=True, slots=True)
class ParaphraseConfig:
    """Defaults of Wang (2018, §5.4)."""

    batch: int = 1000  # pairs
    epochs: int = 20
    patience: int = 3  # epochs without a better accuracy on development data
    learning_rate: float = 0.002
    clip: float = 5.0  # maximum norm of all gradients together; 0 is off
    identical: int = 20_000  # questions paired with themselves as further positives, at most
    warm_up: float = 0.0  # share of all steps in which the rate rises before it falls; 0 is a constant rate


BATCH_NORM_PAIRS, BATCH_NORM_BATCH = 2_048, 64
"""Pairs for the statistics of batch normalisation, and pairs per batch."""
MOMENTUM = 0.1
"""Momentum of batch normalisation in training, the default of PyTorch."""

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
    """Train by binary cross-entropy in batches of similar length, with the questions of a pair in random order.

    With held-out pairs it ends with the best accuracy. Raises ValueError if all pairs have one label.
    """
    if len(set(pairs.labels)) < 2:
        raise ValueError(
            f"Expected pairs that ask the same and pairs that do not, but all {len(pairs)} have the label "
            f"{pairs.labels[0]}; give both kinds."
        )
    examples = with_identical(pairs, config.identical, np.random.default_rng(training.seed))
    texts, rows = read_pairs(scorer, examples)
    labels = torch.tensor(examples.labels)
    lengths = [max(len(first), len(second)) for first, second in examples.pairs]
    steps = -(-len(examples) // config.batch)

    def epoch_batches(_epoch: int, rng: np.random.Generator) -> Iterator[tuple[IntArray, NDArray[np.bool_]]]:
        for members in similar_length_batches(lengths, rng, size=config.batch):
            yield members, rng.random(len(members)) < 0.5

    def loss(model: nn.Module, batch: tuple[IntArray, NDArray[np.bool_]]) -> Tensor:  # noqa: ARG001 the scorer holds it
        members, swapped = batch
        first, second = rows[members].T
        logits = scorer.scores(texts, np.where(swapped, second, first), np.where(swapped, first, second))
        return pairwise_cross_entropy(logits, labels[members].to(logits.device))

    dev = read_pairs(scorer, held_out) if held_out is not None else None

    def evaluated(_: nn.Module) -> float:
        refresh_batch_norm(scorer, texts, rows, np.random.default_rng(training.seed))
        assert held_out is not None
        return accuracy(scorer, held_out, dev)

    yield from train(
        training,
        epoch_batches,
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
    """The pairs, and up to `count` random questions of them, each paired with itself as a positive."""
    texts = list(dict.fromkeys(chain.from_iterable(pairs.pairs)))
    chosen = sorted(rng.choice(len(texts), min(count, len(texts)), replace=False).tolist())
    same = tuple((texts[row], texts[row]) for row in chosen)
    return LabelledPairs(pairs.pairs + same, pairs.labels + (True,) * len(same))


def refresh_batch_norm(scorer: Trainable, texts: object, rows: IntArray, rng: np.random.Generator) -> None:
    """Compute the statistics of batch normalisation anew, from pairs in evaluation mode.

    The running statistics of training come from the last batches, of one length each, and from states with dropout,
    whose variance differs (Li et al. 2019): they shifted logits by a third of a unit.

    Args:
        texts: the texts as read by the scorer.
        rows: (N, 2) of pairs.
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
    sample = rows[rng.permutation(len(rows))[:BATCH_NORM_PAIRS]]
    with torch.no_grad():
        for start in range(0, len(sample), BATCH_NORM_BATCH):
            scorer.scores(texts, *sample[start : start + BATCH_NORM_BATCH].T)
    for layer in layers:
        layer.momentum = MOMENTUM
    scorer.model.train(was_training)


def accuracy(scorer: Trainable, pairs: LabelledPairs, read: tuple[object, IntArray] | None = None) -> float:
    """Share of the pairs whose logit has the sign of their label; `read` is the result of `read_pairs`, if known."""
    texts, rows = read or read_pairs(scorer, pairs)
    order = np.argsort([max(map(len, pair)) for pair in pairs.pairs], kind="stable")  # similar lengths pad less
    predicted = score_no_grad(scorer, texts, rows[order, 0], rows[order, 1]) > 0
    return float((predicted == np.array(pairs.labels)[order]).mean())


def read_pairs(scorer: Trainable, pairs: LabelledPairs) -> tuple[object, IntArray]:
    """The distinct texts of pairs as read by the scorer, for both sides, and the rows (N, 2) of each pair."""
    numbers = {text: row for row, text in enumerate(dict.fromkeys(chain.from_iterable(pairs.pairs)))}
    rows = np.array([(numbers[first], numbers[second]) for first, second in pairs.pairs], dtype=np.int64)
    return scorer.read(tuple(numbers), tuple(numbers)), rows.reshape(-1, 2)
