"""GloVe: word vectors from the counts of words near each other (Pennington et al. 2014, eq. 8 and 9).

counts = cooccurrences(corpus, config.window)
model = GloVe(len(corpus.words), config.dimension)
training = Training(model, adagrad(model, config.learning_rate), seed=1)
for progress in train_glove(training, counts, config, evaluate=dev):
    print(progress)
model.vectors()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from qa_core.training.loop import Progress, Training, train
from qa_core.types import FloatArray, IntArray
from retrievers.training.phrases.corpus import Corpus

_CHUNK = 500_000  # tokens counted at a time


@dataclass(frozen=True, slots=True)
class GloveConfig:
    dimension: int = 100
    window: int = 10  # largest distance of two words that are counted
    maximum: float = 10.0  # x_max: count from which a pair has the weight 1; the paper: 100, for billions of words
    power: float = 0.75  # α
    batch: int = 4_000  # counts
    epochs: int = 10
    patience: int = 2  # epochs without a better development measure
    learning_rate: float = 0.05


class Counts(NamedTuple):
    """Pairs of words in both orders (P, 2), and how often they are near each other (P,) float32."""

    pairs: IntArray
    values: FloatArray


class Glove(nn.Module):
    """Two vectors and two biases of each word."""

    def __init__(self, words: int, dimension: int) -> None:
        super().__init__()
        self.words = nn.Parameter((torch.rand(words, dimension) - 0.5) / dimension)  # (V, D)
        self.contexts = nn.Parameter((torch.rand(words, dimension) - 0.5) / dimension)  # (V, D)
        self.word_biases = nn.Parameter(torch.zeros(words, 1))  # (V, 1)
        self.context_biases = nn.Parameter(torch.zeros(words, 1))  # (V, 1)

    def forward(self, pairs: Tensor) -> Tensor:
        """`w·c + b + b′` of pairs (B, 2), (B,)."""
        tables = ((self.words, 0), (self.contexts, 1), (self.word_biases, 0), (self.context_biases, 1))
        rows = [functional.embedding(pairs[:, column], table, sparse=True) for table, column in tables]
        word, context, word_bias, context_bias = rows  # (B, D), (B, D), (B, 1), (B, 1)
        return (word * context).sum(1) + word_bias[:, 0] + context_bias[:, 0]

    def vectors(self) -> FloatArray:
        """The sum of both vectors of each word, (V, D) (ibid., §4.2)."""
        rows: FloatArray = (self.words + self.contexts).detach().cpu().numpy()
        return rows


def cooccurrences(corpus: Corpus, window: int) -> Counts:
    """`X_ij`: the sum of `1 / d` over all places of a text where the words are `d ≤ window` apart.

    Raises:
        ValueError: no text has two words.
    """
    tokens, texts, words = corpus.tokens, corpus.texts, len(corpus.words)
    keys: IntArray = np.empty(0, dtype=np.int64)
    sums: NDArray[np.float64] = np.empty(0)
    for start in range(0, len(tokens), _CHUNK):
        parts, weights = [keys], [sums]
        for distance in range(1, window + 1):
            left = np.arange(start, min(start + _CHUNK, len(tokens) - distance))
            left = left[texts[left] == texts[left + distance]]
            first, second = tokens[left], tokens[left + distance]
            parts += [first * words + second, second * words + first]
            weights += [np.full(2 * len(left), 1 / distance)]
        keys, places = np.unique(np.concatenate(parts), return_inverse=True)
        sums = np.bincount(places, weights=np.concatenate(weights), minlength=len(keys)).astype(np.float64)
    if not len(keys):
        raise ValueError("Expected texts with two known words, but got none; give more texts.")
    return Counts(np.stack(np.divmod(keys, words), axis=1), sums.astype(np.float32))


def objective(model: Glove, pairs: Tensor, values: Tensor, config: GloveConfig) -> Tensor:
    """`1/B Σ f(x) (w·c + b + b′ − ln x)²` with `f(x) = min(1, (x / x_max)^α)`."""
    weights = (values / config.maximum).pow(config.power).clamp(max=1)
    loss: Tensor = (weights * (model(pairs) - values.log()).square()).mean()
    return loss


def train_glove(
    training: Training,
    counts: Counts,
    config: GloveConfig,
    *,
    evaluate: Callable[[], float],
    report_every: int = 200,
) -> Iterator[Progress]:
    """Train the `Glove` of `training`, with AdaGrad in the paper.

    Args:
        evaluate: development measure of the model; the training ends with the best vectors.
    """

    def batches(_epoch: int, rng: np.random.Generator) -> Iterator[tuple[Tensor, Tensor]]:
        for rows in np.array_split(rng.permutation(len(counts.values)), -(-len(counts.values) // config.batch)):
            yield torch.from_numpy(counts.pairs[rows]), torch.from_numpy(counts.values[rows])

    def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        assert isinstance(model, Glove)
        return objective(model, *batch, config)

    yield from train(
        training,
        batches,
        loss,
        epochs=config.epochs,
        evaluate=lambda _: evaluate(),
        patience=config.patience,
        report_every=report_every,
        steps_per_epoch=-(-len(counts.values) // config.batch),
    )


@torch.no_grad()
def error(model: Glove, counts: Counts, config: GloveConfig) -> float:
    """The mean of the `objective` over all counts."""
    sums = 0.0
    for start in range(0, len(counts.values), config.batch):
        part = slice(start, start + config.batch)
        values = torch.from_numpy(counts.values[part])
        sums += objective(model, torch.from_numpy(counts.pairs[part]), values, config).item() * len(values)
    return sums / len(counts.values)
