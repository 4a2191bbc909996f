"""A trained phrase network with its words, saved in a model folder: vectors of phrases and scores of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch

from qa_core.networks.checkpoints import load_config, load_vocabulary, load_weights, save_model
from qa_core.types import FloatArray
from qa_core.vectors.word_vectors import WordVectors
from retrievers.training.phrases.phrase_training import Composition, PhraseNetwork
from retrievers.training.phrases.tree_batching import Forest, Numbered
from retrievers.training.phrases.trees import Tree, pruned

_BATCH = 1024  # phrases composed at a time


@dataclass(frozen=True, slots=True)
class PhraseNetworkConfig:
    composition: Composition
    dimension: int
    words: int


@dataclass(frozen=True, eq=False)
class PhraseModel:
    """Words without a vector are pruned from the tree of a phrase; a phrase of only such words has the zero vector."""

    words: dict[str, int]
    network: PhraseNetwork

    @classmethod
    def of(cls, vectors: WordVectors, composition: Composition, *, noise: float = 0.01) -> Self:
        """A network that starts from these word vectors; torch's global generator draws its noise."""
        return cls(vectors.index, PhraseNetwork(vectors.matrix, composition, noise=noise))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError or ValueError for a missing, damaged or different model."""
        config = load_config(folder, PhraseNetworkConfig)
        words = load_vocabulary(folder)
        if len(words) != config.words:
            raise ValueError(f"{folder}: Expected {config.words} words, but got {len(words)}; train it again.")
        width = config.dimension
        shapes: dict[str, tuple[int, ...]] = {"E": (config.words, width)}
        if config.composition == "recursive":
            shapes |= {"W": (width, 2 * width), "b": (width,)}
        weights = load_weights(folder, shapes=shapes)
        network = PhraseNetwork(weights["E"], config.composition, noise=0.0)
        network.load_state_dict(
            {name: torch.from_numpy(weights[name]) for name in ("W", "b") if name in weights}, strict=False
        )
        return cls({word: number for number, word in enumerate(words)}, network.eval())

    def word_vectors(self) -> WordVectors:
        return WordVectors(tuple(self.words), self.network.E.vectors())

    def widened(self, vectors: WordVectors) -> Self:
        """The same network over all these words; its own words keep their vectors."""
        matrix = vectors.matrix.copy()
        matrix[[vectors.index[word] for word in self.words]] = self.network.E.vectors()
        network = PhraseNetwork(matrix, self.network.composition, noise=0.0)
        network.load_state_dict(self.network.weights(), strict=False)
        return type(self)(vectors.index, network.eval())

    def save(self, folder: Path, *, card: str) -> None:
        weights = self.network.weights()
        count, width = weights["E"].shape
        config = PhraseNetworkConfig(self.network.composition, width, count)
        save_model(folder, config=config, weights=weights, vocabulary=self.words, card=card)

    def numbered(self, tree: Tree) -> Numbered | None:
        """The tree of the words that have a vector; None if no word has one."""
        left = pruned(tree, self.words.__contains__)
        return None if left is None else Numbered.of(left, [self.words[token] for token in left.tokens])

    def vectors(self, trees: Sequence[Tree]) -> FloatArray:
        """(N, D) float32."""
        phrases = [self.numbered(tree) for tree in trees]
        nonempty = [row for row, phrase in enumerate(phrases) if phrase is not None]
        vectors = np.zeros((len(trees), self.network.E.W_init.shape[1]), dtype=np.float32)
        with torch.inference_mode():
            for start in range(0, len(nonempty), _BATCH):
                rows = nonempty[start : start + _BATCH]
                forest = Forest.of([phrase for row in rows if (phrase := phrases[row]) is not None])
                vectors[rows] = self.network(forest).numpy()
        return vectors

    def scores(self, pairs: Sequence[tuple[Tree, Tree]]) -> FloatArray:
        """Cosines (P,); 0 if a phrase has no vector."""
        left, right = (self.vectors([pair[side] for pair in pairs]) for side in (0, 1))
        norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        cosines: FloatArray = np.einsum("pd,pd->p", left, right) / np.where(norms > 0, norms, 1)
        return cosines
