"""Draws texts from a step function, hundreds in one batch: sampling with temperature, top-k and top-p.

`Limits` and the rules of `Sampling` say what a text may hold; a `Choose` function says how the next word is chosen.
Letters: B texts, N draws, V words, T words drawn so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeVar

import numpy as np

from generators.conversation.random_stream import RandomStream
from generators.inference.activations import log_softmax, softmax
from qa_core.networks.decoder_types import Hypothesis, Limits
from qa_core.types import FloatArray, IntArray


class Selectable(Protocol):
    """The state of a model in a batch of texts."""

    def select(self, rows: IntArray, /) -> Self:
        """The states of these texts (N,); a text may be repeated or left out."""
        ...


Rows = TypeVar("Rows", bound=Selectable)
Step = Callable[[Rows, IntArray], tuple[FloatArray, Rows]]
"""A state and the tokens (B,) read last to logits (B, V) of the next ones and the new state."""
Choose = Callable[[FloatArray, Rows], tuple[IntArray, FloatArray]]
"""log p (B, V) of the allowed words and the state to chosen words (B,) and what each adds to the score (B,)."""
HOTTEST = 10.0


@dataclass(frozen=True, slots=True)
class Sampling:
    """How words are drawn, and the rules for drawn texts. Raises ValueError for impossible values."""

    temperature: float = 1.0  # below 1 the likely words get likelier
    top_k: int | None = None  # only this many of the likeliest words
    top_p: float = 1.0  # only the likeliest words that together have this probability
    shortest: int = 1  # words before a text may end
    repeats: bool = False  # whether the same three words may come twice, or a word twice in a row

    def __post_init__(self) -> None:
        if not 0 < self.temperature <= HOTTEST:
            raise ValueError(
                f"Expected a temperature above 0 and up to {HOTTEST:g}, but got {self.temperature}; 1 draws as the "
                "model has learnt, less is more careful."
            )
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"Expected to draw from at least 1 word, but got top_k = {self.top_k}; raise it.")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"Expected top_p above 0 and up to 1, but got {self.top_p}; 1 leaves no word out.")
        if self.shortest < 0:
            raise ValueError(f"Expected texts of 0 words or more, but got shortest = {self.shortest}; raise it.")


PLAIN = Sampling()


def sample(
    step: Step[Rows],
    state: Rows,
    count: int,
    *,
    limits: Limits,
    stream: RandomStream,
    sampling: Sampling = PLAIN,
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """Draw a text for each of the state's `count` rows; scores are `log p` of the drawn words, end included.

    Args:
        stream: the same one in the same state draws the same texts.
        check: called before every step; an exception that it raises ends the drawing.
    """

    def choose(log_p: FloatArray, _state: Rows) -> tuple[IntArray, FloatArray]:
        words = draw_words(log_p, sampling, 1, stream)  # (B, 1)
        return words[:, 0], np.take_along_axis(log_p, words, axis=1)[:, 0]

    return decode(step, state, count, choose, limits=limits, sampling=sampling, check=check)


def decode(
    step: Step[Rows],
    state: Rows,
    count: int,
    choose: Choose[Rows],
    *,
    limits: Limits,
    sampling: Sampling = PLAIN,
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """A text for each of the state's `count` rows, word by word as `choose` decides; ended texts leave the batch.

    Only the rules for texts in `sampling` apply here. A score is the sum of what `choose` gives for each word.
    """
    drawn = np.full((count, limits.length), limits.end, dtype=np.int64)
    scores, finished = np.zeros(count, dtype=np.float32), np.zeros(count, dtype=np.bool_)
    active, tokens = np.arange(count), np.full(count, limits.start, dtype=np.int64)
    for position in range(limits.length):
        if not len(active):
            break
        check()
        logits, state = step(state, tokens)
        tokens, parts = choose(allowed(logits, drawn[active, :position], limits, sampling), state)
        drawn[active, position] = tokens
        scores[active] += parts
        finished[active] = tokens == limits.end
        unfinished = np.flatnonzero(tokens != limits.end)
        if len(unfinished) < len(active):
            active, tokens, state = active[unfinished], tokens[unfinished], state.select(unfinished)
    return [
        Hypothesis(_before(limits.end, text), score, ended)
        for text, score, ended in zip(drawn.tolist(), scores.tolist(), finished.tolist(), strict=True)
    ]


def allowed(logits: FloatArray, history: IntArray, limits: Limits, sampling: Sampling) -> FloatArray:
    """log p (B, V) of the words that may follow a history (B, T), −∞ for others; if no word may, the text ends."""
    logits = logits.copy()
    logits[:, list(limits.barred)] = -np.inf
    if history.shape[1] < sampling.shortest:
        logits[:, limits.end] = -np.inf
    if not sampling.repeats:
        _bar_repeats(logits, history)
    logits[logits.max(axis=1) == -np.inf, limits.end] = 0.0
    return log_softmax(logits)


def draw_words(log_p: FloatArray, sampling: Sampling, count: int, stream: RandomStream) -> IntArray:
    """Draw `count` words (B, N) with replacement from each of distributions (B, V), after `narrowed`."""
    if sampling.top_k is None or sampling.top_k >= log_p.shape[1]:
        return stream.choose(np.exp(narrowed(log_p, sampling)), count)
    words, values = likeliest(log_p, sampling.top_k)  # the other words need no exponents
    p = softmax(narrowed(values, replace(sampling, top_k=None)))
    return np.take_along_axis(words, stream.choose(p, count), axis=1)


def narrowed(log_p: FloatArray, sampling: Sampling) -> FloatArray:
    """log p (B, V) after temperature, then top-k, then top-p; at least one word is left."""
    if sampling.temperature != 1:
        log_p = log_softmax(log_p / np.float32(sampling.temperature))
    if sampling.top_k is not None and sampling.top_k < log_p.shape[1]:
        least = likeliest(log_p, sampling.top_k)[1][:, -1:]  # (B, 1)
        log_p = log_softmax(np.where(log_p < least, -np.inf, log_p).astype(np.float32))
    if sampling.top_p < 1:
        order = np.argsort(-log_p, axis=1, kind="stable")
        values = np.take_along_axis(log_p, order, axis=1)
        p = np.exp(values)
        values[p.cumsum(axis=1) - p >= sampling.top_p] = -np.inf  # the likelier words are enough
        log_p = np.empty_like(log_p)
        np.put_along_axis(log_p, order, values, axis=1)
        log_p = log_softmax(log_p)
    return log_p


def likeliest(log_p: FloatArray, count: int) -> tuple[IntArray, FloatArray]:
    """The `count` likeliest words of distributions (B, V) and their log p, (B, count) each, likeliest first."""
    words = np.argpartition(log_p, -count, axis=1)[:, -count:]
    words.sort(axis=1)
    order = np.argsort(-np.take_along_axis(log_p, words, axis=1), axis=1, kind="stable")
    words = np.take_along_axis(words, order, axis=1)
    return words, np.take_along_axis(log_p, words, axis=1)


def _bar_repeats(logits: FloatArray, history: IntArray) -> None:
    """Bar words that would repeat a history's (B, T) last word, or complete three words that it holds."""
    if history.shape[1]:
        logits[np.arange(len(history)), history[:, -1]] = -np.inf
    if history.shape[1] > 2:
        same = (history[:, :-2] == history[:, -2:-1]) & (history[:, 1:-1] == history[:, -1:])  # (B, T − 2)
        rows, positions = np.nonzero(same)
        logits[rows, history[rows, positions + 2]] = -np.inf


def _before(end: int, text: list[int]) -> tuple[int, ...]:
    return tuple(text[: text.index(end)] if end in text else text)
