"""The words of a chat model: texts to word numbers and back, cut to the lengths that its networks read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from generators.conversation.detokenise import Casing, readable, tokens
from generators.conversation.padded_batches import SourceTarget
from generators.inference.acceptor import AcceptorConfig
from generators.inference.language_model import LanguageModelConfig
from qa_core.networks.decoder_types import END_ID, SPECIALS, Seq2SeqConfig
from qa_core.networks.vocabulary import Vocabulary
from qa_core.types import IntArray

TURN = "<turn>"
"""Stands between the turns of a source."""
CHAT_SPECIALS = (*SPECIALS, TURN)
BARRED = tuple(number for number in range(len(CHAT_SPECIALS)) if number != END_ID)
"""Words that no reply holds."""
_TURN_ID = CHAT_SPECIALS.index(TURN)
_CHARACTERS = 40  # of a text for each word that counts; longer texts are cut before they are split into words


@dataclass(frozen=True, slots=True)
class ChatConfig:
    """Sizes of a chat model; the defaults are those of Wang (2018), ch. 8.3."""

    network: Seq2SeqConfig = field(default_factory=lambda: Seq2SeqConfig(50_000))  # of forward and backward
    language: LanguageModelConfig = field(default_factory=lambda: LanguageModelConfig(50_000))
    acceptor: AcceptorConfig = field(default_factory=AcceptorConfig)
    turns: int = 2  # that forward reads
    max_source: int = 40  # words of a source that count, its last
    max_target: int = 30  # words of a reply that count, its first


@dataclass(frozen=True, slots=True, eq=False)
class ChatText:
    """Turns and replies as rows of word numbers."""

    vocabulary: Vocabulary
    casing: Casing
    config: ChatConfig

    def source(self, turns: Sequence[str]) -> IntArray:
        """Word numbers of the last turns, (T,), with `<turn>` between them."""
        numbers: list[int] = []
        for turn in turns[-self.config.turns :]:
            numbers += [_TURN_ID] * bool(numbers) + self._ids(_tail(turn, self.config.max_source))
        return self.enclosed(np.array(numbers[-self.config.max_source :], dtype=np.int64))

    def enclosed(self, words: IntArray) -> IntArray:
        """What an encoder reads for words (T,): the same, or within boundary symbols."""
        return self.config.network.source(words)

    def target(self, text: str) -> IntArray:
        """Word numbers of a reply, `</s>` at the end, (Q,)."""
        ids = self._ids(text[: self.config.max_target * _CHARACTERS])
        return np.append(np.array(ids[: self.config.max_target], dtype=np.int64), END_ID)

    def forward_row(self, turns: Sequence[str], reply: str) -> SourceTarget:
        """The source and the target of `p(T|S)`."""
        return self.source(turns), self.target(reply)

    def backward_row(self, turns: Sequence[str], reply: str) -> SourceTarget:
        """The source and the target of `p(S|T)`: the reply, and the last turn before it."""
        last = self._ids(_tail(turns[-1], self.config.max_target)) if turns else []
        return self.enclosed(self.target(reply)[:-1]), np.append(
            np.array(last[-self.config.max_target :], dtype=np.int64), END_ID
        )

    def language_row(self, text: str) -> SourceTarget:
        """The target of `p(T)`, and an empty source."""
        return np.zeros(0, dtype=np.int64), self.target(text)

    def text(self, ids: Iterable[int]) -> str:
        """The readable text of word numbers."""
        return readable(self.vocabulary.words(ids), self.casing)

    def _ids(self, text: str) -> list[int]:
        return self.vocabulary.ids(_words(text))


@lru_cache(maxsize=4_096)  # a reply is soon the next one's context
def _words(text: str) -> tuple[str, ...]:
    return tuple(tokens(text))


def _tail(text: str, words: int) -> str:
    return text[-words * _CHARACTERS :]
