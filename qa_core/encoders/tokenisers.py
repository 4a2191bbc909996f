"""Sub-word tokenisers: the one door of `tokenizers`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np
from tokenizers import Tokenizer

from qa_core.types import IntArray


@dataclass(frozen=True, slots=True)
class SubwordTokeniser:
    """A `tokenizer.json` with its truncation and padding under our control.

    `known_words` are words counted as in vocabulary though they are cut into several pieces.
    """

    tokenizer: Tokenizer
    unknown: int | None
    known_words: frozenset[str]

    @classmethod
    def load(cls, folder: Path, *, max_length: int | None = None) -> Self:
        """Reads `tokenizer.json` and, where it is there, `words.txt` (one lower-case word a line).

        With `max_length` a text is cut to so many tokens, special tokens included.
        """
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise FileNotFoundError(f"Expected a tokenizer at {path}, but there is none; fetch the encoder again.")
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises bare Exception for every kind of damage
            raise ValueError(f"Expected a tokenizer in {path}, but got: {error}; fetch the encoder again.") from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if max_length is not None:
            tokenizer.enable_truncation(max_length)
        return cls(tokenizer, _unknown(tokenizer), _words(folder / "words.txt"))

    @classmethod
    def of(cls, content: str, *, known_words: Iterable[str] = ()) -> Self:
        """From the content of a `tokenizer.json` that is not on disk yet; texts of any length are kept whole."""
        tokenizer = Tokenizer.from_str(content)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return cls(tokenizer, _unknown(tokenizer), frozenset(known_words))

    def sequences(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text with the model's special tokens, cut to the maximum length."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts)]

    def flat(self, texts: Sequence[str]) -> tuple[IntArray, IntArray]:
        """All token ids in a row (T,) without special tokens, and how many each text has (N,)."""
        if len(texts) == 1:  # the batch call wakes a thread pool: slower for a single question
            encodings = [self.tokenizer.encode(texts[0], add_special_tokens=False)]
        else:
            encodings = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        rows = [encoding.ids for encoding in encodings]
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        ids = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(lengths.sum()))
        return ids, lengths

    def knows(self, word: str) -> bool:
        """Whether a word is one token, or stands in the stored list of words seen often."""
        if word.lower() in self.known_words:
            return True
        ids = self.tokenizer.encode(word, add_special_tokens=False).ids
        return len(ids) == 1 and ids[0] != self.unknown

    @property
    def size(self) -> int:
        return int(self.tokenizer.get_vocab_size())


def _unknown(tokenizer: Tokenizer) -> int | None:
    token = getattr(tokenizer.model, "unk_token", None)
    return tokenizer.token_to_id(token) if token else None


def _words(path: Path) -> frozenset[str]:
    return frozenset(path.read_text(encoding="utf-8").split()) if path.is_file() else frozenset()
