"""A trainable ranker by a compared network over frozen word vectors.

ranker = ComparedRanker.of(words, ComparedShape("mp-cnn"))
ranker.score([("where does she live", "she lives at home")])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from qa_core.networks.batching import batches
from qa_core.types import IntArray
from rankers.answer_selection.frozen_words import (
    FrozenWords,
    Texts,
    WordsConfig,
)
from rankers.answer_selection.word_ranker import WordRanker
from rankers.compared.networks import network_of
from rankers.compared.shape import ComparedShape

_POSITIONS = 1 << 11  # padded words per batch in scoring; some networks compare all words with all words


@dataclass(frozen=True, slots=True)
class ComparedConfig:
    words: WordsConfig
    shape: ComparedShape


class ComparedRanker(WordRanker[nn.Module, ComparedConfig]):
    """A trainable pair scorer; scores are unbounded."""

    config_type = ComparedConfig

    @classmethod
    def of(cls, source: FrozenWords, shape: ComparedShape) -> Self:
        return cls(network_of(source.config.dimension, shape), source, ComparedConfig(source.config, shape))

    def scores(self, texts: Texts, questions: IntArray, answers: IntArray) -> Tensor:
        """Scores (N,), in batches of pairs of similar length."""
        longest = np.maximum(texts.lengths(questions), texts.lengths(answers + texts.questions))
        groups = batches(np.maximum(1, longest).tolist(), tokens=_POSITIONS)
        if not groups:
            return torch.zeros(0)
        parts = [self._scores(texts, questions[group], answers[group]) for group in groups]
        return torch.cat(parts)[torch.from_numpy(np.argsort(np.concatenate(groups)))]

    def _scores(self, texts: Texts, questions: IntArray, answers: IntArray) -> Tensor:
        scores: Tensor = self.model(*texts.padded(questions), *texts.padded(answers + texts.questions))
        return scores


def optimiser(ranker: ComparedRanker, *, learning_rate: float, l2: float) -> torch.optim.Optimizer:
    """Adam over all weights."""
    return torch.optim.Adam(ranker.model.parameters(), lr=learning_rate, weight_decay=l2)
