"""Encoders over words that `qa-bot train` wrote: a model folder with `words.txt`.

Imports torch; `qa_bot` imports this file for such folders only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import torch
from torch import nn

from qa_core.atomic import current_folder
from qa_core.encoders.sentence_layout import read_object
from qa_core.encoders.static_encoder import sha256
from qa_core.networks.batching import batches, padded
from qa_core.networks.checkpoints import (
    CONFIG,
    VOCABULARY,
    WEIGHTS,
    load_config,
    load_module,
    load_vocabulary,
    save_model,
)
from qa_core.networks.poolings import BiLSTMConfig, BiLSTMEncoder, MeanConfig, MeanEncoder
from qa_core.networks.vocabulary import UNKNOWN, Vocabulary
from qa_core.text.analysis import words
from qa_core.types import FloatArray, IntArray, Side

WORDS = "words.txt"
_TOKENS_A_BATCH = 4_096


@dataclass(frozen=True, slots=True)
class MeanTextConfig:
    encoder: MeanConfig
    max_tokens: int = 256  # words read of a text


@dataclass(frozen=True, slots=True)
class BiLSTMTextConfig:
    encoder: BiLSTMConfig
    max_tokens: int = 256  # words read of a text


TextConfig = MeanTextConfig | BiLSTMTextConfig


def module_of(config: TextConfig) -> MeanEncoder | BiLSTMEncoder:
    """A new network of this configuration."""
    if isinstance(config, MeanTextConfig):
        return MeanEncoder(config.encoder)
    return BiLSTMEncoder(config.encoder)


@dataclass(frozen=True, slots=True)
class WordReader:
    """Texts to word ids; a text without known words has none."""

    vocabulary: Vocabulary
    max_tokens: int

    def rows(self, texts: Sequence[str]) -> list[IntArray]:
        """The word ids of each text (T,), unknown words as `<unk>`."""
        unknown = set(self.vocabulary.ids([UNKNOWN]))
        rows = [self.vocabulary.ids(words(text)[: self.max_tokens]) for text in texts]
        return [np.array([] if unknown.issuperset(row) else row, dtype=np.int64) for row in rows]


@dataclass(frozen=True, slots=True)
class TrainedEncoder:
    """A mean of word vectors or a BiLSTM; `known` are the words that are frequent in its training data."""

    quick: ClassVar[bool] = False
    extends: ClassVar[frozenset[str]] = frozenset()

    reader: WordReader
    module: MeanEncoder | BiLSTMEncoder
    config: TextConfig
    fingerprint: str
    known: frozenset[str]

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open a saved encoder. Raises FileNotFoundError or ValueError for missing or damaged files."""
        config = _config(folder)
        vocabulary = Vocabulary(tuple(load_vocabulary(folder)))
        if len(vocabulary) != config.encoder.vocabulary:
            raise ValueError(
                f"{folder / VOCABULARY}: Expected {config.encoder.vocabulary} words, as {CONFIG} says, but got "
                f"{len(vocabulary)}; train or fetch the encoder again."
            )
        module = module_of(config)
        load_module(folder, module)
        reader = WordReader(vocabulary, config.max_tokens)
        return cls(reader, module.eval(), config, _fingerprint(folder), _known(folder))

    @property
    def dimension(self) -> int:
        config = self.config
        return config.encoder.dimension if isinstance(config, MeanTextConfig) else config.encoder.output

    def encode(self, texts: Sequence[str], *, side: Side = "question") -> FloatArray:
        """Rows of unit length, (N, D) float32; zero rows for texts without a known word."""
        rows = self.reader.rows(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        filled = [i for i, row in enumerate(rows) if len(row)]
        with torch.inference_mode():
            for batch in batches([len(rows[i]) for i in filled], tokens=_TOKENS_A_BATCH):
                members = [filled[i] for i in batch]
                ids, mask = padded([rows[i] for i in members])
                vectors[members] = self.module(torch.from_numpy(ids), torch.from_numpy(mask).bool(), side=side).numpy()
        return vectors

    def knows(self, word: str) -> bool:
        return word.casefold() in self.known


def save_encoder(
    folder: Path, module: nn.Module, *, config: TextConfig, vocabulary: Vocabulary, known: Iterable[str], card: str
) -> None:
    """Write a folder that `TrainedEncoder.load` opens; an interrupted save leaves the old model."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WORDS).write_text("".join(f"{word}\n" for word in known), encoding="utf-8")
    save_model(folder, config=config, weights=module.state_dict(), vocabulary=vocabulary.tokens, card=card)


def _config(folder: Path) -> TextConfig:
    kind = read_object(current_folder(folder) / CONFIG).get("kind")
    if kind == BiLSTMTextConfig.__name__:
        return load_config(folder, BiLSTMTextConfig)
    return load_config(folder, MeanTextConfig)  # its error names the expected kind


def _known(folder: Path) -> frozenset[str]:
    path = current_folder(folder) / WORDS
    return frozenset(path.read_text(encoding="utf-8").split("\n")) - {""} if path.is_file() else frozenset()


def _fingerprint(folder: Path) -> str:
    """sha256 over weights and everything else that changes a vector."""
    folder = current_folder(folder)
    parts = [(folder / name).read_bytes() for name in (CONFIG, VOCABULARY)]
    return hashlib.sha256(b"\0".join([*parts, sha256(folder / WEIGHTS).encode()])).hexdigest()
