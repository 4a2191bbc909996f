"""Word vectors that a ranker reads and never changes, and texts as rows of them.

They come from a table of words, or from a static encoder over sub-words, which has a vector for every word.
"""

from __future__ import annotations

import hashlib
import shutil
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
"""Where the vectors are kept in a model: a static encoder in a folder of its own, a table among the weights."""
_PIECES = ("config.json", "tokenizer.json", WEIGHTS)
_CHARACTERS = 64  # of a word, for a sub-word tokeniser


@dataclass(frozen=True, slots=True)
class WordsConfig:
    """Which vectors a model was trained on; others are refused."""

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
        """What does not go with the weights."""
        ...

    @property
    def tensors(self) -> dict[str, FloatArray]:
        """What goes with the weights."""
        ...

    @property
    def vocabulary(self) -> tuple[str, ...] | None: ...


@dataclass(frozen=True, eq=False)
class TableWords:
    """A table, rounded to half precision so that a model is half as large and is the same when it is read again."""

    table: WordVectors

    @classmethod
    def of(cls, table: WordVectors) -> Self:
        """Raises ValueError where a number does not fit."""
        with np.errstate(over="ignore"):  # told in our own words
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
        found: FloatArray = self.table.matrix[rows].reshape(len(rows), self.table.dimension)
        return found

    def save(self, folder: Path) -> None:
        """All of it goes with the weights."""

    @property
    def tensors(self) -> dict[str, FloatArray]:
        return {TABLE: self.table.matrix.astype(np.float16)}

    @property
    def vocabulary(self) -> tuple[str, ...] | None:
        return self.table.words


@dataclass(frozen=True, eq=False)
class PieceWords:
    """A static encoder's vectors of single words, each of length 1; it remembers those it was asked for."""

    encoder: StaticEncoder
    folder: Path
    _seen: dict[str, FloatArray] = field(default_factory=dict)
    _most: int = 100_000  # words remembered

    @classmethod
    def load(cls, folder: Path) -> Self:
        return cls(StaticEncoder.load(folder), folder)

    @property
    def config(self) -> WordsConfig:
        return WordsConfig("pieces", self.encoder.dimension, self.encoder.fingerprint)

    def known(self, word: str) -> bool:
        """Every word is; one without a known piece has a zero vector."""
        return bool(word)

    def vectors(self, words: Sequence[str]) -> FloatArray:
        if not words:
            return np.zeros((0, self.encoder.dimension), dtype=np.float32)
        rows = {word: row for word in words if (row := self._seen.get(word)) is not None}
        if new := [word for word in dict.fromkeys(words) if word not in rows]:
            found = dict(zip(new, self.encoder.encode([word[:_CHARACTERS] for word in new]), strict=True))
            rows |= found
            if len(self._seen) + len(found) > self._most:  # other threads have rows of their own
                self._seen.clear()
            self._seen.update(found)
        return np.stack([rows[word] for word in words])

    def save(self, folder: Path) -> None:
        """Copies the encoder, unless it is there already."""
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
    """The vectors of a saved model. Raises ValueError where they are not those that it was trained on."""
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
    """A network and its word vectors, as `save_model` writes a model."""
    source.save(folder)
    weights = {**network.state_dict(), **source.tensors}
    save_model(folder, config=config, weights=weights, vocabulary=source.vocabulary, card=card)


def load_network(folder: Path, network: nn.Module) -> None:
    """Fill a network whose word vectors stand beside it; missing, unknown and differently shaped weights are named."""
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found_weights = load_tensors(folder)
    found_weights.pop(TABLE, None)
    shapes = {name: tuple(tensor.shape) for name, tensor in found_weights.items()}
    if shapes != expected:
        wrong = sorted(
            f"{name}: expected {expected.get(name, 'nothing')}, got {shapes.get(name, 'nothing')}"
            for name in shapes.keys() | expected.keys()
            if shapes.get(name) != expected.get(name)
        )
        raise ValueError(f"{folder}: Expected the weights of this architecture, but got others: {'; '.join(wrong)}.")
    if bad := [name for name, tensor in found_weights.items() if not tensor.isfinite().all()]:
        raise ValueError(f"{folder}: Expected finite weights, but got NaN or infinity in {bad[0]!r}; train it again.")
    network.load_state_dict(found_weights)


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts one after the other: questions first, then answers."""

    vectors: Tensor  # (W, D) of the distinct words
    words: IntArray  # rows of all texts' words
    bounds: IntArray  # (N + 1,), where each text begins
    questions: int

    def places(self, questions: IntArray, answers: IntArray) -> tuple[IntArray, IntArray]:
        """Distinct texts of pairs, and for each question and then each answer which of them it is."""
        distinct, which = np.unique(np.concatenate([questions, answers + self.questions]), return_inverse=True)
        return distinct, which.reshape(-1)

    def lengths(self, places: IntArray) -> IntArray:
        lengths: IntArray = self.bounds[places + 1] - self.bounds[places]
        return lengths

    def flat(self, places: IntArray) -> tuple[IntArray, IntArray]:
        """Rows of the words of some texts, all in a row, and where each text begins (N,)."""
        lengths = self.lengths(places)
        starts = np.cumsum(lengths) - lengths
        within = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
        return self.words[np.repeat(self.bounds[places], lengths) + within], starts

    def padded(self, places: IntArray) -> tuple[Tensor, Tensor]:
        """Word vectors (B, T, D), zero in the padding, and mask (B, T) bool; T is at least 1."""
        lengths = self.lengths(places)
        rows, _ = self.flat(places)
        mask = torch.from_numpy(np.arange(max(1, int(lengths.max(initial=0)))) < lengths[:, None])
        vectors = self.vectors.new_zeros(*mask.shape, self.vectors.shape[1])
        vectors[mask] = self.vectors[torch.from_numpy(rows)]
        return vectors, mask


def read_texts(source: FrozenWords, questions: Sequence[str], answers: Sequence[str], *, most: int) -> Texts:
    """Texts as rows of word vectors: the first `most` known words of each."""
    rows: dict[str, int] = {}
    found = [
        [rows.setdefault(word, len(rows)) for word in read(text, source, most=most)] for text in (*questions, *answers)
    ]
    bounds = np.concatenate([[0], np.cumsum([len(each) for each in found])]).astype(np.int64)
    flat = np.fromiter((row for each in found for row in each), dtype=np.int64, count=int(bounds[-1]))
    vectors = source.vectors(list(rows))
    return Texts(torch.from_numpy(vectors), flat, bounds, len(questions))


def read(text: str, source: FrozenWords, *, most: int) -> list[str]:
    """The words of a text that count."""
    # no word is longer than its characters, and a book need not be read to its end for its first words
    return [word for word in words(text[: most * _CHARACTERS]) if source.known(word)][:most]


def counts(texts: Iterable[str], source: FrozenWords, *, most: int) -> dict[str, int]:
    """How often each word stands in the texts."""
    found: dict[str, int] = {}
    for text in texts:
        for word in read(text, source, most=most):
            found[word] = found.get(word, 0) + 1
    return found
