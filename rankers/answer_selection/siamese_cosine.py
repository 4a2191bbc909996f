"""Siamese rankers: the cosine of a BiLSTM or a convolution over frozen word vectors, the baselines of HyperQA.

QA-BiLSTM: Tan et al. (2015), "LSTM-based deep learning models for non-factoid answer selection".
QA-CNN, AP-CNN, AP-BiLSTM: dos Santos et al. (2016), "Attentive pooling networks", §2 to §4.

Letters: N pairs, B texts, T positions, D word vectors, C channels (filters, or both directions of the LSTM).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.networks.batching import batches
from qa_core.networks.poolings import MaskedLSTM, max_pool
from qa_core.types import IntArray
from rankers.answer_selection.frozen_words import (
    FrozenWords,
    Texts,
    WordsConfig,
)
from rankers.answer_selection.word_ranker import WordRanker

_POSITIONS = 1 << 13  # padded words per batch in scoring


@dataclass(frozen=True, slots=True)
class PeerShape:
    encoder: Literal["bilstm", "cnn"] = "bilstm"
    attentive: bool = False  # pooling by attention to each other instead of the maximum over time
    hidden: int = 141  # of the LSTM, per direction
    filters: int = 400  # of the convolution
    window: int = 3  # words of a filter; odd
    dropout: float = 0.0  # of the states to pool
    max_words: int = 128  # of a text, read


@dataclass(frozen=True, slots=True)
class PeerConfig:
    words: WordsConfig
    shape: PeerShape


class PeerNetwork(nn.Module):
    """One encoder for both sides; the score is the cosine of their pooled states."""

    def __init__(self, dimension: int, shape: PeerShape) -> None:
        super().__init__()
        self.shape = shape
        channels = 2 * shape.hidden if shape.encoder == "bilstm" else shape.filters
        if shape.encoder == "bilstm":
            self.lstm = MaskedLSTM(dimension, shape.hidden)
        else:
            self.convolution = nn.Conv1d(dimension, channels, shape.window, padding=shape.window // 2)
        self.U = nn.Parameter(torch.empty(channels, channels)) if shape.attentive else None
        if self.U is not None:
            nn.init.xavier_uniform_(self.U)

    def states(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Word vectors (B, T, D) and mask (B, T) to states (B, T, C); padding is zero in both."""
        if self.shape.encoder == "bilstm":
            states: Tensor = self.lstm(vectors, mask)
        else:
            states = self.convolution(vectors.transpose(1, 2)).transpose(1, 2)
            states = states.tanh().masked_fill(~mask.unsqueeze(-1), 0.0)
        return functional.dropout(states, self.shape.dropout, self.training)

    def attended(self, questions: Tensor, q_mask: Tensor, answers: Tensor, a_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Pooled states (N, C) of questions (N, M, C) and answers (N, L, C) with masks (N, M) and (N, L).

        `G = tanh(Qᵀ U A)`; the softmax of the maximum of each row and of each column weights the words.
        """
        assert self.U is not None, "only attentive networks have U"
        real = q_mask.unsqueeze(2) & a_mask.unsqueeze(1)  # (N, M, L)
        matched = (questions @ self.U @ answers.transpose(1, 2)).tanh().masked_fill(~real, -2.0)  # G
        return (
            _weighted(questions, matched.amax(2), q_mask),
            _weighted(answers, matched.amax(1), a_mask),
        )


def _weighted(states: Tensor, importance: Tensor, mask: Tensor) -> Tensor:
    """Sum of states (N, T, C) weighted by the softmax of importance (N, T) over real words; 0 without words."""
    lowest = torch.finfo(importance.dtype).min
    weights = importance.masked_fill(~mask, lowest).softmax(-1).masked_fill(~mask, 0.0)
    return (weights.unsqueeze(1) @ states).squeeze(1)


class SiameseCosineRanker(WordRanker[PeerNetwork, PeerConfig]):
    """A trainable pair scorer; scores are cosines."""

    config_type = PeerConfig

    @classmethod
    def of(cls, source: FrozenWords, shape: PeerShape) -> Self:
        _check(shape)
        return cls(PeerNetwork(source.config.dimension, shape), source, PeerConfig(source.config, shape))

    def scores(self, texts: Texts, questions: IntArray, answers: IntArray) -> Tensor:
        """Cosines (N,); each text is encoded once, in batches of texts of similar length."""
        distinct, inverse = texts.distinct(questions, answers)
        groups = batches(np.maximum(1, texts.lengths(distinct)).tolist(), tokens=_POSITIONS)
        if not groups:
            return torch.zeros(0)
        encoded = [self._encoded(texts, distinct[group]) for group in groups]
        of_group = np.concatenate([np.full(len(group), number) for number, group in enumerate(groups)])
        order = np.argsort(np.concatenate(groups))  # row of each distinct text among the encoded ones
        left, right = order[inverse[: len(questions)]], order[inverse[len(questions) :]]
        if not self.config.shape.attentive:
            pooled = torch.cat([max_pool(states, mask) for states, mask in encoded])  # (U, C)
            return functional.cosine_similarity(pooled[torch.from_numpy(left)], pooled[torch.from_numpy(right)])
        return self._attentive(encoded, of_group, left, right)

    def _encoded(self, texts: Texts, rows: IntArray) -> tuple[Tensor, Tensor]:
        vectors, mask = texts.padded(rows)
        return self.model.states(vectors, mask), mask

    def _attentive(
        self, encoded: Sequence[tuple[Tensor, Tensor]], of_group: IntArray, left: IntArray, right: IntArray
    ) -> Tensor:
        """Cosines (N,) after attentive pooling, for all pairs of the same two batches at a time."""
        firsts = np.searchsorted(of_group, np.arange(len(encoded)))
        keys = of_group[left] * len(encoded) + of_group[right]
        parts, members = [], []
        for key in np.unique(keys).tolist():
            pairs = np.flatnonzero(keys == key)
            left_group, right_group = divmod(key, len(encoded))
            q_rows = torch.from_numpy(left[pairs] - firsts[left_group])
            a_rows = torch.from_numpy(right[pairs] - firsts[right_group])
            (question, q_mask), (answer, a_mask) = encoded[left_group], encoded[right_group]
            pooled = self.model.attended(question[q_rows], q_mask[q_rows], answer[a_rows], a_mask[a_rows])
            parts.append(functional.cosine_similarity(*pooled))
            members.append(pairs)
        original_order = torch.from_numpy(np.argsort(np.concatenate(members)))
        return torch.cat(parts)[original_order]


def optimiser(scorer: SiameseCosineRanker, *, learning_rate: float, l2: float) -> torch.optim.Optimizer:
    """AdaGrad over all weights."""
    return torch.optim.Adagrad(scorer.model.parameters(), lr=learning_rate, weight_decay=l2)


def _check(shape: PeerShape) -> None:
    wrong = [
        f"{name} = {getattr(shape, name)}"
        for name in ("hidden", "filters", "window", "max_words")
        if getattr(shape, name) < 1
    ]
    wrong += [] if shape.window % 2 else [f"window = {shape.window}"]
    wrong += [] if 0 <= shape.dropout < 1 else [f"dropout = {shape.dropout}"]
    if wrong:
        raise ValueError(f"Expected positive sizes, an odd window and a dropout below 1, but got {', '.join(wrong)}.")
