"""Fits a table of token vectors to a teacher's sentence vectors and to matching pairs.

Loss of a batch: `1 − mean cos(s, t) + λ (CE(c S) + CE(c Sᵀ)) / 2`, where `s` is the normalised sum of a text's token
rows, `t` the teacher's vector, and `S` the cosines between the two sides of a batch of pairs, whose diagonal is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.training.loop import Training, train
from qa_core.training.schedules import triangle
from qa_core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class FitConfig:
    epochs: int = 5
    batch: int = 1024
    pairs: int = 512  # of one kind in a batch
    learning_rate: float = 4e-3
    warm_up: float = 0.1  # share of the steps
    pair_weight: float = 0.05  # λ
    pair_scale: float = 20.0  # c
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Bags:
    """Texts as token ids in a row (T,) and where each text begins (N + 1,)."""

    ids: IntArray
    bounds: IntArray

    @classmethod
    def of(cls, texts: Sequence[str], tokeniser: SubwordTokeniser) -> Bags:
        ids, lengths = tokeniser.flat(texts)
        known = ids != tokeniser.unknown
        owners = np.repeat(np.arange(len(texts)), lengths)[known]
        counts = np.bincount(owners, minlength=len(texts))
        return cls(ids[known], np.concatenate([[0], np.cumsum(counts)]))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def take(self, rows: IntArray) -> tuple[Tensor, Tensor]:
        """Token ids (T,) and offsets (B,) of some texts, as `embedding_bag` wants them."""
        parts = [self.ids[self.bounds[row] : self.bounds[row + 1]] for row in rows]
        offsets = np.cumsum([0, *map(len, parts[:-1])])
        return torch.from_numpy(np.concatenate(parts)), torch.from_numpy(offsets)


class Table(nn.Module):
    def __init__(self, rows: FloatArray) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag.from_pretrained(torch.from_numpy(rows), freeze=False, mode="sum", sparse=True)

    def forward(self, texts: tuple[Tensor, Tensor]) -> Tensor:
        """Unit rows (B, D); zero for a text without tokens."""
        unit: Tensor = functional.normalize(self.bag(*texts), dim=1, eps=1e-6)
        return unit


@dataclass(frozen=True, slots=True)
class Batch:
    texts: tuple[Tensor, Tensor]
    targets: Tensor  # (B, D), unit rows
    left: tuple[Tensor, Tensor]
    right: tuple[Tensor, Tensor]


def fit(
    table: FloatArray,
    tokeniser: SubwordTokeniser,
    *,
    texts: Sequence[str],
    targets: FloatArray,
    pairs: Mapping[str, Sequence[tuple[str, str]]],
    config: FitConfig,
    report: Callable[[str], None] = lambda _: None,
) -> FloatArray:
    """The fitted table (V, D); `targets` (N, D) are the teacher's vectors of `texts`."""
    bags = Bags.of(texts, tokeniser)
    unit = torch.from_numpy(targets / np.linalg.norm(targets, axis=1, keepdims=True))
    sides = [tuple(Bags.of(side, tokeniser) for side in zip(*rows, strict=True)) for rows in pairs.values()]
    steps = len(bags) // config.batch
    model = Table(table)
    optimiser = torch.optim.SparseAdam(model.parameters(), lr=config.learning_rate)

    def batches(_: int, rng: np.random.Generator) -> Iterator[Batch]:
        order = rng.permutation(len(bags))
        share = np.sqrt([len(left) for left, _ in sides])
        for step in range(steps):
            rows = order[step * config.batch : (step + 1) * config.batch]
            left, right = sides[rng.choice(len(sides), p=share / share.sum())]
            drawn = rng.choice(len(left), min(config.pairs, len(left)), replace=False)
            yield Batch(bags.take(rows), unit[rows], left.take(drawn), right.take(drawn))

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        cosine = (model(batch.texts) * batch.targets).sum(1).mean()
        contrast = contrastive(model(batch.left), model(batch.right), scale=config.pair_scale)
        total: Tensor = 1 - cosine + config.pair_weight * contrast
        return total

    training = Training(model, optimiser, seed=config.seed)
    schedule = triangle(config.epochs * steps, warm_up=config.warm_up)
    for progress in train(
        training, batches, loss, epochs=config.epochs, schedule=schedule, size=lambda _: config.batch
    ):
        report(f"step {progress.step} of {config.epochs * steps}: loss {progress.loss:.4f}")
    weight: Tensor = model.bag.weight
    fitted: FloatArray = weight.detach().numpy()
    return fitted


def contrastive(left: Tensor, right: Tensor, *, scale: float) -> Tensor:
    """Cross-entropy of finding each row's partner among the other side's rows, both ways; (B, D) each."""
    scores = scale * left @ right.T  # (B, B)
    partners = torch.arange(len(left))
    return (functional.cross_entropy(scores, partners) + functional.cross_entropy(scores.T, partners)) / 2
