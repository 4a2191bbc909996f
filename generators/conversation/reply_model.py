"""What a model has to offer for replies to be drawn from it and ranked, whoever trained it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import torch

from generators.conversation.acceptor import Acceptor
from generators.conversation.padded_batches import SourceTarget
from generators.topics.steering import Steering
from qa_core.types import FloatArray, IntArray


class Wordlist(Protocol):
    def words(self, ids: Iterable[int], /) -> Sequence[str]:
        """Words and marks of numbers."""
        ...


class ReplyModel(Protocol):
    """Its words are numbered as `generators.conversation.chat_model` does: special ones first, which no reply holds."""

    @property
    def forward(self) -> Any:
        """A module whose `step` tells `p(T|S)`."""

    @property
    def backward(self) -> Any:
        """A module that tells `p(S|T)`, whose `before_softmax` and `output` say from what."""

    @property
    def language(self) -> Any:
        """A module whose `start` and `step` tell `p(T)`."""

    @property
    def acceptor(self) -> Acceptor | None:
        """Of selective sampling, where one was trained."""

    @property
    def steering(self) -> Steering | None:
        """The topics that `forward` hears, where it hears any."""

    @property
    def vocabulary(self) -> Wordlist: ...

    @property
    def device(self) -> torch.device: ...

    def start_state(self, context: Sequence[str], count: int, *, hints: Sequence[str] = ()) -> Any:
        """The state of `forward` before the first word of `count` replies."""
        ...

    def target(self, text: str) -> IntArray:
        """Numbers of the words of a reply, `</s>` at the end, (Q,)."""
        ...

    def backward_row(self, turns: Sequence[str], reply: str) -> SourceTarget:
        """What `p(S|T)` is told: the reply, and the last turn before it."""
        ...

    def language_row(self, text: str) -> SourceTarget:
        """What `p(T)` is told."""
        ...

    def log_backward(self, rows: Sequence[SourceTarget]) -> FloatArray:
        """`log p(S|T)` (N,)."""
        ...

    def log_language(self, rows: Sequence[SourceTarget]) -> FloatArray:
        """`log p(T)` (N,)."""
        ...

    def text(self, ids: Iterable[int]) -> str:
        """The readable text of word numbers."""
        ...
