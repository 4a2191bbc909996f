"""What the compared networks share: states of a question, a vector of a relation, and the cosine of the two.

Letters: B questions, T words of a question, R relations, L words of a relation, P relations of a pool, D size of a word
vector, H hidden size, F size of a state. Masks are true at words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from qa_core.networks.poolings import max_pool, unit

Kind = Literal["bilstm", "bicnn", "ampcnn", "hr-bilstm"]


@dataclass(frozen=True, slots=True)
class ComparedConfig:
    """The kind of a network and its sizes."""

    network: Kind
    words: int  # vocabulary
    relations: int  # with a vector for their whole name, and one for all others
    dimension: int  # D
    hidden: int = 150  # H
    most_words: int = 40  # of a question or a relation; further ones are ignored


@dataclass(frozen=True, slots=True)
class Relations:
    """Relations as words and as whole names."""

    words: Tensor  # ids (R, L)
    mask: Tensor  # (R, L)
    names: Tensor  # ids (R,); 0 for a relation without a vector


class PairNetwork(nn.Module, ABC):
    """Scores a question and a relation by the cosine of two vectors."""

    @abstractmethod
    def question(self, words: Tensor, mask: Tensor) -> Tensor:
        """Ids of words (B, T) to states (B, T, F)."""

    @abstractmethod
    def relation(self, relations: Relations) -> Tensor:
        """Vectors (R, F)."""

    def score(self, states: Tensor, mask: Tensor, relations: Tensor, real: Tensor) -> Tensor:  # noqa: ARG002
        """States of questions (B, T, F) and vectors of the relations of each (B, P, F) to scores (B, P).

        Only the places of `real` (B, P) hold relations; scores elsewhere mean nothing.
        """
        vectors = unit(self.pooled(states, mask)).unsqueeze(-1)  # (B, F, 1)
        return (unit(relations) @ vectors).squeeze(-1)

    def pooled(self, states: Tensor, mask: Tensor) -> Tensor:
        """The vector (B, F) of a question: the largest value of each dimension of its states."""
        return max_pool(states, mask)


class FrozenWords(nn.Module):
    """Word vectors that are not trained: a table (V, D), zero until it is set or loaded."""

    table: Tensor

    def __init__(self, config: ComparedConfig) -> None:
        super().__init__()
        self.register_buffer("table", torch.zeros(config.words, config.dimension))

    def forward(self, words: Tensor) -> Tensor:
        """Ids (...) to vectors (..., D)."""
        return self.table[words]
