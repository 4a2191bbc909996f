"""Paragram: trains word vectors to distinguish paraphrases from other words (Wieting et al. 2015, eq. 2).

    table = WordTable(start)  # (V, D)
    training = Training(table, adagrad(table, config), seed=1)
    for progress in train_table(training, pairs, config, constraints=constraints, evaluate=dev):
        print(progress)
    table.vectors()

The negative of a word is another word of the mini-batch: the most similar one (MAX), a random one (RAND), or either by
a fair coin (MIX).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.training.loop import Progress, Training, train
from qa_core.types import FloatArray, IntArray
from retrievers.training.phrases.forbidden_negatives import Constraints
from retrievers.training.phrases.paraphrase_sampling import NONE, Sampling, others

Similarity = Literal["cosine", "dot"]


@dataclass(frozen=True, slots=True)
class ParagramConfig:
    similarity: Similarity = "cosine"  # of the objective; the paper: dot for 25 dimensions, cosine for 300
    sampling: Sampling = "mix"
    constraints: bool = True  # whether paraphrases of a word, and their lemmas, are forbidden as its negatives
    margin: float = 1.0  # δ
    regularisation: float = 0.0  # λ
    batch: int = 500  # pairs
    epochs: int = 10
    patience: int = 2  # epochs without a better development measure
    learning_rate: float = 0.01  # for initial vectors of length 1; the paper uses 0.5 for longer ones


class WordTable(nn.Module):
    """`W = W_init + C` with a row per word; only the change `C` is a parameter, so `‖W_init − W‖² = ‖C‖²`."""

    W_init: Tensor

    def __init__(self, start: FloatArray, *, sparse: bool = False) -> None:
        super().__init__()
        self.register_buffer("W_init", torch.tensor(start, dtype=torch.float32), persistent=False)  # (V, D)
        self.change = nn.Parameter(torch.zeros_like(self.W_init))  # (V, D)
        self.sparse = sparse

    def forward(self, words: Tensor) -> Tensor:
        """Numbers (…) int64 to vectors (…, D)."""
        changed = functional.embedding(words, self.change, sparse=self.sparse)
        return functional.embedding(words, self.W_init) + changed

    def vectors(self) -> FloatArray:
        """W, (V, D)."""
        rows: FloatArray = (self.W_init + self.change).detach().cpu().numpy()
        return rows


def hinge(pairs: Tensor, negatives: Tensor, there: Tensor, *, similarity: Similarity, margin: float) -> Tensor:
    """`1/N Σ max(0, δ − s(w1, w2) + s(w1, t1)) + max(0, δ − s(w1, w2) + s(w2, t2))`.

    Args:
        pairs: vectors of w1 and w2, (N, 2, D).
        negatives: vectors of t1 and t2, (N, 2, D).
        there: (N, 2), false for a word without a negative, whose term is 0.
        similarity: `s`.
        margin: `δ`.
    """
    if similarity == "cosine":
        pairs, negatives = functional.normalize(pairs, dim=2), functional.normalize(negatives, dim=2)
    right = (pairs[:, 0] * pairs[:, 1]).sum(1, keepdim=True)  # (N, 1)
    wrong = (pairs * negatives).sum(2)  # (N, 2)
    return (functional.relu(margin - right + wrong) * there).sum() / len(pairs)


def objective(table: WordTable, pairs: Tensor, negatives: Tensor, there: Tensor, config: ParagramConfig) -> Tensor:
    """`hinge + λ‖W_init − W‖²` of word numbers, pairs and negatives (N, 2)."""
    loss = hinge(table(pairs), table(negatives), there, similarity=config.similarity, margin=config.margin)
    return loss + config.regularisation * table.change.square().sum()


def adagrad(table: WordTable, config: ParagramConfig) -> torch.optim.Optimizer:
    """AdaGrad with the gradient `2λC` of `λ‖W_init − W‖²` as weight decay of the change.

    A step takes one pass over the table instead of five, and without λ only the rows of the batch.
    """
    decay, dense = 2 * config.regularisation, not table.sparse
    assert dense or not decay, "λ needs dense gradients"
    if table.sparse:
        torch.sparse.check_sparse_tensor_invariants.disable()  # type: ignore[no-untyped-call] # else torch warns of the default
    fused = dense and table.change.device.type == "cpu"
    return torch.optim.Adagrad([table.change], lr=config.learning_rate, weight_decay=decay, fused=fused)


def train_table(
    training: Training,
    pairs: IntArray,
    config: ParagramConfig,
    *,
    constraints: Constraints | None = None,
    evaluate: Callable[[FloatArray], float] | None = None,
    report_every: int = 50,
) -> Iterator[Progress]:
    """Train the `WordTable` of `training` with the optimiser `adagrad`; the reported loss is the hinge alone.

    A batch is at most all of the data.

    Args:
        pairs: numbers of paraphrases, (P, 2).
        constraints: words that may not be negatives, besides those of the pair.
        evaluate: development measure of the vectors (V, D); the training ends with the best ones.

    Raises:
        ValueError: the pairs have fewer than three different words.
    """

    def loss(model: nn.Module, batch: Tensor) -> Tensor:
        assert isinstance(model, WordTable)
        batch = batch.to(model.change.device)
        chosen, there = negatives(model, batch, config, constraints)
        return hinge(model(batch), model(chosen), there, similarity=config.similarity, margin=config.margin)

    def measured(model: nn.Module) -> float:
        assert isinstance(model, WordTable)
        assert evaluate is not None
        return evaluate(model.vectors())

    measure = measured if evaluate else None
    yield from train_on_pairs(training, pairs, loss, config, items="words", evaluate=measure, report_every=report_every)


class Schedule(Protocol):
    """The part of a configuration that `train_on_pairs` reads."""

    @property
    def batch(self) -> int: ...

    @property
    def epochs(self) -> int: ...

    @property
    def patience(self) -> int: ...


def train_on_pairs(
    training: Training,
    pairs: IntArray,
    loss: Callable[[nn.Module, Tensor], Tensor],
    config: Schedule,
    *,
    items: str,
    evaluate: Callable[[nn.Module], float] | None,
    report_every: int,
) -> Iterator[Progress]:
    """Train by a loss of batches (N, 2) of paraphrases (P, 2), given by numbers of words or phrases (`items`).

    Raises ValueError if the pairs have fewer than three different items.
    """
    if len(np.unique(pairs)) < 3:
        raise ValueError(
            f"Expected pairs of at least three different {items}, so that there are negatives, but got "
            f"{len(np.unique(pairs))}; add paraphrases of other {items}."
        )
    numbers = torch.from_numpy(np.ascontiguousarray(pairs, dtype=np.int64))

    def batches(_epoch: int, rng: np.random.Generator) -> Iterable[Tensor]:
        return (numbers[rows] for rows in torch.split(torch.from_numpy(rng.permutation(len(numbers))), config.batch))

    yield from train(
        training,
        batches,
        loss,
        epochs=config.epochs,
        evaluate=evaluate,
        patience=config.patience if evaluate else None,
        report_every=report_every,
        steps_per_epoch=-(-len(pairs) // config.batch),
    )


@torch.no_grad()
def negatives(
    table: WordTable, pairs: Tensor, config: ParagramConfig, constraints: Constraints | None = None
) -> tuple[Tensor, Tensor]:
    """The negative (N, 2) of each word among the words of the batch, and whether there is one (N, 2).

    Words of a pair are never its negatives. MAX compares by the similarity of the objective.
    """
    candidates, rows = torch.unique(pairs, return_inverse=True)  # (U,), (N, 2)
    words, partners = pairs.T.flatten(), pairs.flip(1).T.flatten()  # (2N,), all w1 then all w2
    allowed = (candidates != words[:, None]) & (candidates != partners[:, None])  # (2N, U)
    if constraints is not None:
        allowed &= ~constraints.forbidden(words, candidates)
    scores = _similarities(table(candidates), config.similarity)[rows.T.flatten()]  # (2N, U)
    column = others(config.sampling, scores, allowed)  # (2N,)
    there = column != NONE
    chosen = torch.where(there, candidates[column], words)
    return chosen.reshape(2, -1).T, there.reshape(2, -1).T


def principal(matrix: FloatArray, dimension: int) -> FloatArray:
    """Centred rows (V, D) on their first principal axes, (V, `dimension`).

    Raises:
        ValueError: the dimension is not between 1 and D.
    """
    if not 1 <= dimension <= matrix.shape[1]:
        raise ValueError(
            f"Expected a dimension from 1 to {matrix.shape[1]}, that of the vectors to start from, but got {dimension}."
        )
    centred = matrix - matrix.mean(0)
    axes = np.linalg.eigh(centred.T.astype(np.float64) @ centred)[1][:, ::-1]  # columns, by variance, descending
    reduced: FloatArray = (centred @ axes[:, :dimension]).astype(np.float32)
    return reduced


def _similarities(vectors: Tensor, similarity: Similarity) -> Tensor:
    """(U, D) to (U, U)."""
    rows = functional.normalize(vectors, dim=1) if similarity == "cosine" else vectors
    return rows @ rows.T
