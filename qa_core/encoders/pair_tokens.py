"""A question and a passage as one row of token ids, the input of a pair classifier; without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.types import IntArray

_LETTERS = 8  # characters read per allowed token: tokenising all of a long text takes longer than scoring it

TextPair = tuple[str, str]
"""Question and passage."""


@dataclass(frozen=True, slots=True)
class PairConfig:
    max_length: int = 256  # tokens of question, passage and three special tokens; the longer text is cut first
    dropout: float = 0.1  # of the state before the linear layer


class PairRow(NamedTuple):
    """One pair, the input of the transformer; both (T,)."""

    tokens: IntArray
    segments: IntArray  # 0 in the question; 1 in the passage if the model distinguishes segments


def pair_rows(tokeniser: SubwordTokeniser, pairs: Sequence[TextPair], *, max_length: int) -> list[PairRow]:
    """Token ids with the special tokens of the model's tokeniser, which cuts pairs to `max_length`."""
    most = _LETTERS * max_length
    cut = [(first[:most], second[:most]) for first, second in pairs]
    encodings = tokeniser.tokenizer.encode_batch_fast(cut)
    return [PairRow(np.array(e.ids, dtype=np.int64), np.array(e.type_ids, dtype=np.int64)) for e in encodings]
