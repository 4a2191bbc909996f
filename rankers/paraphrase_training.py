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

from qa_core.losses import pairwise_cross_entropy
from qa_core.pair_classifier import LabelledPairs, alike
from qa_core.schedules import triangle
from qa_core.training import Progress, Training, train
from qa_core.types import IntArray
from rankers.pairs import Trainable, scored


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

    yield from train(
        training,
        drawn,
        loss,
        epochs=config.epochs,
        evaluate=(lambda _: accuracy(scorer, held_out)) if held_out is not None else None,
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


def accuracy(scorer: Trainable, pairs: LabelledPairs) -> float:
    """Share of the pairs whose logit has the sign of their label."""
    texts, places = placed(scorer, pairs)
    order = np.argsort([max(map(len, pair)) for pair in pairs.pairs], kind="stable")  # like lengths pad less
    found = scored(scorer, texts, places[order, 0], places[order, 1]) > 0
    return float((found == np.array(pairs.labels)[order]).mean())


def placed(scorer: Trainable, pairs: LabelledPairs) -> tuple[object, IntArray]:
    """The texts of pairs as the scorer reads them, each once on both sides, and the places (N, 2) of each pair."""
    numbers = {text: place for place, text in enumerate(dict.fromkeys(chain.from_iterable(pairs.pairs)))}
    places = np.array([(numbers[first], numbers[second]) for first, second in pairs.pairs], dtype=np.int64)
    return scorer.read(tuple(numbers), tuple(numbers)), places.reshape(-1, 2)
