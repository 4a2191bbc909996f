"""Lexical decomposition and composition (L.D.C.; Wang, Mi and Ittycheriah 2016).

Each word is matched with the words of the other text around its nearest one (local matching, §3.1), and split into the
part along that match and the rest (orthogonal decomposition, §3.2). A convolution over one to three words reads both
parts as two channels (§3.3); the maxima over time of both texts are classified.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.networks.poolings import max_pool, unit
from rankers.paraphrase.baselines import BaselineConfig
from rankers.paraphrase.entailment import embedding_of, exchanged

WIDTHS = (1, 2, 3)
"""Words of a filter."""
LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class DecompositionConfig(BaselineConfig):
    """`hidden` is the number of filters of each width."""

    window: int = 3  # words before and after the nearest one that are matched, too


class LexicalDecomposition(nn.Module):
    """The logit is the sum over both orders of the texts, so that it is symmetric."""

    def __init__(self, config: DecompositionConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding_of(config)
        self.dropout = nn.Dropout(config.dropout)
        self.filters = nn.ModuleList(nn.Conv1d(2 * config.dimension, config.hidden, width) for width in WIDTHS)
        self.linear = nn.Linear(2 * len(WIDTHS) * config.hidden, 1)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Tokens and mask (2B, T), the first texts of all pairs and then the second, to logits (B,)."""
        words = self.dropout(self.embedding(tokens)) * mask.unsqueeze(-1)
        matched = local_match(words, exchanged(words), exchanged(mask), window=self.config.window)
        parts = torch.cat(decomposed(words, matched), dim=-1).transpose(1, 2)  # (2B, 2D, T)
        composed = [
            max_pool(convolution(functional.pad(parts, (0, width - 1))).transpose(1, 2).tanh(), mask)
            for width, convolution in zip(WIDTHS, self.filters, strict=True)
        ]
        texts = self.dropout(torch.cat(composed, dim=-1))
        scores: Tensor = self.linear(torch.cat([texts, exchanged(texts)], dim=-1)).squeeze(1)
        first, second = scores.chunk(2)
        return first + second


def local_match(words: Tensor, others: Tensor, mask: Tensor, *, window: int) -> Tensor:
    """The mean (B, T, D), weighted by cosine, of the other text's words around the nearest one of each word.

    Args:
        words: (B, T, D).
        others: (B, S, D), zero in the padding.
        mask: of the others, (B, S).
    """
    lowest = torch.finfo(words.dtype).min
    cosines = (unit(words) @ unit(others).transpose(1, 2)).masked_fill(~mask.unsqueeze(1), lowest)  # (B, T, S)
    places = torch.arange(others.shape[1], device=words.device)
    near = (places - cosines.argmax(2, keepdim=True)).abs() <= window
    weights = cosines.clamp(min=LEAST) * near * mask.unsqueeze(1)  # a negative cosine counts nearly nothing
    matched: Tensor = weights @ others / weights.sum(2, keepdim=True).clamp(min=LEAST)
    return matched


def decomposed(words: Tensor, matched: Tensor) -> tuple[Tensor, Tensor]:
    """Words (B, T, D) as the part along what they are matched with, and the rest."""
    along = (words * matched).sum(-1, keepdim=True) / matched.square().sum(-1, keepdim=True).clamp(min=LEAST)
    similar = along * matched
    return similar, words - similar
