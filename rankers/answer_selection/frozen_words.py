"""Frozen word vectors of a ranker, and texts as rows of them.

The vectors come from a table of words, or from a static encoder over sub-words, which has a vector for every word.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, Self

import numpy as np
import torch
from torch import Tensor, nn

from qa_core.atomic import current_folder
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.networks.checkpoints import (
    CONFIG,
    VOCABULARY,
    WEIGHTS,
    load_tensors,
    load_vocabulary,
    load_weights,
    save_model,
)
from qa_core.text.analysis import words
from qa_core.types import FloatArray, IntArray
from qa_core.vectors.word_vectors import WordVectors

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FOLDER = "words"
TABLE = "E_pre"
"""Location of the vectors in a model: a static encoder in a folder, a table among the weights."""
_PIECES = ("config.json", "tokenizer.json", WEIGHTS)
_CHARACTERS = 64  # of a word, at most


@dataclass(frozen=True, slots=True)
class WordsConfig:
    """Identity of the vectors that a model was trained on."""

    kind: Literal["table", "pieces"]
    dimension: int
    fingerprint: str


class FrozenWords(Protocol):
    @property
    def config(self) -> WordsConfig: ...

    def known(self, word: str) -> bool: ...

    def vectors(self, words: Sequence[str]) -> FloatArray:
        """Vectors (N, D) float32 of N known words."""
        ...

    def save(self, folder: Path) -> None:
        """Write the files that are not among the weights."""
        ...

    @property
    def tensors(self) -> dict[str, FloatArray]:
        """The tensors to save among the weights."""
        ...

    @property
    def vocabulary(self) -> tuple[str, ...] | None: ...


@dataclass(frozen=True, eq=False)
class TableWords:
    """A table in half precision, so that a model is half as large and a loaded one is the same."""

    table: WordVectors

    @classmethod
    def of(cls, table: WordVectors) -> Self:
        """Raises ValueError if a number is too large for half precision."""
        with np.errstate(over="ignore"):  # the check below reports it
            half = table.matrix.astype(np.float16)
        if not np.isfinite(half).all():
            raise ValueError("Expected word vectors of numbers below 65,504, but got a larger one; scale them.")
        return cls(WordVectors(table.words, half.astype(np.float32)))

    @cached_property
    def config(self) -> WordsConfig:
        digest = hashlib.sha256("\n".join(self.table.words).encode() + self.table.matrix.tobytes()).hexdigest()
        return WordsConfig("table", self.table.dimension, digest)

    def known(self, word: str) -> bool:
        return word in self.table

    def vectors(self, words: Sequence[str]) -> FloatArray:
        rows = [self.table.index[word] for word in words]
        vectors: FloatArray = self.table.matrix[rows].reshape(len(rows), self.table.dimension)
        return vectors

    def save(self, folder: Path) -> None:
        """Nothing: the table is among the weights."""

    @property
    def tensors(self) -> dict[str, FloatArray]:
        return {TABLE: self.table.matrix.astype(np.float16)}

    @property
    def vocabulary(self) -> tuple[str, ...] | None:
        return self.table.words


@dataclass(frozen=True, eq=False)
class PieceWords:
    """Vectors of single words by a static encoder, each of length 1, with a cache."""

    encoder: StaticEncoder
    folder: Path
    _seen: dict[str, FloatArray] = field(default_factory=dict)
    _limit: int = 100_000  # cached words

    @classmethod
    def load(cls, folder: Path) -> Self:
        return cls(StaticEncoder.load(folder), folder)

    @property
    def config(self) -> WordsConfig:
        return WordsConfig("pieces", self.encoder.dimension, self.encoder.fingerprint)

    def known(self, word: str) -> bool:
        """True: a word without a known piece has the zero vector."""
        return bool(word)

    def vectors(self, words: Sequence[str]) -> FloatArray:
        if not words:
            return np.zeros((0, self.encoder.dimension), dtype=np.float32)
        rows = {word: row for word in words if (row := self._seen.get(word)) is not None}
        if new := [word for word in dict.fromkeys(words) if word not in rows]:
            encoded = dict(zip(new, self.encoder.encode([word[:_CHARACTERS] for word in new]), strict=True))
            rows |= encoded
            if len(self._seen) + len(encoded) > self._limit:  # other threads hold copies of their rows
                self._seen.clear()
            self._seen.update(encoded)
        return np.stack([rows[word] for word in words])

    def save(self, folder: Path) -> None:
        """Copy the encoder, unless it is there already."""
        target = folder / FOLDER
        if target.resolve() == self.folder.resolve():
            return
        target.mkdir(parents=True, exist_ok=True)
        for name in _PIECES:
            shutil.copyfile(self.folder / name, target / name)

    @property
    def tensors(self) -> dict[str, FloatArray]:
        return {}

    @property
    def vocabulary(self) -> tuple[str, ...] | None:
        return None


def load_words(folder: Path, config: WordsConfig) -> FrozenWords:
    """The vectors of a saved model. Raises ValueError if they differ from those that it was trained on."""
    if config.kind == "pieces":
        source: FrozenWords = PieceWords.load(current_folder(folder) / FOLDER)
    else:
        names, weights = load_vocabulary(folder), load_weights(folder)
        if TABLE not in weights or len(weights[TABLE]) != len(names):
            raise ValueError(
                f"{folder}: Expected a vector for each of the {len(names)} words in {VOCABULARY}, but got "
                f"{weights[TABLE].shape if TABLE in weights else 'none'}; train or fetch the model again."
            )
        source = TableWords(WordVectors(tuple(names), weights[TABLE].astype(np.float32)))
    if source.config != config:
        raise ValueError(
            f"{folder}: Expected the word vectors that the model was trained on, as {CONFIG} says, but got others "
            f"({source.config.dimension} dimensions, {source.config.fingerprint[:12]}, not {config.dimension}, "
            f"{config.fingerprint[:12]}); train or fetch the model again."
        )
    return source


def save_with_words(
    folder: Path, network: nn.Module, source: FrozenWords, *, config: DataclassInstance, card: str
) -> None:
    """Save a network and its word vectors as one model."""
    source.save(folder)
    weights = {**network.state_dict(), **source.tensors}
    save_model(folder, config=config, weights=weights, vocabulary=source.vocabulary, card=card)


def load_network(folder: Path, network: nn.Module, source: FrozenWords) -> None:
    """Load the weights of a network beside its word vectors; raises ValueError that names wrong weights."""
    shapes = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    tables = {name: table.shape for name, table in source.tensors.items()}
    tensors = load_tensors(folder, shapes=shapes | tables)
    network.load_state_dict({name: tensors[name] for name in shapes})


@dataclass(frozen=True, eq=False)
class Texts:
    """Words of several texts, one text after another: questions first, then answers."""

    vectors: Tensor  # (W, D) of the distinct words
    words: IntArray  # rows of the words of all texts
    bounds: IntArray  # (N + 1,), start of each text
    questions: int  # number of questions

    def distinct(self, questions: IntArray, answers: IntArray) -> tuple[IntArray, IntArray]:
        """The distinct texts (U,) of pairs, and the position (2N,) in them of each question and then each answer."""
        distinct, inverse = np.unique(np.concatenate([questions, answers + self.questions]), return_inverse=True)
        return distinct, inverse.reshape(-1)

    def lengths(self, rows: IntArray) -> IntArray:
        lengths: IntArray = self.bounds[rows + 1] - self.bounds[rows]
        return lengths

    def flat(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Rows of the words of some texts, concatenated, and the start (N,) of each text."""
        lengths = self.lengths(rows)
        starts = np.cumsum(lengths) - lengths
        within = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
        return self.words[np.repeat(self.bounds[rows], lengths) + within], starts

    def padded(self, rows: IntArray) -> tuple[Tensor, Tensor]:
        """Word vectors (B, T, D), zero in the padding, and mask (B, T) bool; T is at least 1."""
        lengths = self.lengths(rows)
        flat, _ = self.flat(rows)
        mask = torch.from_numpy(np.arange(max(1, int(lengths.max(initial=0)))) < lengths[:, None])
        vectors = self.vectors.new_zeros(*mask.shape, self.vectors.shape[1])
        vectors[mask] = self.vectors[torch.from_numpy(flat)]
        return vectors, mask


def read_texts(source: FrozenWords, questions: Sequence[str], answers: Sequence[str], *, limit: int) -> Texts:
    """Texts as rows of word vectors: the first `limit` known words of each."""
    rows: dict[str, int] = {}
    texts = [
        [rows.setdefault(word, len(rows)) for word in read_words(text, source, limit=limit)]
        for text in (*questions, *answers)
    ]
    bounds = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    flat = np.fromiter((row for text in texts for row in text), dtype=np.int64, count=int(bounds[-1]))
    vectors = source.vectors(list(rows))
    return Texts(torch.from_numpy(vectors), flat, bounds, len(questions))


def read_words(text: str, source: FrozenWords, *, limit: int) -> list[str]:
    """The first `limit` known words of a text; the rest of a long text is not read."""
    return [word for word in words(text[: limit * _CHARACTERS]) if source.known(word)][:limit]


def word_counts(texts: Iterable[str], source: FrozenWords, *, limit: int) -> Counter[str]:
    """Occurrences of each known word among the first `limit` words of the texts."""
    return Counter(word for text in texts for word in read_words(text, source, limit=limit))
