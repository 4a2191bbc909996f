"""Sub-word tokenisers; the only file that imports `tokenizers`."""

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
    """A `tokenizer.json` without padding, with truncation on request.

    `known_words` count as in the vocabulary although they have several tokens.
    """

    tokenizer: Tokenizer
    unknown: int | None  # id of the unknown token
    known_words: frozenset[str]

    @classmethod
    def load(cls, folder: Path, *, max_length: int | None = None) -> Self:
        """Read `tokenizer.json` and, if it exists, `words.txt` (one lower-case word per line).

        `max_length` truncates texts to this number of tokens, special tokens included.
        """
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise FileNotFoundError(f"Expected a tokenizer at {path}, but found no file; fetch the encoder again.")
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
        """From the content of a `tokenizer.json`, without truncation."""
        tokenizer = Tokenizer.from_str(content)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return cls(tokenizer, _unknown(tokenizer), frozenset(known_words))

    def sequences(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text with the model's special tokens, truncated to the maximum length."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts)]

    def flat(self, texts: Sequence[str]) -> tuple[IntArray, IntArray]:
        """The concatenated token ids of all texts (T,) without special tokens, and the number of each text (N,)."""
        if len(texts) == 1:  # the batch call wakes a thread pool: slower for a single question
            encodings = [self.tokenizer.encode(texts[0], add_special_tokens=False)]
        else:
            encodings = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        rows = [encoding.ids for encoding in encodings]
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        ids = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(lengths.sum()))
        return ids, lengths

    def knows(self, word: str) -> bool:
        """Whether a word is one token or one of `known_words`."""
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
