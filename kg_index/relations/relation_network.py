"""A BiLSTM that detects the relation a template asks for, among those of its entity (Wang (2018), ch. 4.3.5).

Letters: B templates, T words, D size of a word vector, H hidden size of a direction, R relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from kg_index.relations.template_text import NO_PATH, SLOT
from qa_core.networks.batching import batches
from qa_core.networks.checkpoints import (
    load_config,
    load_tensors,
    load_vocabulary,
    save_model,
    tensor_text,
    text_tensor,
)
from qa_core.networks.poolings import MaskedLSTM, max_pool
from qa_core.networks.vocabulary import UNKNOWN, Vocabulary
from qa_core.types import FloatArray, IntArray

SPECIALS = (UNKNOWN, SLOT)
WordVectors = Callable[[Sequence[str]], FloatArray]
"""From words (N,) to vectors (N, D); a zero row for an unknown word."""
_WORDS_A_BATCH = 8_192
_TABLE, _RELATIONS = "words", "relations"


@dataclass(frozen=True, slots=True)
class RelationConfig:
    """Sizes; the defaults are Wang's, with D = 300."""

    relations: int  # R
    words: int  # vocabulary
    dimension: int  # D
    hidden: int = 300  # H
    dropout: float = 0.2
    most_words: int = 40  # of a template; further ones are ignored
    names: int = 0  # always 0; older versions could save vectors of relation names


class RelationNetwork(nn.Module):
    """BiLSTM, max pooling over its states, a hidden layer with ReLU and dropout, and an output per relation."""

    def __init__(self, config: RelationConfig) -> None:
        super().__init__()
        self.lstm = MaskedLSTM(config.dimension, config.hidden)
        self.first = nn.Linear(self.lstm.output_size, config.hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.hidden, config.relations)

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Word vectors (B, T, D) and mask (B, T), true at words, to logits (B, R)."""
        states = max_pool(self.lstm(vectors, mask), mask)  # (B, 2H)
        hidden = self.dropout(torch.relu(self.first(states)))  # (B, H)
        logits: Tensor = self.output(hidden)
        return logits


@dataclass(frozen=True, eq=False)
class RelationDetector:
    """A trained network with its vocabulary and relations."""

    network: RelationNetwork
    vocabulary: Vocabulary
    table: Tensor  # (V, D), frozen; zero for unknown words
    relations: tuple[str, ...]
    config: RelationConfig
    _indices: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_indices", {name: index for index, name in enumerate(self.relations)})

    @classmethod
    def of(
        cls,
        counts: Mapping[str, int],
        relations: Sequence[str],
        vectors: WordVectors,
        *,
        hidden: int = 300,
        most: int = 30_000,
        length: float = 3.0,
    ) -> Self:
        """A new detector; torch's generator draws its weights and the vector of the slot.

        Args:
            counts: frequencies of words in templates; the `most` frequent ones form the vocabulary.
            length: average length of word vectors. With length 1 the gates stay half open for many epochs.
        """
        words = {word: count for word, count in counts.items() if word not in SPECIALS}
        vocabulary = Vocabulary.from_counts(words, size=most, specials=SPECIALS)
        table = scaled(vectors(vocabulary.tokens[len(SPECIALS) :]), length)
        config = RelationConfig(len(relations), len(vocabulary), table.shape[1], hidden)
        return cls(RelationNetwork(config), vocabulary, table, tuple(relations), config)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError if a file is missing, ValueError if the files do not fit together."""
        config = load_config(folder, RelationConfig)
        tensors = load_tensors(folder)
        listed = tensors.pop(_RELATIONS, None)
        relations = tensor_text(None if listed is None else listed.numpy(), folder).split("\n")
        table = tensors.pop(_TABLE, None)
        vocabulary = Vocabulary(tuple(load_vocabulary(folder)))
        _check(folder, config, relations, vocabulary, table)
        assert table is not None
        network = RelationNetwork(config)
        try:
            network.load_state_dict(tensors)
        except RuntimeError as error:
            raise ValueError(f"{folder}: Expected the weights of this network, but got others: {error}") from None
        return cls(network.eval(), vocabulary, table.float(), tuple(relations), config)

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save leaves the old model. Raises ValueError for NaN."""
        weights = {**self.network.state_dict(), _TABLE: self.table}
        weights[_RELATIONS] = torch.from_numpy(text_tensor("\n".join(self.relations)))
        save_model(folder, config=self.config, weights=weights, vocabulary=self.vocabulary.tokens, card=card)

    def __contains__(self, relation: object) -> bool:
        return relation in self._indices

    def read(self, templates: Iterable[str]) -> list[IntArray]:
        """Ids of each template's words, at least one."""
        most = self.config.most_words
        return [
            np.array(self.vocabulary.ids(template.split()[:most]) or self.vocabulary.ids([UNKNOWN]), dtype=np.int64)
            for template in templates
        ]

    def logits(self, rows: Sequence[IntArray]) -> Tensor:
        """Logits (B, R) of templates by the ids of their words."""
        lengths = torch.tensor([len(row) for row in rows])
        ids = nn.utils.rnn.pad_sequence([torch.from_numpy(row) for row in rows], batch_first=True)  # (B, T)
        device = self.network.output.weight.device
        mask = (torch.arange(ids.shape[1]) < lengths.unsqueeze(1)).to(device)
        return self.network(self.table[ids].to(device), mask)  # type: ignore[no-any-return] # of nn.Module

    def log_likelihoods(self, templates: Sequence[str]) -> FloatArray:
        """`log l(r, T)` (N, R) over all relations, including "no path found"."""
        rows = self.read(templates)
        result = np.zeros((len(rows), len(self.relations)), dtype=np.float32)
        was_training = self.network.training
        self.network.eval()
        with torch.no_grad():
            for members in batches([len(row) for row in rows], tokens=_WORDS_A_BATCH):
                logits = self.logits([rows[member] for member in members])
                result[members] = torch.log_softmax(logits, dim=1).cpu().numpy()
        self.network.train(was_training)
        return result

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        """`P(r | T, e)` (P,): softmax over the known relations of the pool, 0 for unknown ones and "no path found"."""
        scores: list[FloatArray] = []
        for start in range(0, len(templates), 1024):  # bounds the memory of the likelihoods
            part = slice(start, start + 1024)
            likelihoods = self.log_likelihoods(templates[part])
            scores += [self._of_pool(row, pool) for row, pool in zip(likelihoods, pools[part], strict=True)]
        return scores

    def _of_pool(self, likelihoods: FloatArray, pool: Sequence[str]) -> FloatArray:
        known = [i for i, name in enumerate(pool) if name in self._indices and name != NO_PATH]
        scores = np.zeros(len(pool), dtype=np.float32)
        if known:
            logits = likelihoods[[self._indices[pool[i]] for i in known]]
            exponents = np.exp(logits - logits.max())
            scores[known] = exponents / exponents.sum()
        return scores


def scaled(rows: FloatArray, length: float = 3.0) -> Tensor:
    """(V, D): zero for unknown words, a random vector for the slot, then `rows` with the average length `length`."""
    table = torch.from_numpy(np.vstack([np.zeros((len(SPECIALS), rows.shape[1]), dtype=np.float32), rows]))
    norms = table.norm(dim=1)
    if bool((norms > 0).any()):
        table *= length / norms[norms > 0].mean()
    drawn = torch.randn(rows.shape[1])
    table[SPECIALS.index(SLOT)] = drawn / drawn.norm() * length
    return table


def _check(
    folder: Path,
    config: RelationConfig,
    relations: Sequence[str],
    vocabulary: Vocabulary,
    table: Tensor | None,
) -> None:
    shapes = {
        "relations": (len(set(relations)), config.relations),
        "words": (len(vocabulary), config.words),
        "word vectors": (None if table is None else tuple(table.shape), (config.words, config.dimension)),
    }
    for what, (got, expected) in shapes.items():
        if got != expected:
            raise ValueError(f"{folder}: Expected {expected} {what}, but got {got}; train or fetch the model again.")
