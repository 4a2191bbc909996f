"""HyperQA ranks by the hyperbolic distance of question and answer, each a sum of projected word vectors.

Tay, Tuan and Hui, "Hyperbolic Representation Learning for Fast and Efficient Neural Question Answering", WSDM 2018.

    x = ReLU(W_p z + b_p)                        word vectors z are frozen, W_p is shared        (equation 1)
    y = Σ x, θ = y / ‖y‖ (1 − ε) if ‖y‖ > 1 − ε  a bag of words, mapped into the open unit ball  (equation 2)
    s(q, a) = w_f d(q, a) + b_f                  d: distance in the Poincaré ball                (equations 4 and 6)

The embeddings of question and answer are points of the ball, but the parameters W_p and b_p are Euclidean: their norms
are unbounded. The paper converts all gradients to Riemannian ones by equation 9, which holds only for points of the
ball. The setting `riemannian` offers three interpretations:

- "off": Euclidean gradients of W_p and b_p through the hyperbolic distance, by the chain rule.
- "embeddings": the gradient of an embedding θ is scaled by (1 − ‖θ‖²)²/4 before it flows back to W_p. Most texts are at
  the edge of the ball and get nearly the same small factor, which AdaGrad cancels; then a text of one or two words,
  well inside the ball, outweighs all others.
- "rows": the rows of W_p are points of the ball, updated by `RiemannianAdagrad` (equations 8 and 9).

CosineQA, the ablation of the paper, replaces d by cosine and uses Euclidean gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.types import FloatArray, IntArray
from rankers.answer_selection.frozen_words import (
    FrozenWords,
    Texts,
    WordsConfig,
)
from rankers.answer_selection.poincare import EDGE, RiemannianAdagrad, conformal, distance, into_ball, riemannian
from rankers.answer_selection.word_ranker import WordRanker

Distance = Literal["hyperbolic", "cosine"]
Last = Literal["linear", "sigmoid", "raw"]
Riemannian = Literal["embeddings", "rows", "off"]


@dataclass(frozen=True, slots=True)
class HyperShape:
    projection: int = 256  # P
    distance: Distance = "hyperbolic"
    last: Last = "linear"  # w_f d + b_f, its logistic, or the distance alone
    concatenate: bool = False  # whether the last layer also reads the sums of question and answer
    riemannian: Riemannian = "off"
    edge: float = EDGE  # ε
    dropout: float = 0.0  # of the sums
    initial: float = 0.0  # standard deviation of the initial W_p; 0 is Glorot initialisation
    max_words: int = 256  # of a text, read


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
        sign = -1.0 if shape.distance == "hyperbolic" else 1.0  # near answers score high
        learned = shape.last != "raw"
        self.w_f = nn.Parameter(torch.tensor(sign)) if learned else None
        self.b_f = nn.Parameter(torch.tensor(0.0)) if learned else None
        self.w_sums = nn.Parameter(torch.zeros(2 * shape.projection)) if shape.concatenate else None

    def words(self, vectors: Tensor) -> Tensor:
        """`ReLU(W_p z + b_p)`: (W, D) to (W, P)."""
        return functional.relu(self.projection(vectors))

    def sums(self, texts: Texts, rows: IntArray) -> Tensor:
        """Sums (N, P) of the projected words of texts (N,), before the constraint; each word is projected once."""
        flat, _ = texts.flat(rows)
        distinct, inverse = np.unique(flat, return_inverse=True)
        projected = self.words(texts.vectors[torch.from_numpy(distinct)])  # (U, P)
        sums: Tensor = _Sums.apply(projected, inverse.reshape(-1), texts.lengths(rows))  # type: ignore[no-untyped-call] # torch leaves it without annotations
        return sums

    def embeddings(self, sums: Tensor) -> Tensor:
        """Sums (..., P) as points of the ball."""
        points = into_ball(sums, edge=self.shape.edge)
        return riemannian(points) if self.shape.riemannian == "embeddings" else points

    def forward(self, questions: Tensor, answers: Tensor) -> Tensor:
        """Sums (N, P) of questions and of answers to scores (N,) float32; better answers score higher."""
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


class HyperQA(WordRanker[HyperNetwork, HyperQAConfig]):
    """A trainable pair scorer; words without a vector are ignored."""

    config_type = HyperQAConfig

    @classmethod
    def of(cls, source: FrozenWords, shape: HyperShape) -> Self:
        _check(shape)
        return cls(HyperNetwork(source.config.dimension, shape), source, HyperQAConfig(source.config, shape))

    def scores(self, texts: Texts, questions: IntArray, answers: IntArray) -> Tensor:
        distinct, inverse = texts.distinct(questions, answers)
        sums = self.model.sums(texts, distinct)[torch.from_numpy(inverse)]  # (2N, P)
        scores: Tensor = self.model(sums[: len(questions)], sums[len(questions) :])
        return scores

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
    """AdaGrad, Riemannian for the rows of W_p if the shape says so; `l2` does not apply to biases.

    If gradients of embeddings are scaled, `l2` is scaled by the factor at the edge of the ball, where most embeddings
    are: the paper converts the gradient of the whole loss, and an unscaled penalty would outweigh the rest.
    """
    network, shape = scorer.model, scorer.config.shape
    projection = network.projection.weight
    if shape.riemannian == "rows":
        with torch.no_grad():
            projection.copy_(into_ball(projection, edge=shape.edge))
    if shape.riemannian == "embeddings" and shape.distance == "hyperbolic":
        l2 *= conformal(torch.tensor([1 - shape.edge])).item()
    biases = [weight for name, weight in network.named_parameters() if name in ("projection.bias", "b_f")]
    others = [weight for name, weight in network.named_parameters() if name in ("w_f", "w_sums")]
    groups = [
        {"params": [projection], "l2": l2, "ball": shape.riemannian == "rows", "edge": shape.edge},
        {"params": others, "l2": l2},
        {"params": biases, "l2": 0.0},
    ]
    return RiemannianAdagrad([group for group in groups if group["params"]], learning_rate=learning_rate)


class _Sums(torch.autograd.Function):
    """Sums (N, P) of rows (U, P) by text, for the words (T,) of N texts, one text after another, of lengths (N,).

    `embedding_bag` computes the sums, and also the gradient, as sums by word of the gradients of texts: a hundred times
    as fast as the gradient that torch has for it.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, words: IntArray, lengths: IntArray) -> Tensor:
        ctx.words, ctx.lengths, ctx.rows = words, lengths, len(rows)
        return _bag_sums(rows, words, lengths)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        texts = np.repeat(np.arange(len(ctx.lengths)), ctx.lengths)
        by_word = texts[np.argsort(ctx.words, kind="stable")]
        return _bag_sums(gradients[0], by_word, np.bincount(ctx.words, minlength=ctx.rows)), None, None


def _bag_sums(rows: Tensor, indices: IntArray, lengths: IntArray) -> Tensor:
    if not len(indices):
        return rows.new_zeros(len(lengths), rows.shape[1])
    starts = torch.from_numpy(np.cumsum(lengths) - lengths)
    return functional.embedding_bag(torch.from_numpy(indices), rows.contiguous(), starts, mode="sum")


def _check(shape: HyperShape) -> None:
    wrong = [f"{name} = {getattr(shape, name)}" for name in ("projection", "max_words") if getattr(shape, name) < 1]
    wrong += [] if 0 < shape.edge < 1 else [f"edge = {shape.edge}"]
    wrong += [] if 0 <= shape.dropout < 1 else [f"dropout = {shape.dropout}"]
    wrong += [] if shape.initial >= 0 else [f"initial = {shape.initial}"]
    if wrong:
        raise ValueError(
            f"Expected positive sizes, an edge between 0 and 1 and a dropout below 1, but got {', '.join(wrong)}."
        )
