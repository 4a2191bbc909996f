"""What every encoder-decoder shares, whether torch or numpy runs it: sizes, special words, and drawn texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qa_core.networks.vocabulary import END, PAD, START, UNKNOWN
from qa_core.types import IntArray

SPECIALS = (PAD, UNKNOWN, START, END)
"""The first words of every vocabulary of an encoder-decoder."""
START_ID, END_ID = SPECIALS.index(START), SPECIALS.index(END)


@dataclass(frozen=True, slots=True)
class Seq2SeqConfig:
    """Sizes of an encoder-decoder; the defaults are those of Wang (2018), ch. 2.2, where it names them."""

    vocabulary: int  # V, words of both sides, special ones included
    dimension: int = 300  # of word vectors
    hidden: int = 500  # H
    layers: int = 2  # L, of the encoder and of the decoder
    dropout: float = 0.2  # between layers and before the softmax
    bidirectional: bool = False  # the encoder reads both ways, H / 2 a direction; Wang (2018) reads forwards
    pretrained: bool = False  # E_pre beside E_tune, on both sides
    tied: bool = False  # one E_tune for both sides and the softmax (Press and Wolf 2017); z_t has its width
    topics: int = 0  # E, topics in the distribution that the decoder reads beside every word (ch. 8.5.2); 0: none
    topic_width: int = 0  # width of a linear map of that distribution; 0: no map
    uniform: float = 0.08  # initial weights are drawn from ± this
    boundaries: bool = False  # sources begin with `<s>` and end with `</s>`, as in Wang (2018), ch. 8.6.2

    def __post_init__(self) -> None:
        if self.vocabulary <= len(SPECIALS):
            raise ValueError(
                f"Expected words beside the {len(SPECIALS)} special ones, but got a vocabulary of {self.vocabulary}; "
                "train on more texts."
            )
        if self.bidirectional and self.hidden % 2:
            raise ValueError(f"Expected an even state size for two directions, but got {self.hidden}; add one.")
        if self.tied and self.pretrained:
            raise ValueError("Expected tied word vectors or pretrained ones, but got both; choose one.")

    def source(self, words: IntArray) -> IntArray:
        """The word numbers (T,) that the encoder reads for the words of a text."""
        return np.concatenate([[START_ID], words, [END_ID]]).astype(np.int64) if self.boundaries else words

    @property
    def topic_dim(self) -> int:
        """W, the numbers that the decoder reads beside a word."""
        return self.topics and (self.topic_width or self.topics)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A generated text."""

    tokens: tuple[int, ...]  # without the start and without the end
    score: float  # log p of the tokens, and of the end if it was reached
    finished: bool  # whether the end was reached within the allowed length


@dataclass(frozen=True, slots=True)
class Limits:
    """How a text starts and ends, its longest length, and the tokens that it never contains."""

    start: int
    end: int
    length: int  # tokens drawn at most, the end included
    barred: tuple[int, ...] = ()  # tokens that are never drawn, such as padding

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ValueError(f"Expected at least one token to draw, but got a length of {self.length}; raise it.")
