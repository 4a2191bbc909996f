"""The likeliest continuations by a step function: greedily, or with a beam.

A step takes a state and the tokens (B,) read last to logits (B, V) of the next ones and the state behind them; a
state's `select` takes the rows it is asked for. `qa_core/networks/seq2seq.py` has both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Protocol, Self, TypeVar

import torch
from torch import Tensor

from qa_core.networks.decoder_types import Hypothesis, Limits


class Selectable(Protocol):
    def select(self, rows: Tensor) -> Self: ...


Rows = TypeVar("Rows", bound=Selectable)
Step = Callable[[Rows, Tensor], tuple[Tensor, Rows]]


@torch.no_grad()
def greedy(step: Step[Rows], state: Rows, count: int, *, limits: Limits) -> list[Hypothesis]:
    """The likeliest token at each step, for each of `count` texts."""
    tokens = torch.full((count,), limits.start)
    scores, ended = torch.zeros(count), torch.zeros(count, dtype=torch.bool)
    drawn: list[Tensor] = []
    for _ in range(limits.length):
        if bool(ended.all()):
            break
        log_p, state = _stepped(step, state, tokens, limits)
        best, tokens = (found.cpu() for found in log_p.max(1))
        scores += best.masked_fill(ended, 0.0)
        ended |= tokens == limits.end
        drawn.append(tokens)
    texts = [[int(step[row]) for step in drawn] for row in range(count)]
    return [
        Hypothesis(_before(limits.end, text), score, finished)
        for text, score, finished in zip(texts, scores.tolist(), ended.tolist(), strict=True)
    ]


@torch.no_grad()
def beam(step: Step[Rows], state: Rows, count: int, *, size: int, limits: Limits) -> list[list[Hypothesis]]:
    """Up to `size` likely continuations of each of `count` texts, best first.

    At each step the `size` likeliest unfinished ones go on. Those that reach the end leave the beam; a text is done
    once `size` of them are likelier than all that goes on, which only gets less likely.
    """
    if size < 1:
        raise ValueError(f"Expected a beam of at least one hypothesis, but got {size}; raise it.")
    search = _Search(count, size)
    state = state.select(torch.arange(count).repeat_interleave(size))
    tokens = torch.full((count * size,), limits.start)
    scores = torch.full((count, size), -torch.inf)
    scores[:, 0] = 0.0  # all hypotheses of a text start alike: only the first may go on
    for _ in range(limits.length):
        if search.done(scores):
            break
        log_p, state = _stepped(step, state, tokens, limits)
        paths, tokens, scores = search.advance(scores, log_p, limits.end)
        state = state.select(paths)
    return search.best(scores)


class _Search:
    """The beams of all texts: what each hypothesis has drawn, and those that have ended."""

    def __init__(self, count: int, size: int) -> None:
        self.count, self.size = count, size
        self.drawn: list[tuple[int, ...]] = [()] * (count * size)
        self.ended: list[list[Hypothesis]] = [[] for _ in range(count)]

    def advance(self, scores: Tensor, log_p: Tensor, end: int) -> tuple[Tensor, Tensor, Tensor]:
        """Scores (B, K) and log p (B·K, V) to the rows that go on (B·K,), their tokens (B·K,) and scores (B, K)."""
        vocabulary = log_p.shape[1]
        totals = (scores.reshape(-1, 1).to(log_p) + log_p).reshape(self.count, -1)  # (B, K · V)
        found = totals.topk(min(2 * self.size, totals.shape[1]))  # at most K of them end
        rows, tokens, kept = [], [], []
        for text, (values, places) in enumerate(zip(found.values.tolist(), found.indices.tolist(), strict=True)):
            chosen = self._text(text, [(v, *divmod(p, vocabulary)) for v, p in zip(values, places, strict=True)], end)
            rows += [text * self.size + row for _, row, _ in chosen]
            tokens += [token for *_, token in chosen]
            kept.append([value for value, *_ in chosen])
        self.drawn = [(*self.drawn[row], token) for row, token in zip(rows, tokens, strict=True)]
        return torch.tensor(rows, dtype=torch.int64), torch.tensor(tokens, dtype=torch.int64), torch.tensor(kept)

    def _text(self, text: int, found: Sequence[tuple[float, int, int]], end: int) -> list[tuple[float, int, int]]:
        """The K of (score, row, token) that go on, filled up with impossible ones; those that end are taken down."""
        for value, row, token in found:
            if token == end and value > -torch.inf:
                self.ended[text].append(Hypothesis(self.drawn[text * self.size + row], value, finished=True))
        going = [each for each in found if each[2] != end][: self.size]
        return going + [(-torch.inf, 0, end)] * (self.size - len(going))

    def done(self, scores: Tensor) -> bool:
        return all(self._complete(text, float(best)) for text, best in enumerate(scores.amax(1)))

    def _complete(self, text: int, going: float) -> bool:
        values = sorted((each.score for each in self.ended[text]), reverse=True)
        return going == -torch.inf or (len(values) >= self.size and values[self.size - 1] >= going)

    def best(self, scores: Tensor) -> list[list[Hypothesis]]:
        """The likeliest of each text, those included that were cut at the allowed length."""
        cut = [
            [
                Hypothesis(self.drawn[text * self.size + row], value, finished=False)
                for row, value in enumerate(values)
                if value > -torch.inf
            ]
            for text, values in enumerate(scores.tolist())
        ]
        both = [ended + going for ended, going in zip(self.ended, cut, strict=True)]
        return [sorted(each, key=attrgetter("score"), reverse=True)[: self.size] for each in both]


def _stepped(step: Step[Rows], state: Rows, tokens: Tensor, limits: Limits) -> tuple[Tensor, Rows]:
    """log p (B, V) of the next tokens, −∞ for barred ones, and the state."""
    logits, state = step(state, tokens)
    log_p = logits.log_softmax(1)
    if limits.barred:
        log_p[:, list(limits.barred)] = -torch.inf
    return log_p, state


def _before(end: int, text: Sequence[int]) -> tuple[int, ...]:
    return tuple(text[: text.index(end)] if end in text else text)
