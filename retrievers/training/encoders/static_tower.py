"""A trainable static encoder, such as that of the starter: a text is the sum of the rows of its tokens."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.training.static_table import StaticTable, extended_rows, read_tokeniser, save_static, with_words
from qa_core.types import IntArray, Side
from retrievers.training.encoders.trainable_encoders import SEEN_OFTEN, counted

_PLAIN = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True, slots=True)
class StaticConfig:
    max_tokens: int = 256  # of a text, read in training
    dropout: float = 0.1  # share of the tokens of a text that training leaves out
    new_words: int = 20_000  # words made of several tokens that get a separate row, at most


@dataclass(frozen=True, slots=True, eq=False)
class StaticTower:
    model: StaticTable
    tokeniser: SubwordTokeniser
    content: Mapping[str, Any]  # of tokenizer.json
    known: tuple[str, ...]
    max_tokens: int
    chunk: int = 1 << 20

    @classmethod
    def of(cls, folder: Path, texts: Iterable[str], config: StaticConfig) -> Self:
        """The encoder in `folder`, with a separate row for each frequent word of the texts."""
        base = StaticEncoder.load(folder)
        counts = counted(texts)
        content = read_tokeniser(folder)
        new = _new_words(base.tokeniser, content["model"]["vocab"], counts)[: config.new_words]
        content = with_words(content, new)
        known = sorted(word for word, count in counts.items() if count >= SEEN_OFTEN)
        return cls(
            StaticTable(extended_rows(base, new), dropout=config.dropout),
            SubwordTokeniser.of(json.dumps(content), known_words=known),
            content,
            tuple(known),
            config.max_tokens,
        )

    def rows(self, texts: Sequence[str], *, side: Side) -> list[IntArray]:  # noqa: ARG002 one table, both sides
        ids, lengths = self.tokeniser.flat(texts)
        rows = np.split(ids, np.cumsum(lengths)[:-1]) if len(texts) else []
        return [row[row != self.tokeniser.unknown][: self.max_tokens] for row in rows]

    def save(self, folder: Path, *, card: str, made_with: Mapping[str, object]) -> None:
        rows = self.model.E.detach().cpu().numpy()
        save_static(folder, tokeniser=self.content, rows=rows, words=self.known, card=card, made_with=made_with)


def _new_words(tokeniser: SubwordTokeniser, vocabulary: Mapping[str, int], counts: Counter[str]) -> list[str]:
    """Frequent plain words that are not tokens yet, the most frequent first."""
    often = [word for word, count in counts.items() if count >= SEEN_OFTEN and _PLAIN.fullmatch(word)]
    lacking = [word for word in often if word not in vocabulary and not tokeniser.knows(word)]
    return sorted(lacking, key=lambda word: (-counts[word], word))
