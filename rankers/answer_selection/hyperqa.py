"""HyperQA: question and answer as sums of projected word vectors, compared by their distance in hyperbolic space.

Tay, Tuan and Hui, "Hyperbolic Representation Learning for Fast and Efficient Neural Question Answering", WSDM 2018.

    x = ReLU(W_p z + b_p)                        word vectors z are frozen, W_p is shared        (equation 1)
    y = Σ x, θ = y / ‖y‖ (1 − ε) where ‖y‖ > 1 − ε   a bag of words, into the open unit ball    (equation 2)
    s(q, a) = w_f d(q, a) + b_f                  d: distance in the Poincaré ball                (equations 4 and 6)

What lives in the ball are the embeddings of question and answer, and they are no parameters but functions of W_p and
b_p, which are Euclidean: their norms have no bound. The paper turns all automatic gradients into Riemannian ones by
equation 9, although it holds for points of the ball only. So there are three readings, `riemannian`:

- "off": Euclidean gradients of W_p and b_p through the hyperbolic distance, the chain rule for Euclidean parameters.
- "embeddings": the gradient that reaches an embedding θ is scaled by (1 − ‖θ‖²)²/4 before it flows back to W_p. At the
  edge of the ball, where the constraint puts most texts, that is (nearly) one small factor for all, which AdaGrad
  cancels; a text of a word or two that stays well inside then outweighs all others.
- "rows": the rows of W_p are points of the ball themselves, updated by `RiemannianAdagrad` (equations 8 and 9).

CosineQA, the paper's ablation, has cosine in the place of d and Euclidean gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.networks.checkpoints import load_config
from qa_core.types import FloatArray, IntArray
from rankers.answer_selection.frozen_words import (
    FrozenWords,
    Texts,
    WordsConfig,
    load_network,
    load_words,
    read_texts,
    save_with_words,
)
from rankers.answer_selection.poincare import EDGE, RiemannianAdagrad, conformal, distance, into_ball, riemannian
from rankers.neural import TextPair
from rankers.trainable import score_pairs

Distance = Literal["hyperbolic", "cosine"]
Last = Literal["linear", "sigmoid", "raw"]
Riemannian = Literal["embeddings", "rows", "off"]


@dataclass(frozen=True, slots=True)
class HyperShape:
    projection: int = 256  # P
    distance: Distance = "hyperbolic"
    last: Last = "linear"  # w_f d + b_f, its logistic, or the distance alone
    concatenate: bool = False  # the sums of question and answer beside the distance in the last layer
    riemannian: Riemannian = "off"
    edge: float = EDGE  # ε
    dropout: float = 0.0  # of the sums
    initial: float = 0.0  # standard deviation of W_p at first; 0 is Glorot's
    max_words: int = 256  # of a text that count


@dataclass(frozen=True, slots=True)
class HyperQAConfig:
    words: WordsConfig
    shape: HyperShape


class HyperNetwork(nn.Module):
    def __init__(self, dimension: int, shape: HyperShape) -> None:
        super().__init__()
        self.shape = shape
        self.projection = nn.Linear(dimension, shape.projection)
        if shape.initial:
            nn.init.normal_(self.projection.weight, std=shape.initial)
        else:
            nn.init.xavier_uniform_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)
        sign = -1.0 if shape.distance == "hyperbolic" else 1.0  # near is good
        learned = shape.last != "raw"
        self.w_f = nn.Parameter(torch.tensor(sign)) if learned else None
        self.b_f = nn.Parameter(torch.tensor(0.0)) if learned else None
        self.w_sums = nn.Parameter(torch.zeros(2 * shape.projection)) if shape.concatenate else None

    def words(self, vectors: Tensor) -> Tensor:
        """`ReLU(W_p z + b_p)`: (W, D) to (W, P)."""
        return functional.relu(self.projection(vectors))

    def sums(self, texts: Texts, places: IntArray) -> Tensor:
        """Sums of the projected words of texts, before the constraint: (N,) to (N, P). Each word is projected once."""
        flat, _ = texts.flat(places)
        distinct, which = np.unique(flat, return_inverse=True)
        projected = self.words(texts.vectors[torch.from_numpy(distinct)])  # (U, P)
        sums: Tensor = _Sums.apply(projected, which.reshape(-1), texts.lengths(places))  # type: ignore[no-untyped-call] # torch leaves it without annotations
        return sums

    def embeddings(self, sums: Tensor) -> Tensor:
        """Sums (..., P) into the ball."""
        points = into_ball(sums, edge=self.shape.edge)
        return riemannian(points) if self.shape.riemannian == "embeddings" else points

    def forward(self, questions: Tensor, answers: Tensor) -> Tensor:
        """Sums (N, P) of questions and of answers to scores (N,) float32, a higher one for a better answer."""
        if self.shape.dropout:
            questions = functional.dropout(questions, self.shape.dropout, self.training)
            answers = functional.dropout(answers, self.shape.dropout, self.training)
        if self.shape.distance == "hyperbolic":
            apart = distance(self.embeddings(questions), self.embeddings(answers)).float()
        else:
            apart = functional.cosine_similarity(questions, answers, dim=-1)
        if self.w_f is None or self.b_f is None:
            scores = -apart if self.shape.distance == "hyperbolic" else apart
        else:
            scores = self.w_f * apart + self.b_f
        if self.w_sums is not None:
            scores = scores + torch.cat([questions, answers], dim=-1) @ self.w_sums
        return scores.sigmoid() if self.shape.last == "sigmoid" else scores


@dataclass(frozen=True, eq=False)
class HyperQA:
    """A pair scorer, trainable; a word without a vector and a text without words count for nothing."""

    model: HyperNetwork
    source: FrozenWords
    config: HyperQAConfig

    @classmethod
    def of(cls, source: FrozenWords, shape: HyperShape) -> Self:
        """Untrained; global generators draw the first weights. Raises ValueError for sizes that cannot be."""
        _check(shape)
        return cls(HyperNetwork(source.config.dimension, shape), source, HyperQAConfig(source.config, shape))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError and ValueError that say what is missing, damaged or of another model."""
        config = load_config(folder, HyperQAConfig)
        scorer = cls.of(load_words(folder, config.words), config.shape)
        load_network(folder, scorer.model)
        scorer.model.eval()
        return scorer

    def save(self, folder: Path, *, card: str) -> None:
        save_with_words(folder, self.model, self.source, config=self.config, card=card)

    @property
    def parameters(self) -> int:
        """Trained numbers."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    def read(self, questions: Sequence[str], answers: Sequence[str]) -> Texts:
        return read_texts(self.source, questions, answers, most=self.config.shape.max_words)

    def scores(self, texts: Texts, questions: IntArray, answers: IntArray) -> Tensor:
        places, which = texts.places(questions, answers)
        sums = self.model.sums(texts, places)  # (U, P)
        both = sums[torch.from_numpy(which)]
        scores: Tensor = self.model(both[: len(questions)], both[len(questions) :])
        return scores

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        return score_pairs(self, pairs)

    def sums(self, texts: Sequence[str]) -> FloatArray:
        """Embeddings (N, P) of texts before the constraint to the ball."""
        read = self.read(texts, ())
        with torch.no_grad():
            sums: FloatArray = self.model.sums(read, np.arange(len(texts))).numpy()
        return sums

    def word_norms(self, words: Sequence[str]) -> FloatArray:
        """Norms (W,) of projected words."""
        with torch.no_grad():
            norms: FloatArray = self.model.words(torch.from_numpy(self.source.vectors(words))).norm(dim=-1).numpy()
        return norms


def optimiser(scorer: HyperQA, *, learning_rate: float, l2: float) -> RiemannianAdagrad:
    """AdaGrad; the rows of W_p are points of the ball where the shape says so. Biases are not held down by `l2`.

    Where gradients of embeddings are scaled, `l2` is scaled as at the edge of the ball, where most embeddings are: the
    paper converts the gradient of the whole loss, and a penalty left as it is would drown the rest.
    """
    network, shape = scorer.model, scorer.config.shape
    weight = network.projection.weight
    if shape.riemannian == "rows":
        with torch.no_grad():
            weight.copy_(into_ball(weight, edge=shape.edge))
    if shape.riemannian == "embeddings" and shape.distance == "hyperbolic":
        l2 *= conformal(torch.tensor([1 - shape.edge])).item()
    biases = [each for name, each in network.named_parameters() if name in ("projection.bias", "b_f")]
    others = [each for name, each in network.named_parameters() if name in ("w_f", "w_sums")]
    groups = [
        {"params": [weight], "l2": l2, "ball": shape.riemannian == "rows", "edge": shape.edge},
        {"params": others, "l2": l2},
        {"params": biases, "l2": 0.0},
    ]
    return RiemannianAdagrad([group for group in groups if group["params"]], learning_rate=learning_rate)


class _Sums(torch.autograd.Function):
    """Rows (U, P) added up by text, the words of N texts (T,) one text after the other, of lengths (N,): (N, P).

    `embedding_bag` does it; turned round, from texts to the words that stand in them, it is its own gradient as well,
    a hundred times as fast as the one that torch has for it.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, words: IntArray, lengths: IntArray) -> Tensor:
        ctx.words, ctx.lengths, ctx.rows = words, lengths, len(rows)
        return _added(rows, words, lengths)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        texts = np.repeat(np.arange(len(ctx.lengths)), ctx.lengths)
        by_word = texts[np.argsort(ctx.words, kind="stable")]
        return _added(gradients[0], by_word, np.bincount(ctx.words, minlength=ctx.rows)), None, None


def _added(rows: Tensor, places: IntArray, lengths: IntArray) -> Tensor:
    if not len(places):
        return rows.new_zeros(len(lengths), rows.shape[1])
    starts = torch.from_numpy(np.cumsum(lengths) - lengths)
    return functional.embedding_bag(torch.from_numpy(places), rows.contiguous(), starts, mode="sum")


def _check(shape: HyperShape) -> None:
    wrong = [f"{name} = {getattr(shape, name)}" for name in ("projection", "max_words") if getattr(shape, name) < 1]
    wrong += [] if 0 < shape.edge < 1 else [f"edge = {shape.edge}"]
    wrong += [] if 0 <= shape.dropout < 1 else [f"dropout = {shape.dropout}"]
    wrong += [] if shape.initial >= 0 else [f"initial = {shape.initial}"]
    if wrong:
        raise ValueError(
            f"Expected positive sizes, an edge between 0 and 1 and a dropout below 1, but got {', '.join(wrong)}."
        )
