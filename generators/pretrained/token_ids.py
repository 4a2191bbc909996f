"""Tokens of a foreign tokenizer, numbered as the words of a chat model are: its special words first, then the tokens.

So all that draws, selects and ranks needs no other numbers: what starts and ends a text is where it always is, and what
no reply may hold stands in the places that are never drawn. Probabilities stay what the network says they are:

    <pad>   any token that is no text: padding, marks of speakers, places that the tokenizer does not use
    <unk>   the tokenizer's own token for what it does not know, where it has one
    </s>    all tokens that end a reply

Letters: N rows, T tokens that the network tells apart.
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
    ends: tuple[int, ...]  # tokens that end a reply, the first of which stands between texts
    unknown: int | None = None
    silent: tuple[int, ...] = ()  # other tokens that are no text

    def __post_init__(self) -> None:
        hidden = self._hidden
        if not self.ends or len(set(hidden)) < len(hidden) or not all(0 <= each < self.size for each in hidden):
            raise ValueError(
                f"Expected a token that ends a text, and distinct tokens below {self.size}, but got {hidden[:8]}; "
                "fetch the tokenizer that belongs to the model."
            )

    def __len__(self) -> int:
        return FIRST + self.size

    def of(self, tokens: Iterable[int]) -> IntArray:
        """Numbers (Q,) of tokens, wherever they stand; unknown text is `<unk>`."""
        return np.array([_UNKNOWN_ID if each == self.unknown else FIRST + each for each in tokens], dtype=np.int64)

    def tokens(self, numbers: Tensor) -> Tensor:
        """The tokens of numbers, of one shape; of `</s>` and of padding the one that ends a text."""
        ends = numbers.lt(FIRST)
        found = (numbers - FIRST).masked_fill(ends, self.ends[0])
        return found if self.unknown is None else found.masked_fill(numbers == _UNKNOWN_ID, self.unknown)

    def texts(self, numbers: Iterable[int]) -> list[int]:
        """The tokens among numbers that are text."""
        hidden = set(self._hidden)
        return [each - FIRST for each in numbers if each >= FIRST and each - FIRST not in hidden]

    def logits(self, told: Tensor) -> Tensor:
        """Logits (N, T) of tokens to those of numbers, (N, 5 + T), with the same probabilities."""
        own = told.index_fill(1, torch.tensor(self._hidden, device=told.device), -torch.inf)
        unknown = () if self.unknown is None else (self.unknown,)
        silent, strange, end = (_together(told, each) for each in (self.silent, unknown, self.ends))
        never = torch.full_like(end, -torch.inf)
        return torch.cat([silent, strange, never, end, never, own], dim=1)

    def rows(self, table: Tensor, missing: float) -> Tensor:
        """A softmax' weights or biases (T, ...) to those of numbers, (5 + T, ...): `missing` where there are none."""
        first = torch.full((FIRST, *table.shape[1:]), missing, dtype=table.dtype, device=table.device)
        first[END_ID] = table[self.ends[0]]
        if self.unknown is not None:
            first[_UNKNOWN_ID] = table[self.unknown]
        return torch.cat([first, table])

    @property
    def _hidden(self) -> list[int]:
        """Tokens that have no number of their own, or are never told by it."""
        return [*self.ends, *(() if self.unknown is None else (self.unknown,)), *self.silent]


def _together(told: Tensor, tokens: Sequence[int]) -> Tensor:
    """The logit (N, 1) of any of these tokens."""
    if not tokens:
        return told.new_full((len(told), 1), -torch.inf)
    return told[:, list(tokens)].logsumexp(1, keepdim=True)
