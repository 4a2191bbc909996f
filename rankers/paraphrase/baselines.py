"""Baselines of dual entailment: a Siamese LSTM and decomposable attention, both symmetric in their inputs."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.networks.losses import Affine
from qa_core.networks.poolings import MaskedLSTM, max_pool
from rankers.paraphrase.contextual_words import Context
from rankers.paraphrase.entailment import align, embedding_of, exchanged


@dataclass(frozen=True, slots=True)
class SiameseConfig:
    vocabulary: int  # V, words
    dimension: int = 300  # of word vectors
    hidden: int = 300  # of the BiLSTM; each direction has half of it
    dropout: float = 0.2
    pretrained: bool = False  # E_pre beside E_tune
    max_tokens: int = 64  # words of a text that are read
    context: Context = field(default_factory=Context)  # words in context instead of E_pre and E_tune


class SiameseLSTM(nn.Module):
    """`α cos(u, v) + β` of the vectors of two texts, the maximum over time of a BiLSTM (Wang et al. 2017, §4)."""

    def __init__(self, config: SiameseConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding_of(config)
        self.dropout = nn.Dropout(config.dropout)
        self.lstm = MaskedLSTM(config.dimension, config.hidden // 2)
        self.affine = Affine(alpha=5.0, beta=-2.5)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Tokens and mask (2B, T), the first texts of all pairs and then the second, to logits (B,)."""
        states = self.lstm(self.dropout(self.embedding(tokens)), mask)
        first, second = max_pool(states, mask).chunk(2)
        logits: Tensor = self.affine(functional.cosine_similarity(first, second))
        return logits


@dataclass(frozen=True, slots=True)
class DecomposableConfig:
    vocabulary: int  # V, words
    dimension: int = 300  # of word vectors
    hidden: int = 200  # of projection, attention and comparison
    dropout: float = 0.2
    pretrained: bool = False  # E_pre beside E_tune
    max_tokens: int = 64  # words of a text that are read
    context: Context = field(default_factory=Context)  # words in context instead of E_pre and E_tune


class DecomposableAttention(nn.Module):
    """Attend, compare, aggregate (Parikh et al. 2016); the logit is the sum over both orders.

    Words are aligned by `F(a_i) · F(b_j)`, compared by `G([a_i, β_i])` and summed, and `H` reads both sums.
    """

    def __init__(self, config: DecomposableConfig) -> None:
        super().__init__()
        self.config = config
        hidden, dropout = config.hidden, config.dropout
        self.embedding = embedding_of(config)
        self.project = nn.Linear(config.dimension, hidden, bias=False)
        self.attend = _layers(hidden, hidden, dropout)
        self.compare = _layers(2 * hidden, hidden, dropout)
        self.aggregate = nn.Sequential(_layers(2 * hidden, hidden, dropout), nn.Linear(hidden, 1))

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Tokens and mask (2B, T), the first texts of all pairs and then the second, to logits (B,)."""
        words = self.project(self.embedding(tokens))  # (2B, T, H)
        attended = self.attend(words)
        aligned = align(attended, exchanged(attended), exchanged(words), exchanged(mask))
        compared = self.compare(torch.cat([words, aligned], dim=-1)) * mask.unsqueeze(-1)
        summed = compared.sum(1)  # (2B, H)
        scores: Tensor = self.aggregate(torch.cat([summed, exchanged(summed)], dim=-1)).squeeze(1)
        there, back = scores.chunk(2)
        return there + back


def _layers(inputs: int, outputs: int, dropout: float) -> nn.Sequential:
    sizes = ((inputs, outputs), (outputs, outputs))
    return nn.Sequential(*(part for size in sizes for part in (nn.Dropout(dropout), nn.Linear(*size), nn.ReLU())))
