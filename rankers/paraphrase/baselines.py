"""Networks that dual entailment is compared with: Siamese encoders and decomposable attention; all are symmetric."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.networks.losses import Affine
from qa_core.networks.poolings import MaskedLSTM, max_pool
from rankers.paraphrase.contextual_words import Context
from rankers.paraphrase.entailment import align, embedding_of, exchanged
from rankers.paraphrase.perspectives import Perspectives


@dataclass(frozen=True, slots=True)
class BaselineConfig:
    vocabulary: int  # V, words
    dimension: int = 300  # of word vectors
    hidden: int = 300
    dropout: float = 0.2
    pretrained: bool = False  # E_pre beside E_tune
    max_tokens: int = 64  # words of a text that are read
    context: Context = field(default_factory=Context)  # words in context instead of E_pre and E_tune


@dataclass(frozen=True, slots=True)
class SiameseConfig(BaselineConfig):
    """`hidden` is the size of a text's vector; each direction of the BiLSTM has half of it."""

    encoder: Literal["lstm", "cnn"] = "lstm"
    perspectives: int = 0  # l; 0 compares the vectors by one cosine


class Siamese(nn.Module):
    """Compares the vectors of two texts: the maximum over time of a BiLSTM or of a convolution of three words.

    The logit is `α cos(u, v) + β`, or linear in their cosines from several perspectives: the Siamese and the
    multi-perspective networks of Wang et al. (2017), §4.
    """

    def __init__(self, config: SiameseConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding_of(config)
        self.dropout = nn.Dropout(config.dropout)
        if config.encoder == "lstm":
            self.lstm = MaskedLSTM(config.dimension, config.hidden // 2)
        else:
            self.convolution = nn.Conv1d(config.dimension, config.hidden, 3, padding=1)
        if config.perspectives:
            self.perspectives = Perspectives(config.hidden, config.perspectives)
            self.linear = nn.Linear(config.perspectives, 1)
        else:
            self.affine = Affine(alpha=5.0, beta=-2.5)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Tokens and mask (2B, T), the first texts of all pairs and then the second, to logits (B,)."""
        words = self.dropout(self.embedding(tokens)) * mask.unsqueeze(-1)
        if self.config.encoder == "lstm":
            states = self.lstm(words, mask)
        else:
            states = self.convolution(words.transpose(1, 2)).transpose(1, 2).tanh()
        first, second = max_pool(states, mask).chunk(2)
        if self.config.perspectives:
            scores: Tensor = self.linear(self.perspectives(first, second)).squeeze(1)
            return scores
        logits: Tensor = self.affine(functional.cosine_similarity(first, second))
        return logits


@dataclass(frozen=True, slots=True)
class DecomposableConfig(BaselineConfig):
    """`hidden` is the size of projection, attention and comparison."""

    hidden: int = 200


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
