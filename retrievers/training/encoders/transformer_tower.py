"""A trainable transformer in sentence-transformers layout, such as MiniLM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from qa_core.encoders.sentence_layout import SentenceLayout
from qa_core.training.transformer_tuning import TransformerReader, TunedTransformer, load_tunable, save_tuned
from qa_core.types import IntArray, Side


@dataclass(frozen=True, slots=True)
class TransformerConfig:
    max_tokens: int = 128  # of a text, read in training, special tokens included


@dataclass(frozen=True, slots=True, eq=False)
class TransformerTower:
    model: TunedTransformer
    reader: TransformerReader
    layout: SentenceLayout
    chunk: int = 1 << 13

    @classmethod
    def of(cls, folder: Path, config: TransformerConfig) -> Self:
        """The encoder in `folder`; the limit of tokens applies to training only."""
        layout = SentenceLayout.read(folder)
        short = SentenceLayout.read(folder, max_length=config.max_tokens)
        return cls(load_tunable(layout), TransformerReader(short), layout)

    def rows(self, texts: Sequence[str], *, side: Side) -> list[IntArray]:
        return self.reader.rows(texts, side=side)

    def save(self, folder: Path, *, card: str, made_with: Mapping[str, object]) -> None:  # noqa: ARG002 the card says it
        save_tuned(folder, self.model, layout=self.layout, card=card)
