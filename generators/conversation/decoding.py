"""Texts drawn from a step function, hundreds in one batch: sampling with temperature, top-k and top-p.

Greedy and beam search are in `qa_core/networks/beam_search.py`, which says what a step is. What a text may hold is one
matter (`Limits`, and the rules of `Sampling`), how the next word is chosen another: `decode` takes any way of choosing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from qa_core.networks.beam_search import Rows, Step
from qa_core.networks.decoder_types import Hypothesis, Limits

Choose = Callable[[Tensor, Rows], tuple[Tensor, Tensor]]
"""log p (B, V) of the words that may come, and the state, to words (B,) and their part of the score (B,)."""
HOTTEST = 10.0


@dataclass(frozen=True, slots=True)
class Sampling:
    """How words are drawn, and what drawn texts may look like. Raises ValueError for what makes no sense."""

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
    generator: torch.Generator,
    sampling: Sampling = PLAIN,
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """A drawn text for each of the state's `count` rows; scores are `log p` of the drawn words, end included.

    Args:
        generator: on the CPU; the same one in the same state draws the same texts.
        check: called before every step; what it raises ends the drawing.
    """

    def choose(log_p: Tensor, _state: Rows) -> tuple[Tensor, Tensor]:
        words = draw_words(log_p, sampling, 1, generator)  # (B, 1)
        return words.squeeze(1), log_p.gather(1, words).squeeze(1)

    return decode(step, state, count, choose, limits=limits, sampling=sampling, check=check)


@torch.no_grad()
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
    """A text for each of the state's `count` rows, word by word as `choose` says; those that end are left alone.

    Of `sampling` only the rules for texts have a say; scores add up what `choose` tells of each word.
    """
    drawn = torch.full((count, limits.length), limits.end)
    scores, finished = torch.zeros(count), torch.zeros(count, dtype=torch.bool)
    going, tokens = torch.arange(count), torch.full((count,), limits.start)
    for place in range(limits.length):
        if not len(going):
            break
        check()
        logits, state = step(state, tokens)
        tokens, parts = choose(allowed(logits.cpu(), drawn[going, :place], limits, sampling), state)
        drawn[going, place] = tokens
        scores[going] += parts
        finished[going] = tokens == limits.end
        on = (tokens != limits.end).nonzero().squeeze(1)
        if len(on) < len(going):
            going, tokens, state = going[on], tokens[on], state.select(on)
    return [
        Hypothesis(_before(limits.end, text), score, ended)
        for text, score, ended in zip(drawn.tolist(), scores.tolist(), finished.tolist(), strict=True)
    ]


def allowed(logits: Tensor, history: Tensor, limits: Limits, sampling: Sampling) -> Tensor:
    """log p (B, V) of the words that may follow a history (B, T), others at −∞; where none may, the text ends."""
    logits = logits.clone()
    logits[:, list(limits.barred)] = -torch.inf
    if history.shape[1] < sampling.shortest:
        logits[:, limits.end] = -torch.inf
    if not sampling.repeats:
        _bar_repeats(logits, history)
    stuck = logits.amax(1) == -torch.inf
    logits[stuck, limits.end] = 0.0
    return logits.log_softmax(1)


def draw_words(log_p: Tensor, sampling: Sampling, count: int, generator: torch.Generator) -> Tensor:
    """`count` words (B, N) of each of distributions (B, V), drawn with replacement as `narrowed` leaves them."""
    if sampling.top_k is None or sampling.top_k >= log_p.shape[1]:
        p = narrowed(log_p, sampling).exp()
        return torch.multinomial(p, count, replacement=True, generator=generator)  # far slower without
    likeliest = log_p.topk(sampling.top_k, dim=1)  # the others need no exponents
    p = narrowed(likeliest.values, replace(sampling, top_k=None)).softmax(1)
    return likeliest.indices.gather(1, torch.multinomial(p, count, replacement=True, generator=generator))


def narrowed(log_p: Tensor, sampling: Sampling) -> Tensor:
    """log p (B, V) after temperature, then top-k, then top-p; always at least one word is left."""
    if sampling.temperature != 1:
        log_p = (log_p / sampling.temperature).log_softmax(1)
    if sampling.top_k is not None and sampling.top_k < log_p.shape[1]:
        least = log_p.topk(sampling.top_k, dim=1).values[:, -1:]  # (B, 1)
        log_p = log_p.masked_fill(log_p < least, -torch.inf).log_softmax(1)
    if sampling.top_p < 1:
        ordered, places = log_p.sort(dim=1, descending=True, stable=True)
        before = ordered.exp().cumsum(1) - ordered.exp()  # probability of all likelier words
        ordered = ordered.masked_fill(before >= sampling.top_p, -torch.inf)
        log_p = torch.empty_like(log_p).scatter(1, places, ordered).log_softmax(1)
    return log_p


def _bar_repeats(logits: Tensor, history: Tensor) -> None:
    """Words that would say a history's (B, T) last one again, or end three words that it holds."""
    if history.shape[1]:
        logits.scatter_(1, history[:, -1:], -torch.inf)
    if history.shape[1] > 2:
        same = (history[:, :-2] == history[:, -2:-1]) & (history[:, 1:-1] == history[:, -1:])  # (B, T − 2)
        rows, places = same.nonzero(as_tuple=True)
        logits[rows, history[rows, places + 2]] = -torch.inf


def _before(end: int, text: list[int]) -> tuple[int, ...]:
    return tuple(text[: text.index(end)] if end in text else text)
