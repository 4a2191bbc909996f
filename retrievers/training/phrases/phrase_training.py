"""Phrase vectors composed of word vectors and trained from paraphrases (Wieting et al. 2015, §4 and §6).

    network = PhraseNetwork(start, "recursive")  # start (V, D)
    training = Training(network, adagrad(network, config), seed=1)
    for progress in train_network(training, phrases, pairs, config, evaluate=dev):
        print(progress)

Phrases are `Numbered` trees; a batch is composed from the leaves up, with one product per height.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.training.loop import Progress, Training
from qa_core.types import FloatArray, IntArray
from retrievers.training.phrases.forbidden_negatives import Constraints
from retrievers.training.phrases.paraphrase_sampling import NONE, Sampling, others
from retrievers.training.phrases.tree_batching import Forest, Numbered
from retrievers.training.phrases.word_paragram import Similarity, WordTable, hinge, train_on_pairs

Composition = Literal["addition", "recursive"]


@dataclass(frozen=True, slots=True)
class PhraseConfig:
    composition: Composition = "recursive"
    similarity: Similarity = "cosine"  # of the objective; the paper: dot product, for 25 dimensions
    sampling: Sampling = "mix"
    constraints: bool = True  # whether paraphrases of a phrase in the data are forbidden as its negatives
    margin: float = 1.0  # δ
    word_regularisation: float = 1e-6  # λ_E
    composition_regularisation: float = 1e-6  # λ_W
    word_rate: float = 0.01  # learning rate of E, 0 freezes the words; the paper: 0.5, for vectors ten times as long
    composition_rate: float = 0.0005  # of W and b; the paper: 0.05, for 25 dimensions
    batch: int = 250  # pairs
    epochs: int = 10
    patience: int = 3  # epochs without a better development measure


class PhraseNetwork(nn.Module):
    """`g(p) = tanh(W [g(left); g(right)] + b)` with word vectors at the leaves, or their sum over all leaves.

    `W` starts as two halved identities plus small uniform noise from torch's global generator, so that a phrase starts
    as a mean weighted by height.
    """

    def __init__(self, start: FloatArray, composition: Composition, *, noise: float = 0.01) -> None:
        super().__init__()
        self.E = WordTable(start)
        self.composition: Composition = composition
        if composition == "recursive":
            width = start.shape[1]
            halves = torch.eye(width).repeat(1, 2) / 2  # (D, 2D)
            self.W = nn.Parameter(halves + torch.empty_like(halves).uniform_(-noise, noise))
            self.b = nn.Parameter(torch.zeros(width))

    def forward(self, forest: Forest) -> Tensor:
        """Vectors of the trees, (N, D)."""
        nodes: Tensor = self.E(forest.words)  # (L, D)
        if self.composition == "addition":
            return nodes.new_zeros(len(forest.roots), nodes.shape[1]).index_add(0, forest.owners, nodes)
        for children in forest.levels:
            parents = torch.tanh(functional.linear(nodes[children].flatten(1), self.W, self.b))  # (n, D)
            nodes = torch.cat([nodes, parents])
        return nodes[forest.roots]

    def weights(self) -> dict[str, Tensor]:
        """The weights to save: E (V, D), and for a recursive network W (D, 2D) and b (D,)."""
        words = {"E": torch.from_numpy(self.E.vectors())}
        return words | ({"W": self.W.detach(), "b": self.b.detach()} if self.composition == "recursive" else {})


def adagrad(network: PhraseNetwork, config: PhraseConfig) -> torch.optim.Optimizer:
    """AdaGrad with the gradients of `λ_E‖E_init − E‖²` and `λ_W(‖W‖² + ‖b‖²)` as weight decay."""
    groups: list[dict[str, object]] = []
    if config.word_rate:
        decay = 2 * config.word_regularisation
        groups.append({"params": [network.E.change], "lr": config.word_rate, "weight_decay": decay})
    if network.composition == "recursive":
        decay = 2 * config.composition_regularisation
        groups.append({"params": [network.W, network.b], "lr": config.composition_rate, "weight_decay": decay})
    if not groups:
        raise ValueError("Expected something to train, but got addition with word_rate 0; raise word_rate.")
    return torch.optim.Adagrad(groups, fused=network.E.change.device.type == "cpu")


def objective(network: PhraseNetwork, phrases: Sequence[Numbered], pairs: Tensor, config: PhraseConfig) -> Tensor:
    """The objective of pairs (N, 2) of phrases with regularisation, whose gradient `adagrad` follows."""
    total = _hinge(network, phrases, pairs, config, None) + config.word_regularisation * network.E.change.square().sum()
    if network.composition == "addition":
        return total
    return total + config.composition_regularisation * (network.W.square().sum() + network.b.square().sum())


def train_network(
    training: Training,
    phrases: Sequence[Numbered],
    pairs: IntArray,
    config: PhraseConfig,
    *,
    evaluate: Callable[[PhraseNetwork], float] | None = None,
    report_every: int = 50,
) -> Iterator[Progress]:
    """Train the `PhraseNetwork` of `training` with the optimiser `adagrad`; the reported loss is the hinge alone.

    A batch is at most all of the data.

    Args:
        pairs: numbers of paraphrases among the phrases, (P, 2).
        evaluate: development measure; the training ends with its best weights.

    Raises:
        ValueError: the pairs have fewer than three different phrases.
    """
    constraints = _paired(len(phrases), pairs) if config.constraints else None

    def loss(model: nn.Module, batch: Tensor) -> Tensor:
        assert isinstance(model, PhraseNetwork)
        return _hinge(model, phrases, batch, config, constraints)

    def measured(model: nn.Module) -> float:
        assert isinstance(model, PhraseNetwork)
        assert evaluate is not None
        return evaluate(model)

    measure = measured if evaluate else None
    yield from train_on_pairs(
        training, pairs, loss, config, items="phrases", evaluate=measure, report_every=report_every
    )


def _hinge(
    network: PhraseNetwork,
    phrases: Sequence[Numbered],
    pairs: Tensor,
    config: PhraseConfig,
    constraints: Constraints | None,
) -> Tensor:
    """The hinge of a batch; each phrase is composed once, for pairs and negatives."""
    distinct, inverse = np.unique(pairs.numpy(), return_inverse=True)
    candidates, rows = torch.from_numpy(distinct), torch.from_numpy(inverse.reshape(-1, 2))  # (U,), (N, 2)
    vectors = network(Forest.of([phrases[number] for number in candidates.tolist()]))  # (U, D)
    chosen, there = _negatives(vectors.detach(), candidates, rows, config, constraints)
    return hinge(vectors[rows], vectors[chosen], there, similarity=config.similarity, margin=config.margin)


def _negatives(
    vectors: Tensor, candidates: Tensor, pair_rows: Tensor, config: PhraseConfig, constraints: Constraints | None
) -> tuple[Tensor, Tensor]:
    """Rows (N, 2) of negatives among the candidates, and whether there is one (N, 2); never a phrase of the pair."""
    items, partner = pair_rows.T.flatten(), pair_rows.flip(1).T.flatten()  # (2N,)
    columns = torch.arange(len(candidates))
    allowed = (columns != items[:, None]) & (columns != partner[:, None])  # (2N, U)
    if constraints is not None:
        allowed &= ~constraints.forbidden(candidates[items], candidates)
    rows = functional.normalize(vectors, dim=1) if config.similarity == "cosine" else vectors
    column = others(config.sampling, rows[items] @ rows.T, allowed)  # (2N,)
    there = column != NONE
    chosen = torch.where(there, column, items)
    return chosen.reshape(2, -1).T, there.reshape(2, -1).T


def _paired(count: int, pairs: IntArray) -> Constraints:
    """Each phrase and its paraphrases in the data."""
    nothing = Constraints(torch.zeros(count + 1, dtype=torch.int64), torch.zeros(0, dtype=torch.int64))
    partners: dict[int, set[int]] = defaultdict(set)
    for left, right in pairs.tolist():
        partners[left].add(right)
        partners[right].add(left)
    return nothing.together_with(partners)
