"""Skip-gram with negative sampling: word vectors from plain texts (Mikolov et al. 2013, eq. 4).

    corpus = Corpus.of(texts, most=50_000, minimum=5)
    model = SkipGram(len(corpus.words), config.dimension)
    training = Training(model, adagrad(model, config.learning_rate), seed=1)
    for progress in train_words(training, corpus, config, evaluate=dev):
        print(progress)
    model.vectors()

The negatives are drawn once a batch and shared by its pairs, each with the weight `k / M` (Ji et al. 2016), so that the
scores of a batch are one product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.training.loop import Progress, Training, train
from qa_core.types import FloatArray, IntArray
from retrievers.training.phrases.corpus import Corpus

_CHUNK = 50_000  # tokens whose pairs are shuffled together
_POWER = 0.75  # of the frequencies that negatives are drawn by
LEAST_KEPT = 0.05
"""Share of the words that subsampling must keep: of few texts, whose words are all frequent, it may keep hardly any."""


@dataclass(frozen=True, slots=True)
class SkipGramConfig:
    dimension: int = 100
    window: int = 5  # largest distance of two words of a pair; each word draws its own, from 1
    negatives: int = 5  # k: weight of the negatives of a pair
    shared: int = 64  # M: negatives of a batch
    subsample: float = 1e-4  # t: share of all words above which a word is left out at random
    batch: int = 4_000  # pairs
    epochs: int = 5
    patience: int = 2  # epochs without a better development measure
    learning_rate: float = 0.05


class Batch(NamedTuple):
    """Numbers of words: pairs (B,) and (B,), and the negatives of all of them (M,)."""

    words: Tensor
    contexts: Tensor
    negatives: Tensor

    def __len__(self) -> int:
        return len(self.words)


class SkipGram(nn.Module):
    """A vector of each word, and another one of it as a context."""

    def __init__(self, words: int, dimension: int) -> None:
        super().__init__()
        self.words = nn.Parameter((torch.rand(words, dimension) - 0.5) / dimension)  # (V, D)
        self.contexts = nn.Parameter(torch.zeros(words, dimension))  # (V, D)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """`u·v` of the pairs (B,) and with the negatives (B, M)."""
        words = functional.embedding(batch.words, self.words, sparse=True)  # (B, D)
        contexts = functional.embedding(batch.contexts, self.contexts, sparse=True)  # (B, D)
        negatives = functional.embedding(batch.negatives, self.contexts, sparse=True)  # (M, D)
        return (words * contexts).sum(1), words @ negatives.T

    def vectors(self) -> FloatArray:
        """The vectors of the words, (V, D)."""
        rows: FloatArray = self.words.detach().cpu().numpy()
        return rows


def objective(model: SkipGram, batch: Batch, negatives: int) -> Tensor:
    """`−1/B Σ (log σ(u·v) + k/M Σ log σ(−u·n))`; a negative that is the context of a pair does not count for it."""
    pairs, others = model(batch)  # (B,), (B, M)
    apart = batch.contexts[:, None] != batch.negatives  # (B, M)
    wrong = (functional.logsigmoid(-others) * apart).sum(1) * (negatives / len(batch.negatives))
    return -(functional.logsigmoid(pairs) + wrong).mean()


def adagrad(model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """AdaGrad over the rows of a batch."""
    torch.sparse.check_sparse_tensor_invariants.disable()  # type: ignore[no-untyped-call] # else torch warns of the default
    return torch.optim.Adagrad(model.parameters(), lr=learning_rate)


def train_words(
    training: Training,
    corpus: Corpus,
    config: SkipGramConfig,
    *,
    evaluate: Callable[[], float],
    report_every: int = 200,
) -> Iterator[Progress]:
    """Train the `SkipGram` of `training` with the optimiser `adagrad`.

    Args:
        evaluate: development measure of the model; the training ends with the best vectors.

    Raises:
        ValueError: no text has two words, or `subsample` leaves out nearly all of them.
    """
    share = float((corpus.counts * keeping(corpus.counts, config.subsample)).sum() / corpus.counts.sum())
    if share < LEAST_KEPT:
        raise ValueError(
            f"Expected a `subsample` that keeps {LEAST_KEPT:.0%} of the words or more, but {config.subsample:g} keeps "
            f"{share:.1%} of these {corpus.counts.sum():,}; raise it, for example to 0.01, or give more texts."
        )

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        assert isinstance(model, SkipGram)
        return objective(model, batch, config.negatives)

    yield from train(
        training,
        lambda _epoch, rng: batches(corpus, config, rng),
        loss,
        epochs=config.epochs,
        evaluate=lambda _: evaluate(),
        patience=config.patience,
        report_every=report_every,
    )


@torch.no_grad()
def likelihood(model: SkipGram, corpus: Corpus, config: SkipGramConfig, *, seed: int) -> float:
    """The mean of the negative `objective` over the pairs of texts; the same seed draws the same pairs and negatives.

    Raises:
        ValueError: no text has two words.
    """
    sums = [
        (-objective(model, batch, config.negatives).item() * len(batch), len(batch))
        for batch in batches(corpus, config, np.random.default_rng(seed))
    ]
    if not sums:
        raise ValueError("Expected held-out texts with two known words, but got none; give more, or a larger share.")
    return sum(value for value, _ in sums) / sum(size for _, size in sums)


def batches(corpus: Corpus, config: SkipGramConfig, rng: np.random.Generator) -> Iterator[Batch]:
    """Pairs of nearby words of every part of the corpus, in random order, each batch with its negatives."""
    weights = np.cumsum(corpus.counts.astype(np.float64) ** _POWER)
    probability = keeping(corpus.counts, config.subsample)
    starts = np.arange(0, len(corpus.tokens), _CHUNK)
    for start in rng.permutation(starts).tolist():
        tokens, texts = corpus.tokens[start : start + _CHUNK], corpus.texts[start : start + _CHUNK]
        chosen = rng.random(len(tokens)) < probability[tokens]
        tokens, texts = tokens[chosen], texts[chosen]
        pairs = nearby(tokens, texts, rng.integers(1, config.window + 1, len(tokens)))
        pairs = pairs[rng.permutation(len(pairs))]
        for first in range(0, len(pairs), config.batch):
            part = torch.from_numpy(pairs[first : first + config.batch])
            negatives = np.searchsorted(weights, rng.random(config.shared) * weights[-1], side="right")
            yield Batch(part[:, 0], part[:, 1], torch.from_numpy(negatives))


def keeping(counts: IntArray, threshold: float) -> FloatArray:
    """The probability to keep an occurrence of each word, (V,): `√(t / f)`, at most 1 (ibid., eq. 5)."""
    frequency = counts / counts.sum()
    probability: FloatArray = np.minimum(1.0, np.sqrt(threshold / frequency)).astype(np.float32)
    return probability


def nearby(tokens: IntArray, texts: IntArray, reach: IntArray) -> IntArray:
    """Each word with the words of its text at most its `reach` (N,) away: numbers of word and context, (P, 2)."""
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for distance in range(1, int(reach.max(initial=0)) + 1):
        left, right = slice(None, -distance), slice(distance, None)
        together = texts[left] == texts[right]
        for word, context in ((left, right), (right, left)):
            chosen = together & (reach[word] >= distance)
            pairs.append(np.stack([tokens[word][chosen], tokens[context][chosen]], axis=1))
    return np.concatenate(pairs)
