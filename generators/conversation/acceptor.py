"""The acceptor of selective sampling (thesis, ch. 8.3): does a drawn word look like one that a person would write next?

Its features are `log p(w|S)`, the entropy of that step's distribution, and `log p(w)` of the language model behind the
same words. The thesis does not say what it learns from; here the true next word is right, and a word drawn from
`p(w | true words before it, S)` is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.training.loop import Progress, Training, train

FEATURES = 3


@dataclass(frozen=True, slots=True)
class AcceptorConfig:
    hidden: int = 16  # units of its one layer
    epochs: int = 5
    batch: int = 512
    learning_rate: float = 0.005


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """What an acceptor learns from."""

    features: Tensor  # (N, 3)
    right: Tensor  # (N,), 1 for true words and 0 for drawn ones

    def __len__(self) -> int:
        return len(self.right)


class Acceptor(nn.Module):
    """`log p(right | features)` by a perceptron with one hidden layer; features are standardised within."""

    mean: Tensor
    scale: Tensor

    def __init__(self, config: AcceptorConfig = AcceptorConfig()) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(FEATURES))
        self.register_buffer("scale", torch.ones(FEATURES))
        self.layers = nn.Sequential(nn.Linear(FEATURES, config.hidden), nn.Tanh(), nn.Linear(config.hidden, 1))

    def logits(self, features: Tensor) -> Tensor:
        """Features (..., 3) to logits (...)."""
        found: Tensor = self.layers((features - self.mean) / self.scale).squeeze(-1)
        return found

    def forward(self, features: Tensor) -> Tensor:
        """Features (..., 3) to log-probabilities (...) that the word is right."""
        return functional.logsigmoid(self.logits(features))

    def standardise(self, features: Tensor) -> None:
        """Take mean and deviation of features (N, 3) as the scale of all."""
        self.mean.copy_(features.mean(0))
        self.scale.copy_(features.std(0).clamp(min=1e-3))


def features(log_p: Tensor, prior: Tensor, words: Tensor) -> Tensor:
    """Features (B, N, 3) of words (B, N) by the steps' log p(w|S) and log p(w), (B, V) each."""
    entropy = -(log_p.exp() * log_p.clamp(min=-1e4)).sum(1)  # (B,); 0 log 0 is 0
    told = (log_p.gather(1, words), entropy.unsqueeze(1).expand(words.shape), prior.gather(1, words))
    return torch.stack(told, dim=-1)


def train_acceptor(acceptor: Acceptor, examples: Examples, config: AcceptorConfig, *, seed: int) -> Iterator[Progress]:
    """By cross-entropy; raises ValueError where there is nothing to learn from."""
    if not len(examples):
        raise ValueError("Expected words to train the acceptor on, but got none; give pairs of context and reply.")
    acceptor.standardise(examples.features)
    optimiser = torch.optim.Adam(acceptor.parameters(), lr=config.learning_rate)

    def drawn(_epoch: int, rng: np.random.Generator) -> Iterator[Examples]:
        order = rng.permutation(len(examples))
        for start in range(0, len(order), config.batch):
            places = torch.from_numpy(order[start : start + config.batch])
            yield Examples(examples.features[places], examples.right[places])

    def loss(model: nn.Module, batch: Examples) -> Tensor:
        assert isinstance(model, Acceptor)
        return functional.binary_cross_entropy_with_logits(model.logits(batch.features), batch.right)

    yield from train(Training(acceptor, optimiser, seed), drawn, loss, epochs=config.epochs)
