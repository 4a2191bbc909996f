"""Bilateral multi-perspective matching (BiMPM; Wang, Hamza and Florian 2017).

A BiLSTM reads both texts. Each of its states is compared, in its own direction and from several perspectives, with the
other text in four ways: with its last state (full), with all its states, of which the largest cosine counts
(maxpooling), with their mean weighted by cosine (attentive), and with the state of the largest cosine (max-attentive).
Another BiLSTM reads the cosines; its last states in both directions, of both texts, are classified.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from qa_core.networks.poolings import MaskedLSTM, last_pool, unit
from rankers.paraphrase.baselines import BaselineConfig
from rankers.paraphrase.entailment import embedding_of, exchanged
from rankers.paraphrase.perspectives import Perspectives

WAYS = 4
"""Ways to compare a state with the other text."""


@dataclass(frozen=True, slots=True)
class MatchingConfig(BaselineConfig):
    """`hidden` is the size of states; each direction of a BiLSTM has half of it."""

    perspectives: int = 20  # l


class BilateralMatching(nn.Module):
    """The logit is the sum over both orders of the texts, so that it is symmetric."""

    def __init__(self, config: MatchingConfig) -> None:
        super().__init__()
        self.config = config
        half = max(1, config.hidden // 2)
        self.embedding = embedding_of(config)
        self.dropout = nn.Dropout(config.dropout)
        self.read = MaskedLSTM(config.dimension, half)
        self.forward_ways, self.backward_ways = (
            nn.ModuleList(Perspectives(half, config.perspectives) for _ in range(WAYS)) for _ in range(2)
        )
        self.aggregate = MaskedLSTM(2 * WAYS * config.perspectives, half)
        self.predict = nn.Sequential(
            nn.Linear(4 * half, 2 * half), nn.Tanh(), nn.Dropout(config.dropout), nn.Linear(2 * half, 1)
        )

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Tokens and mask (2B, T), the first texts of all pairs and then the second, to logits (B,)."""
        states = self.read(self.dropout(self.embedding(tokens)), mask)
        there, back = states.chunk(2, dim=-1)  # directions, (2B, T, H)
        other_there, other_back = exchanged(states).chunk(2, dim=-1)
        other_mask = exchanged(mask)
        last = last_pool(other_there, other_mask), other_back[:, 0]
        matched = torch.cat(
            [
                *_matched(self.forward_ways, there, other_there, last[0], other_mask),
                *_matched(self.backward_ways, back, other_back, last[1], other_mask),
            ],
            dim=-1,
        )  # (2B, T, 8l)
        there, back = self.aggregate(self.dropout(matched), mask).chunk(2, dim=-1)
        texts = torch.cat([last_pool(there, mask), back[:, 0]], dim=-1)
        scores: Tensor = self.predict(torch.cat([texts, exchanged(texts)], dim=-1)).squeeze(1)
        first, second = scores.chunk(2)
        return first + second


def _matched(ways: nn.ModuleList, states: Tensor, others: Tensor, last: Tensor, other_mask: Tensor) -> list[Tensor]:
    """Cosines (B, T, l) of states (B, T, H) with another text's states (B, S, H) in the four ways."""
    full, largest, attentive, best = ways
    assert isinstance(largest, Perspectives)
    lowest = torch.finfo(states.dtype).min
    hidden = ~other_mask[:, None, :, None]
    pairs = largest.all_pairs(states, others).masked_fill(hidden, lowest).amax(2)
    pairs = pairs.masked_fill(~other_mask.any(1)[:, None, None], 0.0)
    cosines = unit(states) @ unit(others).transpose(1, 2)  # (B, T, S); 0 in the padding, whose states are 0
    mean = cosines @ others  # not divided by the sum: a cosine does not depend on the length
    nearest = cosines.masked_fill(~other_mask.unsqueeze(1), lowest).argmax(2)  # (B, T)
    chosen = others.gather(1, nearest.unsqueeze(-1).expand(-1, -1, others.shape[-1]))
    return [full(states, last.unsqueeze(1)), pairs, attentive(states, mean), best(states, chosen)]
