"""Selective sampling (Wang 2018, ch. 8.3): of several drawn words, take one that the acceptor holds for a person's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

import numpy as np

from generators.conversation.decoding import PLAIN, Rows, Sampling, Selectable, Step, decode, draw_words
from generators.conversation.random_stream import RandomStream
from generators.inference.acceptor import Accepts, acceptor_features
from generators.inference.activations import log_softmax
from qa_core.networks.decoder_types import START_ID, Hypothesis, Limits
from qa_core.types import FloatArray, IntArray

Prior = TypeVar("Prior", bound=Selectable)


@dataclass(frozen=True, slots=True)
class Selection:
    """How many words are drawn at a step, and which are good enough."""

    draws: int = 10  # N
    threshold: float = 0.5  # probability from which a word is accepted

    def __post_init__(self) -> None:
        if self.draws < 1:
            raise ValueError(f"Expected at least one word to draw at a step, but got draws = {self.draws}; raise it.")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"Expected a threshold from 0 to 1, but got {self.threshold}; change it.")


DEFAULT = Selection()


@dataclass(frozen=True, slots=True, eq=False)
class SelectiveState(Generic[Rows, Prior]):
    """The states of the model and of the language model in the same texts."""

    state: Rows
    prior: Prior
    log_prior: FloatArray | None = None  # log p(w) of the step just made (B, V)

    def select(self, rows: IntArray) -> Self:
        return type(self)(self.state.select(rows), self.prior.select(rows))


def selective_sample(
    step: Step[Rows],
    state: Rows,
    prior_step: Step[Prior],
    prior: Prior,
    count: int,
    *,
    acceptor: Accepts,
    limits: Limits,
    stream: RandomStream,
    sampling: Sampling = PLAIN,
    selection: Selection = DEFAULT,
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """Draw a text for each of `count` rows of both states; scores are the sums of the acceptor's log-probabilities.

    Each step draws `draws` words and takes one at random of those that the acceptor accepts; if it accepts none, the
    one of the highest probability.

    Args:
        prior_step: of the language model, which reads the same words.
        stream: the same one in the same state draws the same texts.
        check: called before every step; an exception that it raises ends the drawing.
    """

    def both(states: SelectiveState[Rows, Prior], tokens: IntArray) -> tuple[FloatArray, SelectiveState[Rows, Prior]]:
        logits, after = step(states.state, tokens)
        prior_logits, prior_after = prior_step(states.prior, tokens)
        return logits, SelectiveState(after, prior_after, log_softmax(prior_logits))

    def choose(log_p: FloatArray, states: SelectiveState[Rows, Prior]) -> tuple[IntArray, FloatArray]:
        assert states.log_prior is not None
        words = draw_words(log_p, sampling, selection.draws, stream)  # (B, N)
        accepted = acceptor(acceptor_features(log_p, states.log_prior, words))  # (B, N), log p
        rows, index = np.arange(len(words)), chosen(accepted, selection.threshold, stream)
        return words[rows, index], accepted[rows, index]

    return decode(both, SelectiveState(state, prior), count, choose, limits=limits, sampling=sampling, check=check)


def accepted_log_p(
    step: Step[Rows],
    state: Rows,
    prior_step: Step[Prior],
    prior: Prior,
    texts: Sequence[IntArray],
    *,
    acceptor: Accepts,
    check: Callable[[], None] = lambda: None,
) -> FloatArray:
    """`log p(T)` (B,) of given texts as selective sampling would score them: the sums of the acceptor's log p.

    Args:
        state: of the model before the first word, a row for each text.
        texts: word numbers with `</s>` at the end, (Q,) each.
    """
    scores = np.zeros(len(texts), dtype=np.float32)
    active, tokens = np.arange(len(texts)), np.full(len(texts), START_ID, dtype=np.int64)
    for position in range(max(map(len, texts), default=0)):
        check()
        logits, state = step(state, tokens)
        prior_logits, prior = prior_step(prior, tokens)
        tokens = np.array([texts[row][position] for row in active.tolist()])
        scores[active] += acceptor(acceptor_features(log_softmax(logits), log_softmax(prior_logits), tokens[:, None]))[
            :, 0
        ]
        longer = np.flatnonzero([len(texts[row]) > position + 1 for row in active.tolist()])
        active, tokens = active[longer], tokens[longer]
        state, prior = state.select(longer), prior.select(longer)
    return scores


def chosen(log_p: FloatArray, threshold: float, stream: RandomStream) -> IntArray:
    """Of log-probabilities (B, N) one index a row (B,): any accepted one, or else that of the highest."""
    accepted = np.exp(log_p) >= threshold
    chance = np.where(accepted, stream.singles(*log_p.shape), -1.0)
    index: IntArray = np.where(accepted.any(axis=1), chance.argmax(axis=1), log_p.argmax(axis=1))
    return index
