"""The stacked ranker of Wang (2018, §6.3): boosted trees over the pools of a stacked LSTM and keyword features.

    inputs = Inputs(Keywords.of(pool.answers), network=scorer)
    trees = BoostedTrees.fit(inputs.table(pool.pairs(), names), pool.label, names=names)
    StackedRanker(inputs, trees).score([("who wrote it", "it was written by Ann")])

The pools for training trees must come from networks that did not see the pairs (`qa_lab.train.rankers.blstm` trains a
network per fold of the questions), because a network is too confident of its training pairs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from qa_core.networks.checkpoints import (
    WEIGHTS,
    load_config,
    load_vocabulary,
    load_weights,
    save_model,
    tensor_text,
    text_tensor,
)
from qa_core.types import FloatArray
from rankers.answer_selection.blstm import POOLS, BLSTMConfig, BLSTMScorer
from rankers.answer_selection.keyword_features import COSINE, FEATURES, Encode, Keywords, cosines
from rankers.gbdt import TEXT, BoostedTrees, GBDTConfig
from rankers.neural import TextPair, distinct_texts

KNOWN = (*POOLS, *FEATURES, COSINE)
"""Names of all features."""
FAITHFUL = (*POOLS, "bm25")
"""The features of Wang (2018)."""
_NETWORK = "network."


@dataclass(frozen=True, slots=True)
class StackedConfig:
    """Configuration of a saved stacked ranker."""

    features: tuple[str, ...]
    answers: int  # answers that the keywords were counted in
    mean_length: float
    trees: GBDTConfig
    network: BLSTMConfig | None = None
    encoder: str = ""  # fingerprint of the encoder whose cosines are a feature


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The sources of the features of a pair."""

    keywords: Keywords
    network: BLSTMScorer | None = None
    encode: Encode | None = None

    def table(self, pairs: Sequence[TextPair], names: Sequence[str]) -> FloatArray:
        """Features (N, F), columns as named. Raises ValueError for an unknown name or one without its source."""
        self.check(names)
        columns: dict[str, NDArray[Any]] = {}
        if any(name in FEATURES for name in names):
            columns |= dict(zip(FEATURES, self.keywords.features(pairs).T, strict=True))
        if self.network is not None and any(name in POOLS for name in names):
            columns |= dict(zip(POOLS, network_pools(self.network, pairs).T, strict=True))
        if self.encode is not None and COSINE in names:
            columns[COSINE] = cosines(pairs, self.encode)
        return np.stack([columns[name] for name in names], axis=1).astype(np.float32)

    def check(self, names: Sequence[str]) -> None:
        """Raises ValueError for the same names as `table`."""
        if not names:
            raise ValueError("Expected features to join, but got none; name at least one.")
        for name in names:
            if name not in KNOWN:
                raise ValueError(f"Expected features among {', '.join(KNOWN)}, but got {name!r}.")
            if (name in POOLS and self.network is None) or (name == COSINE and self.encode is None):
                needed = "an encoder" if name == COSINE else "a network"
                raise ValueError(f"Expected {needed} for the feature {name!r}, but got none; give it or leave it out.")


@dataclass(frozen=True, slots=True, eq=False)
class StackedRanker:
    """A pair scorer; with the features of FAITHFUL it is the three-layer BLSTM + BM25 of Wang (2018)."""

    inputs: Inputs
    trees: BoostedTrees
    encoder: str = ""  # fingerprint of the encoder in the inputs

    @classmethod
    def load(cls, folder: Path, *, encode: Encode | None = None, encoder: str = "") -> Self:
        """Open a saved ranker.

        Args:
            encode: the encoder of the cosines, if they are a feature.
            encoder: its fingerprint.

        Raises:
            FileNotFoundError, ValueError: the ranker is missing or damaged, or needs another encoder.
        """
        config = load_config(folder, StackedConfig)
        if config.encoder and config.encoder != encoder:
            raise ValueError(
                f"{folder}: Expected the encoder with fingerprint {config.encoder}, whose cosines the trees were grown "
                f"on, but got {encoder or 'none'}; name that encoder or train the ranker again."
            )
        weights, source = load_weights(folder), folder / WEIGHTS
        trees = BoostedTrees.of_text(
            tensor_text(weights.get(TEXT), source), config.features, config.trees, source=source
        )
        keywords = Keywords.unpacked(weights, config.answers, config.mean_length, source)
        inputs = Inputs(keywords, _network(weights, config, folder), encode)
        inputs.check(config.features)
        return cls(inputs, trees, config.encoder)

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save keeps the old ranker."""
        keywords, network = self.inputs.keywords, self.inputs.network
        config = StackedConfig(
            self.trees.names,
            keywords.answers,
            keywords.mean_length,
            self.trees.config,
            network.config if network is not None else None,
            self.encoder,
        )
        weights: dict[str, Any] = {
            TEXT: text_tensor(self.trees.text),
            **keywords.packed(),
        }
        if network is not None:
            weights |= {_NETWORK + name: tensor for name, tensor in network.model.state_dict().items()}
        vocabulary = network.vocabulary.tokens if network is not None else None
        weights = {
            name: torch.as_tensor(np.array(v) if isinstance(v, np.ndarray) else v) for name, v in weights.items()
        }
        save_model(folder, config=config, weights=weights, vocabulary=vocabulary, card=card)

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Scores (N,), log-odds of being right."""
        if not pairs:
            return np.zeros(0, dtype=np.float32)
        return self.trees.score(self.inputs.table(pairs, self.trees.names))

    def importances(self) -> dict[str, float]:
        """Share of each feature in the gains, largest first."""
        return self.trees.importances()


def network_pools(network: BLSTMScorer, pairs: Sequence[TextPair]) -> FloatArray:
    """Mean, sum and maximum (N, 3) over the steps of pairs of texts."""
    questions, answers, left, right = distinct_texts(pairs)
    return network.pools(network.read(questions, answers), left, right)


def folds(questions: Sequence[str], count: int) -> list[int]:
    """The fold of each question by a hash, the same on every machine and for every order."""
    if count < 2:
        raise ValueError(f"Expected at least 2 folds of the questions, but got {count}.")
    digests = (hashlib.blake2b(question.casefold().encode(), digest_size=8).digest() for question in questions)
    return [int.from_bytes(digest, "big") % count for digest in digests]


def _network(weights: Mapping[str, NDArray[Any]], config: StackedConfig, folder: Path) -> BLSTMScorer | None:
    if config.network is None:
        return None
    tensors = {
        name.removeprefix(_NETWORK): torch.from_numpy(value)
        for name, value in weights.items()
        if name.startswith(_NETWORK)
    }
    return BLSTMScorer.filled(config.network, load_vocabulary(folder), tensors, folder=folder)
