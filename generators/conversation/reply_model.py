"""What a model must offer for replies to be drawn from it and ranked, whoever trained it; arrays are numpy's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from generators.conversation.padded_batches import SourceTarget
from generators.inference.acceptor import Acceptor
from generators.inference.activations import Mask
from generators.topics.steering import Steering, TopicHint
from qa_core.types import FloatArray, IntArray


class Wordlist(Protocol):
    def words(self, ids: Iterable[int], /) -> Sequence[str]:
        """Words and marks of numbers."""
        ...


class StepNetwork(Protocol):
    """A network that predicts the next word."""

    def step(self, state: Any, tokens: IntArray, /) -> tuple[FloatArray, Any]:
        """Read tokens (B,); return logits (B, V) of the next ones and the new state."""
        ...


class PriorNetwork(StepNetwork, Protocol):
    """A language model `p(T)`."""

    def start(self, count: int, /) -> Any:
        """The state before the first word of `count` texts."""
        ...


class Output(Protocol):
    """The last layer of a network, `softmax(W_s z + b_s)`."""

    @property
    def in_features(self) -> int:
        """Size of z."""

    def rows(self, words: IntArray, /) -> tuple[FloatArray, FloatArray]:
        """Weights (N, D) and biases (N,) of words (N,)."""
        ...

    def log_totals(self, z: FloatArray, /) -> FloatArray:
        """`log Σ_w exp(W_s z + b_s)` (N,) of z (N, D)."""
        ...


class BackwardNetwork(Protocol):
    """`p(S|T)`."""

    @property
    def output(self) -> Output: ...

    def before_softmax(self, source: IntArray, source_mask: Mask, target: IntArray, target_mask: Mask, /) -> FloatArray:
        """z (N, D) at the N real tokens of all targets in order."""
        ...


class ReplyModel(Protocol):
    """Its words have the numbers of `generators.conversation.chat_text`: special ones first, which no reply holds."""

    @property
    def forward(self) -> StepNetwork:
        """`p(T|S)`."""

    @property
    def backward(self) -> BackwardNetwork: ...

    @property
    def language(self) -> PriorNetwork: ...

    @property
    def acceptor(self) -> Acceptor | None:
        """For selective sampling, if one was trained."""

    @property
    def steering(self) -> Steering | None:
        """The topics that `forward` reads, if it reads any."""

    @property
    def vocabulary(self) -> Wordlist: ...

    def start_state(self, context: Sequence[str], count: int, *, hints: Sequence[TopicHint] = ()) -> Any:
        """The state of `forward` before the first word of `count` replies."""
        ...

    def target(self, text: str) -> IntArray:
        """Word numbers of a reply, `</s>` at the end, (Q,)."""
        ...

    def backward_row(self, turns: Sequence[str], reply: str) -> SourceTarget:
        """The source and the target of `p(S|T)`: the reply, and the last turn before it."""
        ...

    def enclosed(self, words: IntArray) -> IntArray:
        """What an encoder reads for words (T,)."""
        ...

    def language_row(self, text: str) -> SourceTarget:
        """The target of `p(T)`, and an empty source."""
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
