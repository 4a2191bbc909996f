"""Relation detection: which relation a question asks for, of those that its entity has (thesis, ch. 4.3.5).

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
"""Words to vectors (N, D); a zero row for a word without one."""
_WORDS_A_BATCH = 8_192
_TABLE, _RELATIONS, _NAMES = "words", "relations", "names"


@dataclass(frozen=True, slots=True)
class RelationConfig:
    """The sizes of the thesis, where D is 300 too."""

    relations: int  # R
    words: int  # vocabulary
    dimension: int  # D
    hidden: int = 300  # H
    dropout: float = 0.2
    most_words: int = 40  # of a template that count
    names: int = 0  # size of the vectors of relations' words that the output sees too; 0: it sees none


class RelationNetwork(nn.Module):
    """BiLSTM, the largest of its states, two layers with ReLU and dropout between, and an output for each relation.

    With `names` a relation's output row is a trained row and a linear map of the vector of its words, so that
    relations without examples have one too; that is no part of the thesis.
    """

    def __init__(self, config: RelationConfig) -> None:
        super().__init__()
        self.lstm = MaskedLSTM(config.dimension, config.hidden)
        self.first = nn.Linear(self.lstm.output_size, config.hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.hidden, config.relations)
        self.named = nn.Linear(config.names, config.hidden, bias=False) if config.names else None

    def forward(self, vectors: Tensor, mask: Tensor, names: Tensor | None = None) -> Tensor:
        """Word vectors (B, T, D), mask (B, T) and, with `names`, vectors of relations (R, N), to logits (B, R)."""
        states = max_pool(self.lstm(vectors, mask), mask)  # (B, 2H)
        hidden = self.dropout(torch.relu(self.first(states)))  # (B, H)
        logits: Tensor = self.output(hidden)
        return logits if self.named is None else logits + hidden @ self.named(names).T


@dataclass(frozen=True, eq=False)
class RelationDetector:
    """A trained network with the words and relations it knows."""

    network: RelationNetwork
    vocabulary: Vocabulary
    table: Tensor  # (V, D), frozen; zero for unknown words
    relations: tuple[str, ...]
    config: RelationConfig
    names: Tensor | None = None  # (R, N)
    _places: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {name: place for place, name in enumerate(self.relations)})

    @classmethod
    def of(
        cls,
        counts: Mapping[str, int],
        relations: Sequence[str],
        vectors: WordVectors,
        *,
        names: FloatArray | None = None,
        hidden: int = 300,
        most: int = 30_000,
        length: float = 3.0,
    ) -> Self:
        """A new one; torch's generator draws its first weights and the slot's vector.

        Args:
            counts: how often each word stands in templates; the `most` frequent ones are known.
            names: vectors (R, N) of the relations' words, where the output is to see them.
            length: of word vectors on average. Those of length 1 leave the gates half open for many epochs.
        """
        own = {word: count for word, count in counts.items() if word not in SPECIALS}
        vocabulary = Vocabulary.from_counts(own, size=most, specials=SPECIALS)
        table = _scaled(vectors(vocabulary.tokens[len(SPECIALS) :]), length)
        width = 0 if names is None else names.shape[1]
        config = RelationConfig(len(relations), len(vocabulary), table.shape[1], hidden, names=width)
        known = None if names is None else torch.from_numpy(names.astype(np.float32))
        return cls(RelationNetwork(config), vocabulary, table, tuple(relations), config, known)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError and ValueError that say what is missing or wrong."""
        config = load_config(folder, RelationConfig)
        tensors = load_tensors(folder)
        if bad := [name for name, tensor in tensors.items() if not bool(tensor.isfinite().all())]:
            raise ValueError(f"{folder}: Expected finite weights, but got NaN or infinity in {bad[0]}; train it again.")
        listed = tensors.pop(_RELATIONS, None)
        relations = tensor_text(None if listed is None else listed.numpy(), folder).split("\n")
        table, names = tensors.pop(_TABLE, None), tensors.pop(_NAMES, None)
        vocabulary = Vocabulary(tuple(load_vocabulary(folder)))
        _check(folder, config, relations, vocabulary, table, names)
        assert table is not None
        network = RelationNetwork(config)
        try:
            network.load_state_dict(tensors)
        except RuntimeError as error:
            raise ValueError(f"{folder}: Expected the weights of this network, but got others: {error}") from None
        filled = None if names is None else names.float()
        return cls(network.eval(), vocabulary, table.float(), tuple(relations), config, filled)

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save leaves the old model. Refuses NaN."""
        # float16 would not give the same scores after loading
        weights = {**self.network.state_dict(), _TABLE: self.table}
        if self.names is not None:
            weights[_NAMES] = self.names
        weights[_RELATIONS] = torch.from_numpy(text_tensor("\n".join(self.relations)))
        save_model(folder, config=self.config, weights=weights, vocabulary=self.vocabulary.tokens, card=card)

    def __contains__(self, relation: object) -> bool:
        return relation in self._places

    def read(self, templates: Iterable[str]) -> list[IntArray]:
        """Numbers of each template's words; one word at least."""
        most = self.config.most_words
        return [
            np.array(self.vocabulary.ids(template.split()[:most]) or self.vocabulary.ids([UNKNOWN]), dtype=np.int64)
            for template in templates
        ]

    def logits(self, rows: Sequence[IntArray]) -> Tensor:
        """Of templates by the numbers of their words, (B, R), with gradients in training."""
        lengths = torch.tensor([len(row) for row in rows])
        ids = nn.utils.rnn.pad_sequence([torch.from_numpy(row) for row in rows], batch_first=True)  # (B, T)
        device = self.network.output.weight.device
        mask = (torch.arange(ids.shape[1]) < lengths.unsqueeze(1)).to(device)
        names = None if self.names is None else self.names.to(device)
        return self.network(self.table[ids].to(device), mask, names)  # type: ignore[no-any-return] # of nn.Module

    def log_likelihoods(self, templates: Sequence[str]) -> FloatArray:
        """`log l(r, T)` over all relations, "no path found" among them, (N, R)."""
        rows = self.read(templates)
        found = np.zeros((len(rows), len(self.relations)), dtype=np.float32)
        was_training = self.network.training
        self.network.eval()
        with torch.no_grad():
            for members in batches([len(row) for row in rows], tokens=_WORDS_A_BATCH):
                logits = self.logits([rows[member] for member in members])
                found[members] = torch.log_softmax(logits, dim=1).cpu().numpy()
        self.network.train(was_training)
        return found

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        """`P(r | T, e)`: softmax over the relations of the pool; 0 for those the network does not know.

        "No path found" is in no pool: it only taught the network.
        """
        found = []
        for start in range(0, len(templates), 1024):  # the likelihoods of all relations are large
            part = slice(start, start + 1024)
            likelihoods = self.log_likelihoods(templates[part])
            found += [self._of_pool(row, pool) for row, pool in zip(likelihoods, pools[part], strict=True)]
        return found

    def _of_pool(self, likelihoods: FloatArray, pool: Sequence[str]) -> FloatArray:
        known = [place for place, name in enumerate(pool) if name in self._places and name != NO_PATH]
        scores = np.zeros(len(pool), dtype=np.float32)
        if known:
            own = likelihoods[[self._places[pool[place]] for place in known]]
            exponents = np.exp(own - own.max())
            scores[known] = exponents / exponents.sum()
        return scores


def _scaled(rows: FloatArray, length: float) -> Tensor:
    """(V, D): nothing for unknown words, a drawn vector for the slot, and then these, `length` long on average."""
    found = torch.from_numpy(np.vstack([np.zeros((len(SPECIALS), rows.shape[1]), dtype=np.float32), rows]))
    norms = found.norm(dim=1)
    if bool((norms > 0).any()):
        found *= length / norms[norms > 0].mean()
    drawn = torch.randn(rows.shape[1])
    found[SPECIALS.index(SLOT)] = drawn / drawn.norm() * length
    return found


def _check(
    folder: Path,
    config: RelationConfig,
    relations: Sequence[str],
    vocabulary: Vocabulary,
    table: Tensor | None,
    names: Tensor | None,
) -> None:
    shapes = {
        "relations": (len(set(relations)), config.relations),
        "words": (len(vocabulary), config.words),
        "word vectors": (None if table is None else tuple(table.shape), (config.words, config.dimension)),
        "names": (
            None if names is None else tuple(names.shape),
            (config.relations, config.names) if config.names else None,
        ),
    }
    for what, (got, expected) in shapes.items():
        if got != expected:
            raise ValueError(f"{folder}: Expected {expected} {what}, but got {got}; train or fetch the model again.")
