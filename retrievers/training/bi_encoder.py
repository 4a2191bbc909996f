"""Trains a bi-encoder from positive pairs, with the other answers of a batch as negatives (Karpukhin et al. 2020).

Both sides share one encoder. The training ends with the weights of the lowest loss on held-out pairs; `slam.py` ends
with those of the best MRR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from qa_core.networks.losses import in_batch_softmax, triplet
from qa_core.training.loop import Progress, Training, train
from qa_core.types import IntArray, Side
from retrievers.training.cached_gradients import encoded
from retrievers.training.encoders.trainable_encoders import Tower
from retrievers.training.examples import Batch, Examples, batches, steps


@dataclass(frozen=True, slots=True)
class BiEncoderConfig:
    loss: Literal["softmax", "triplet"] = "softmax"
    batch: int = 128  # pairs
    temperature: float = 1.0  # divisor of the cosines, of softmax
    triplet_margin: float = 0.5  # δ
    learning_rate: float = 1e-5
    epochs: int = 20
    patience: int = 20  # epochs without a lower loss on held-out pairs


def optimiser(tower: Tower, config: BiEncoderConfig) -> torch.optim.Optimizer:
    """Adam over the trainable weights."""
    return torch.optim.Adam((p for p in tower.model.parameters() if p.requires_grad), lr=config.learning_rate)


def loss_of(config: BiEncoderConfig, r: Tensor, allowed: Tensor) -> Tensor:
    """The configured loss of cosines (N, N) and a mask (N, N) of allowed negatives."""
    if config.loss == "triplet":
        return triplet(r, allowed=allowed, margin=config.triplet_margin)
    return in_batch_softmax(r / config.temperature, allowed=allowed)


def train_bi_encoder(
    training: Training,
    tower: Tower,
    examples: Examples,
    config: BiEncoderConfig,
    *,
    held_out: Examples | None = None,
    report_every: int = 10,
) -> Iterator[Progress]:
    """Train a tower; with held-out pairs it ends with the weights of their lowest loss.

    Only `training`, which holds the model of the tower, changes: a saved run is resumed with the same arguments. A
    batch is at most all of the data.
    """
    of_batch = _Loss(tower, examples, config)
    of_held_out = _Loss(tower, held_out, config) if held_out is not None else None

    def epoch_batches(_epoch: int, rng: np.random.Generator) -> Iterable[Batch]:
        return batches(examples, rng, size=config.batch)

    yield from train(
        training,
        epoch_batches,
        of_batch,
        epochs=config.epochs,
        evaluate=of_held_out.mean if of_held_out is not None else None,
        mode="min",
        patience=config.patience if of_held_out is not None else None,
        report_every=report_every,
        steps_per_epoch=steps(examples, size=config.batch),
    )


class _Loss:
    """The loss of batches of examples, whose texts are tokenised once."""

    def __init__(self, tower: Tower, examples: Examples, config: BiEncoderConfig) -> None:
        self.examples, self.config, self.chunk = examples, config, tower.chunk
        self.questions = tower.rows(examples.questions, side="question")
        self.answers = tower.rows(examples.answers, side="answer")

    def __call__(self, model: nn.Module, batch: Batch) -> Tensor:
        left = self._side(model, self.questions, batch.questions, "question")  # (N, D)
        right = self._side(model, self.answers, batch.answers, "answer")  # (N, D)
        return loss_of(self.config, left @ right.T, torch.from_numpy(batch.allowed).to(left.device))

    def mean(self, model: nn.Module) -> float:
        """Mean loss per pair, over the same batches every time."""
        fixed = batches(self.examples, np.random.default_rng(0), size=self.config.batch)
        return sum(float(self(model, batch)) * len(batch) for batch in fixed) / len(self.examples)

    def _side(self, model: nn.Module, rows: Sequence[IntArray], chosen: IntArray, side: Side) -> Tensor:
        return encoded(model, [rows[number] for number in chosen], side=side, tokens=self.chunk)
