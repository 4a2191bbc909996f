"""Beam search over a step function.

A step maps a state and the last tokens (B,) to the logits (B, V) of the next tokens and the next state. A state's
`select` picks rows of its batch. `qa_core/networks/seq2seq.py` has both.
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
def beam(step: Step[Rows], state: Rows, count: int, *, size: int, limits: Limits) -> list[list[Hypothesis]]:
    """Up to `size` likely continuations of each of `count` texts, best first.

    Each step keeps the `size` likeliest unfinished hypotheses. A hypothesis that reaches the end leaves the beam. A
    text is complete when `size` finished hypotheses are likelier than all unfinished ones, whose scores can only fall.
    """
    if size < 1:
        raise ValueError(f"Expected a beam of at least one hypothesis, but got {size}; raise it.")
    search = _Search(count, size)
    state = state.select(torch.arange(count).repeat_interleave(size))
    tokens = torch.full((count * size,), limits.start)
    scores = torch.full((count, size), -torch.inf)
    scores[:, 0] = 0.0  # all hypotheses of a text are equal at first: only one is extended
    for _ in range(limits.length):
        if search.done(scores):
            break
        log_p, state = _stepped(step, state, tokens, limits)
        paths, tokens, scores = search.advance(scores, log_p, limits.end)
        state = state.select(paths)
    return search.best(scores)


class _Search:
    """The beams of all texts: the tokens of each unfinished hypothesis, and the finished hypotheses."""

    def __init__(self, count: int, size: int) -> None:
        self.count, self.size = count, size
        self.drawn: list[tuple[int, ...]] = [()] * (count * size)
        self.ended: list[list[Hypothesis]] = [[] for _ in range(count)]

    def advance(self, scores: Tensor, log_p: Tensor, end: int) -> tuple[Tensor, Tensor, Tensor]:
        """From scores (B, K) and log p (B·K, V): rows to extend (B·K,), their tokens (B·K,) and scores (B, K)."""
        vocabulary = log_p.shape[1]
        totals = (scores.reshape(-1, 1).to(log_p) + log_p).reshape(self.count, -1)  # (B, K · V)
        top = totals.topk(min(2 * self.size, totals.shape[1]))  # at most K of them end
        rows, tokens, values = [], [], []
        for text, (scores_, cells) in enumerate(zip(top.values.tolist(), top.indices.tolist(), strict=True)):
            candidates = [(score, *divmod(cell, vocabulary)) for score, cell in zip(scores_, cells, strict=True)]
            extended = self._extended(text, candidates, end)
            rows += [text * self.size + row for _, row, _ in extended]
            tokens += [token for *_, token in extended]
            values.append([score for score, *_ in extended])
        self.drawn = [(*self.drawn[row], token) for row, token in zip(rows, tokens, strict=True)]
        return torch.tensor(rows, dtype=torch.int64), torch.tensor(tokens, dtype=torch.int64), torch.tensor(values)

    def _extended(
        self, text: int, candidates: Sequence[tuple[float, int, int]], end: int
    ) -> list[tuple[float, int, int]]:
        """The K unfinished (score, row, token), padded with impossible ones; finished ones go to `ended`."""
        for score, row, token in candidates:
            if token == end and score > -torch.inf:
                self.ended[text].append(Hypothesis(self.drawn[text * self.size + row], score, finished=True))
        unfinished = [candidate for candidate in candidates if candidate[2] != end][: self.size]
        return unfinished + [(-torch.inf, 0, end)] * (self.size - len(unfinished))

    def done(self, scores: Tensor) -> bool:
        return all(self._complete(text, float(best)) for text, best in enumerate(scores.amax(1)))

    def _complete(self, text: int, unfinished: float) -> bool:
        """Whether no hypothesis can still enter the K best; `unfinished` is the best score of the unfinished."""
        scores = sorted((hypothesis.score for hypothesis in self.ended[text]), reverse=True)
        return unfinished == -torch.inf or (len(scores) >= self.size and scores[self.size - 1] >= unfinished)

    def best(self, scores: Tensor) -> list[list[Hypothesis]]:
        """The K best hypotheses of each text, finished or cut at the length limit."""
        cut = [
            [
                Hypothesis(self.drawn[text * self.size + row], value, finished=False)
                for row, value in enumerate(values)
                if value > -torch.inf
            ]
            for text, values in enumerate(scores.tolist())
        ]
        both = [ended + unfinished for ended, unfinished in zip(self.ended, cut, strict=True)]
        return [sorted(hypotheses, key=attrgetter("score"), reverse=True)[: self.size] for hypotheses in both]


def _stepped(step: Step[Rows], state: Rows, tokens: Tensor, limits: Limits) -> tuple[Tensor, Rows]:
    """log p (B, V) of the next tokens, −∞ for barred ones, and the next state."""
    logits, state = step(state, tokens)
    log_p = logits.log_softmax(1)
    if limits.barred:
        log_p[:, list(limits.barred)] = -torch.inf
    return log_p, state
