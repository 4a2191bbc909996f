"""Tokens of any tokenizer, numbered like the words of a chat model: its special words first, then the tokens.

So drawing, selecting and ranking treat both alike: the start, the end and the words that no reply holds have the same
numbers. Probabilities stay those of the network:

    <pad>   any token that is no text: padding, marks of speakers, numbers that the tokenizer does not use
    <unk>   the tokenizer's token for unknown text, if it has one
    </s>    all tokens that end a reply

Letters: N rows, T tokens of the network.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from generators.conversation.chat_text import CHAT_SPECIALS
from qa_core.networks.decoder_types import END_ID
from qa_core.networks.vocabulary import UNKNOWN
from qa_core.types import IntArray

FIRST = len(CHAT_SPECIALS)
"""The number of the tokenizer's token 0."""
_UNKNOWN_ID = CHAT_SPECIALS.index(UNKNOWN)


@dataclass(frozen=True, slots=True)
class TokenNumbers:
    size: int  # T
    ends: tuple[int, ...]  # tokens that end a reply; the first one separates texts
    unknown: int | None = None
    silent: tuple[int, ...] = ()  # other tokens that are no text

    def __post_init__(self) -> None:
        hidden = self._hidden
        if not self.ends or len(set(hidden)) < len(hidden) or not all(0 <= token < self.size for token in hidden):
            raise ValueError(
                f"Expected a token that ends a text, and distinct tokens below {self.size}, but got {hidden[:8]}; "
                "fetch the tokenizer that belongs to the model."
            )

    def __len__(self) -> int:
        return FIRST + self.size

    def of(self, tokens: Iterable[int]) -> IntArray:
        """Numbers (Q,) of tokens; unknown text is `<unk>`."""
        return np.array([_UNKNOWN_ID if token == self.unknown else FIRST + token for token in tokens], dtype=np.int64)

    def tokens(self, numbers: Tensor) -> Tensor:
        """The tokens of numbers, of one shape; `</s>` and padding give the token that ends a text."""
        tokens = (numbers - FIRST).masked_fill(numbers.lt(FIRST), self.ends[0])
        return tokens if self.unknown is None else tokens.masked_fill(numbers == _UNKNOWN_ID, self.unknown)

    def texts(self, numbers: Iterable[int]) -> list[int]:
        """The tokens among numbers that are text."""
        hidden = set(self._hidden)
        return [number - FIRST for number in numbers if number >= FIRST and number - FIRST not in hidden]

    def logits(self, logits: Tensor) -> Tensor:
        """Logits (N, T) of tokens to those of numbers, (N, 5 + T), with the same probabilities."""
        text = logits.index_fill(1, torch.tensor(self._hidden, device=logits.device), -torch.inf)
        unknown = () if self.unknown is None else (self.unknown,)
        silent, strange, end = (_logsumexp(logits, tokens) for tokens in (self.silent, unknown, self.ends))
        never = torch.full_like(end, -torch.inf)
        return torch.cat([silent, strange, never, end, never, text], dim=1)

    def rows(self, table: Tensor, missing: float) -> Tensor:
        """Weights or biases of a softmax (T, …) to those of numbers, (5 + T, …); `missing` for the others."""
        first = torch.full((FIRST, *table.shape[1:]), missing, dtype=table.dtype, device=table.device)
        first[END_ID] = table[self.ends[0]]
        if self.unknown is not None:
            first[_UNKNOWN_ID] = table[self.unknown]
        return torch.cat([first, table])

    @property
    def _hidden(self) -> list[int]:
        """Tokens that are represented by a special word."""
        return [*self.ends, *(() if self.unknown is None else (self.unknown,)), *self.silent]


def _logsumexp(logits: Tensor, tokens: Sequence[int]) -> Tensor:
    """The logit (N, 1) of any of these tokens."""
    if not tokens:
        return logits.new_full((len(logits), 1), -torch.inf)
    return logits[:, list(tokens)].logsumexp(1, keepdim=True)
