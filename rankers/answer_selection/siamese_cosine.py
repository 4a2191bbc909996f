"""The peers that HyperQA is measured against: a BiLSTM or a convolution over frozen word vectors, and cosine.

QA-BiLSTM: Tan, dos Santos, Xiang and Zhou 2015, "LSTM-based deep learning models for non-factoid answer selection".
QA-CNN, AP-CNN, AP-BiLSTM: dos Santos, Tan, Xiang and Zhou 2016, "Attentive pooling networks", sections 2 to 4.

Letters: N pairs, B texts, T positions, D word vectors, C channels (filters, or both directions of the LSTM).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.networks.batching import batches
from qa_core.networks.checkpoints import load_config
from qa_core.networks.poolings import MaskedLSTM, max_pool
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
from rankers.neural import TextPair
from rankers.trainable import score_pairs

_POSITIONS = 1 << 13  # padded words that are encoded at once in scoring


@dataclass(frozen=True, slots=True)
class PeerShape:
    encoder: Literal["bilstm", "cnn"] = "bilstm"
    attentive: bool = False  # pooling by attention to each other instead of the largest over time
    hidden: int = 141  # of the LSTM, a direction
    filters: int = 400  # of the convolution
    window: int = 3  # words that a filter sees; odd
    dropout: float = 0.0  # of what is pooled
    max_words: int = 128  # of a text that count


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
        """Word vectors (B, T, D), zero in the padding, and mask (B, T), to states (B, T, C), zero in the padding."""
        if self.shape.encoder == "bilstm":
            states: Tensor = self.lstm(vectors, mask)
        else:
            states = self.convolution(vectors.transpose(1, 2)).transpose(1, 2)
            states = states.tanh().masked_fill(~mask.unsqueeze(-1), 0.0)
        return functional.dropout(states, self.shape.dropout, self.training)

    def attended(self, questions: Tensor, seen: Tensor, answers: Tensor, read: Tensor) -> tuple[Tensor, Tensor]:
        """Pooled (N, C) of pairs of states (N, M, C) and (N, L, C) with masks `seen` (N, M) and `read` (N, L).

        `G = tanh(Qᵀ U A)`; the largest of each row and of each column, by softmax, are weights of the words.
        """
        assert self.U is not None, "asked of attentive networks only"
        both = seen.unsqueeze(2) & read.unsqueeze(1)  # (N, M, L)
        matched = (questions @ self.U @ answers.transpose(1, 2)).tanh().masked_fill(~both, -2.0)  # G
        return (
            _weighted(questions, matched.amax(2), seen),
            _weighted(answers, matched.amax(1), read),
        )


def _weighted(states: Tensor, importance: Tensor, mask: Tensor) -> Tensor:
    """Sum of states (N, T, C) weighted by the softmax of importance (N, T) over real words; 0 where there are none."""
    lowest = torch.finfo(importance.dtype).min
    weights = importance.masked_fill(~mask, lowest).softmax(-1).masked_fill(~mask, 0.0)
    return (weights.unsqueeze(1) @ states).squeeze(1)


@dataclass(frozen=True, eq=False)
class SiameseCosineRanker:
    """A pair scorer, trainable; scores are cosines."""

    model: PeerNetwork
    source: FrozenWords
    config: PeerConfig

    @classmethod
    def of(cls, source: FrozenWords, shape: PeerShape) -> Self:
        """Untrained; global generators draw the first weights. Raises ValueError for sizes that cannot be."""
        _check(shape)
        return cls(PeerNetwork(source.config.dimension, shape), source, PeerConfig(source.config, shape))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError and ValueError that say what is missing, damaged or of another model."""
        config = load_config(folder, PeerConfig)
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
        """Cosines (N,); each text is encoded once, in batches of texts of like length."""
        places, which = texts.places(questions, answers)
        groups = batches(np.maximum(1, texts.lengths(places)).tolist(), tokens=_POSITIONS)
        if not groups:
            return torch.zeros(0)
        encoded = [self._encoded(texts, places[group]) for group in groups]
        of_group = np.concatenate([np.full(len(group), number) for number, group in enumerate(groups)])
        order = np.argsort(np.concatenate(groups))  # of each text, where it stands among the encoded ones
        left, right = order[which[: len(questions)]], order[which[len(questions) :]]
        if not self.config.shape.attentive:
            pooled = torch.cat([max_pool(states, mask) for states, mask in encoded])  # (U, C)
            return functional.cosine_similarity(pooled[torch.from_numpy(left)], pooled[torch.from_numpy(right)])
        return self._attentive(encoded, of_group, left, right)

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        return score_pairs(self, pairs)

    def _encoded(self, texts: Texts, places: IntArray) -> tuple[Tensor, Tensor]:
        vectors, mask = texts.padded(places)
        return self.model.states(vectors, mask), mask

    def _attentive(
        self, encoded: Sequence[tuple[Tensor, Tensor]], of_group: IntArray, left: IntArray, right: IntArray
    ) -> Tensor:
        """Pairs whose texts were encoded in the same batches are pooled together."""
        firsts = np.searchsorted(of_group, np.arange(len(encoded)))
        keys = of_group[left] * len(encoded) + of_group[right]
        parts, members = [], []
        for key in np.unique(keys).tolist():
            own = np.flatnonzero(keys == key)
            one, other = divmod(key, len(encoded))
            chosen = torch.from_numpy(left[own] - firsts[one]), torch.from_numpy(right[own] - firsts[other])
            (question, seen), (answer, read) = encoded[one], encoded[other]
            pooled = self.model.attended(question[chosen[0]], seen[chosen[0]], answer[chosen[1]], read[chosen[1]])
            parts.append(functional.cosine_similarity(*pooled))
            members.append(own)
        back = torch.from_numpy(np.argsort(np.concatenate(members)))
        return torch.cat(parts)[back]


def optimiser(scorer: SiameseCosineRanker, *, learning_rate: float, l2: float) -> torch.optim.Optimizer:
    """AdaGrad."""
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
