"""A compared network with its vocabulary and relations: a scorer that saves, loads and reads pools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from kg_index.relations.compared.ampcnn import AttentiveMaxPoolingCNN
from kg_index.relations.compared.bicnn import BiCNN
from kg_index.relations.compared.bilstm import BiLSTM
from kg_index.relations.compared.hr_bilstm import HierarchicalResidualBiLSTM
from kg_index.relations.compared.pair_network import ComparedConfig, FrozenWords, Kind, PairNetwork, Relations
from kg_index.relations.keywords import PredicateWords
from kg_index.relations.relation_network import SPECIALS, WordVectors, scaled
from qa_core.networks.batching import batches
from qa_core.networks.checkpoints import (
    load_config,
    load_tensors,
    load_vocabulary,
    save_model,
    tensor_text,
    text_tensor,
)
from qa_core.networks.poolings import pad
from qa_core.networks.vocabulary import UNKNOWN, Vocabulary
from qa_core.types import FloatArray

NETWORKS: Mapping[Kind, Callable[[ComparedConfig, Sequence[str]], PairNetwork]] = {
    "bilstm": lambda config, _: BiLSTM(config),
    "bicnn": BiCNN,
    "ampcnn": lambda config, _: AttentiveMaxPoolingCNN(config),
    "hr-bilstm": lambda config, _: HierarchicalResidualBiLSTM(config),
}
_NAMES = "relations"
_AT_ONCE = 2_048
"""Pairs of a question and a relation that are scored together."""
_words_of = PredicateWords()


@dataclass(frozen=True, eq=False)
class ComparedScorer:
    """Safe to share between threads once trained."""

    network: PairNetwork
    vocabulary: Vocabulary
    names: tuple[str, ...]  # of relations with a vector, from id 1
    config: ComparedConfig
    _ids: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {name: number for number, name in enumerate(self.names, 1)})

    @classmethod
    def of(
        cls, kind: Kind, counts: Mapping[str, int], names: Iterable[str], vectors: WordVectors, *, hidden: int = 150
    ) -> Self:
        """An untrained scorer; torch's generator draws its weights.

        Args:
            counts: frequencies of the words of questions and relations.
            names: of the relations of the training questions' pools.
            vectors: of words; a compared network of letters does not read them.
        """
        words = {word: count for word, count in counts.items() if word not in SPECIALS}
        vocabulary = Vocabulary.from_counts(words, size=len(words) + len(SPECIALS), specials=SPECIALS)
        table = scaled(vectors(vocabulary.tokens[len(SPECIALS) :]))
        known = tuple(names)
        config = ComparedConfig(kind, len(vocabulary), len(known) + 1, table.shape[1], hidden)
        network = NETWORKS[kind](config, vocabulary.tokens)
        for module in network.modules():
            if isinstance(module, FrozenWords):
                module.table.copy_(table)
        return cls(network, vocabulary, known, config)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError if a file is missing, ValueError if the files do not fit together."""
        config = load_config(folder, ComparedConfig)
        if config.network not in NETWORKS:
            raise ValueError(
                f"{folder}: Expected a network among {', '.join(NETWORKS)}, but got {config.network!r}; train it again."
            )
        tensors = load_tensors(folder)
        listed = tensors.pop(_NAMES, None)
        names = tuple(tensor_text(None if listed is None else listed.numpy(), folder).split("\n"))
        vocabulary = Vocabulary(tuple(load_vocabulary(folder)))
        for key, count in (("words", len(vocabulary)), ("relations", len(names) + 1)):
            if count != getattr(config, key):
                raise ValueError(f"{folder}: Expected {getattr(config, key)} {key}, but got {count}; train it again.")
        network = NETWORKS[config.network](config, vocabulary.tokens)
        try:
            network.load_state_dict(tensors)
        except RuntimeError as error:
            raise ValueError(f"{folder}: Expected the weights of this network, but got others: {error}") from None
        return cls(network.eval(), vocabulary, names, config)

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save leaves the old model. Raises ValueError for NaN."""
        weights = {**self.network.state_dict(), _NAMES: torch.from_numpy(text_tensor("\n".join(self.names)))}
        save_model(folder, config=self.config, weights=weights, vocabulary=self.vocabulary.tokens, card=card)

    def questions(self, templates: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Ids of words (B, T) and their mask."""
        return self._read(template.split() for template in templates)

    def relations(self, names: Sequence[str]) -> Relations:
        """The relations as words and as whole names."""
        words, mask = self._read(words_of(name) for name in names)
        return Relations(words, mask, torch.tensor([self._ids.get(name, 0) for name in names]))

    def logits(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        """Scores (B, P) of the relations of each pool, padded, and their mask."""
        names = {name: row for row, name in enumerate(dict.fromkeys(name for pool in pools for name in pool))}
        vectors = self.network.relation(self.relations([*names]))  # (R, F)
        rows, real = pad([[names[name] for name in pool] for pool in pools])
        words, mask = self.questions(templates)
        return self.network.score(self.network.question(words, mask), mask, vectors[rows], real), real

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        """Cosines (P,) for the relations of each pool."""
        scores: list[FloatArray] = [np.zeros(0, np.float32)] * len(templates)
        was_training = self.network.training
        self.network.eval()
        with torch.no_grad():
            for part in batches([len(pool) for pool in pools], tokens=_AT_ONCE):
                logits, real = self.logits([templates[at] for at in part], [pools[at] for at in part])
                for at, row, mask in zip(part, logits, real, strict=True):
                    scores[at] = row[mask].numpy().astype(np.float32)
        self.network.train(was_training)
        return scores

    def _read(self, texts: Iterable[Sequence[str]]) -> tuple[Tensor, Tensor]:
        most = self.config.most_words
        return pad([self.vocabulary.ids(text[:most]) or self.vocabulary.ids([UNKNOWN]) for text in texts])


def words_of(relation: str) -> list[str]:
    """The words of a relation: "people person place of birth"."""
    return _words_of(relation).split()
