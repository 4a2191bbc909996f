"""A trainable encoder over words: the mean of their vectors, or the BiLSTM of Wang (2018, ch. 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import torch

from qa_core.encoders.trained_encoder import (
    BiLSTMTextConfig,
    MeanTextConfig,
    TextConfig,
    TrainedEncoder,
    WordReader,
    module_of,
    save_encoder,
)
from qa_core.networks.poolings import BiLSTMConfig, BiLSTMEncoder, MeanConfig, MeanEncoder
from qa_core.networks.vocabulary import PAD, UNKNOWN, Vocabulary
from qa_core.types import IntArray, Side
from qa_core.vectors.word_vectors import WordVectors
from retrievers.training.encoders.trainable_encoders import counted

SPECIALS = (PAD, UNKNOWN)


@dataclass(frozen=True, slots=True)
class WordConfig:
    """Sizes of Wang (2018) where it gives them; `CPU` is a size for two cores."""

    vocabulary: int = 60_000  # words, at most
    minimum: int = 2  # occurrences of a word in the training texts
    known: int = 1  # occurrences of a word of the vocabulary from which on the in-vocabulary rule knows it
    max_tokens: int = 256  # words of a text that are read
    dimension: int = 300  # of word vectors; pretrained vectors bring theirs
    hidden: int = 500  # of the BiLSTM, per direction
    output: int = 1000  # of the fully connected layers of the BiLSTM
    dropout: float = 0.2


PAPER = WordConfig()
CPU = WordConfig(max_tokens=32, hidden=128, output=256)


@dataclass(frozen=True, slots=True, eq=False)
class WordTower:
    model: MeanEncoder | BiLSTMEncoder
    reader: WordReader
    config: TextConfig
    known: tuple[str, ...]
    chunk: int = 1 << 14

    @classmethod
    def of(
        cls,
        kind: Literal["mean", "bilstm"],
        texts: Iterable[str],
        config: WordConfig,
        *,
        pretrained: WordVectors | None = None,
    ) -> Self:
        """An untrained encoder over the words of the texts; torch's generator draws its weights.

        Args:
            pretrained: E_pre; other words have zeros there.

        Raises:
            ValueError: fewer than two words occur often enough.
        """
        counts = counted(texts)
        vocabulary = _vocabulary(counts, config)
        shape = _text_config(kind, config, len(vocabulary), pretrained)
        model = module_of(shape)
        if pretrained is not None:
            model.embedding.set_pretrained(torch.from_numpy(pretrained.rows(vocabulary.tokens)))
        often = (word for word, count in counts.items() if count >= config.known)
        known = sorted(word for word in often if word in vocabulary)
        return cls(model, WordReader(vocabulary, config.max_tokens), shape, tuple(known))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """A saved encoder with its words, to train further."""
        base = TrainedEncoder.load(folder)
        return cls(base.module, base.reader, base.config, tuple(sorted(base.known)))

    def rows(self, texts: Sequence[str], *, side: Side) -> list[IntArray]:  # noqa: ARG002 the network distinguishes the sides
        return self.reader.rows(texts)

    def save(self, folder: Path, *, card: str, made_with: Mapping[str, object]) -> None:  # noqa: ARG002 the card says it
        save_encoder(
            folder,
            self.model,
            config=self.config,
            vocabulary=self.reader.vocabulary,
            known=self.known,
            card=card,
        )


def _vocabulary(counts: Counter[str], config: WordConfig) -> Vocabulary:
    vocabulary = Vocabulary.from_counts(
        counts, size=config.vocabulary + len(SPECIALS), minimum=config.minimum, specials=SPECIALS
    )
    if len(vocabulary) < len(SPECIALS) + 2:
        raise ValueError(
            f"Expected at least two words that occur {config.minimum} times in the training texts, but got "
            f"{list(vocabulary.tokens[len(SPECIALS) :])} of {len(counts)}; give more pairs, or lower `minimum`."
        )
    return vocabulary


def _text_config(kind: str, config: WordConfig, size: int, pretrained: WordVectors | None) -> TextConfig:
    dimension = pretrained.dimension if pretrained is not None else config.dimension
    if kind == "mean":
        mean = MeanConfig(size, dimension, pretrained=pretrained is not None)
        return MeanTextConfig(mean, config.max_tokens)
    bilstm = BiLSTMConfig(
        size,
        dimension,
        hidden=config.hidden,
        output=config.output,
        dropout=config.dropout,
        pretrained=pretrained is not None,
        typed=True,
    )
    return BiLSTMTextConfig(bilstm, config.max_tokens)
