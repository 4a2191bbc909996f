"""Training of the acceptor; `generators/inference/acceptor.py` says what it is and runs it.

The true next word is right, and a word drawn from `p(w | true words before it, S)` is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from generators.inference.acceptor import FEATURES, Acceptor, AcceptorConfig
from qa_core.training.loop import Progress, Training, train


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Training data of an acceptor."""

    features: Tensor  # (N, 3)
    right: Tensor  # (N,), 1 for true words and 0 for drawn ones

    def __len__(self) -> int:
        return len(self.right)


class AcceptorNetwork(nn.Module):
    """A perceptron with one hidden layer, which standardises its features first."""

    mean: Tensor
    scale: Tensor

    def __init__(self, config: AcceptorConfig) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(FEATURES))
        self.register_buffer("scale", torch.ones(FEATURES))
        self.layers = nn.Sequential(nn.Linear(FEATURES, config.hidden), nn.Tanh(), nn.Linear(config.hidden, 1))

    def forward(self, features: Tensor) -> Tensor:
        """Features (…, 3) to logits (…) that the word is right."""
        logits: Tensor = self.layers((features - self.mean) / self.scale).squeeze(-1)
        return logits

    def standardise(self, features: Tensor) -> None:
        """Take mean and deviation of features (N, 3) as the scale of all."""
        self.mean.copy_(features.mean(0))
        self.scale.copy_(features.std(0).clamp(min=1e-3))

    def inference(self) -> Acceptor:
        """The same acceptor without torch."""
        return Acceptor({name: tensor.cpu().numpy().copy() for name, tensor in self.state_dict().items()})


def train_acceptor(
    acceptor: AcceptorNetwork, examples: Examples, config: AcceptorConfig, *, seed: int
) -> Iterator[Progress]:
    """Train by cross-entropy; raises ValueError without examples."""
    if not len(examples):
        raise ValueError("Expected words to train the acceptor on, but got none; give pairs of context and reply.")
    acceptor.standardise(examples.features)
    optimiser = torch.optim.Adam(acceptor.parameters(), lr=config.learning_rate)

    def batches(_epoch: int, rng: np.random.Generator) -> Iterator[Examples]:
        order = rng.permutation(len(examples))
        for start in range(0, len(order), config.batch):
            rows = torch.from_numpy(order[start : start + config.batch])
            yield Examples(examples.features[rows], examples.right[rows])

    def loss(model: nn.Module, batch: Examples) -> Tensor:
        return functional.binary_cross_entropy_with_logits(model(batch.features), batch.right)

    yield from train(Training(acceptor, optimiser, seed), batches, loss, epochs=config.epochs)
