"""Selective sampling (thesis, ch. 8.3): of several drawn words, one that the acceptor takes for a person's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

import torch
from torch import Tensor

from generators.conversation.acceptor import Acceptor, features
from generators.conversation.decoding import PLAIN, Sampling, decode, draw_words
from qa_core.networks.beam_search import Rows, Selectable, Step
from qa_core.networks.decoder_types import Hypothesis, Limits

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
    """Where the model and the language model stand in the same texts."""

    state: Rows
    prior: Prior
    log_prior: Tensor | None = None  # log p(w) of the step just made (B, V), on the CPU

    def select(self, rows: Tensor) -> Self:
        return type(self)(self.state.select(rows), self.prior.select(rows))


def selective_sample(
    step: Step[Rows],
    state: Rows,
    prior_step: Step[Prior],
    prior: Prior,
    count: int,
    *,
    acceptor: Acceptor,
    limits: Limits,
    generator: torch.Generator,
    sampling: Sampling = PLAIN,
    selection: Selection = DEFAULT,
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """A text for each of `count` rows of both states; scores are the acceptor's log-probabilities, added up.

    At each step `draws` words are drawn. One of those that the acceptor's probability is at the threshold for, or above
    it, is taken by chance; where there is none, the one of the highest.

    Args:
        prior_step: the language model's, behind the same words.
        generator: on the CPU; the same one in the same state draws the same texts.
        check: called before every step; what it raises ends the drawing.
    """

    def both(states: SelectiveState[Rows, Prior], tokens: Tensor) -> tuple[Tensor, SelectiveState[Rows, Prior]]:
        logits, model = step(states.state, tokens)
        prior_logits, behind = prior_step(states.prior, tokens)
        return logits, SelectiveState(model, behind, prior_logits.cpu().log_softmax(1))

    def choose(log_p: Tensor, states: SelectiveState[Rows, Prior]) -> tuple[Tensor, Tensor]:
        assert states.log_prior is not None
        words = draw_words(log_p, sampling, selection.draws, generator)  # (B, N)
        accepted = acceptor(features(log_p, states.log_prior, words))  # (B, N), log p
        place = chosen(accepted, selection.threshold, generator).unsqueeze(1)
        return words.gather(1, place).squeeze(1), accepted.gather(1, place).squeeze(1)

    return decode(both, SelectiveState(state, prior), count, choose, limits=limits, sampling=sampling, check=check)


def chosen(log_p: Tensor, threshold: float, generator: torch.Generator) -> Tensor:
    """Of log-probabilities (B, N) a place in each row: any of those accepted, or else that of the highest."""
    accepted = log_p.exp() >= threshold
    chance = torch.rand(log_p.shape, generator=generator).masked_fill(~accepted, -1.0)
    return torch.where(accepted.any(1), chance.argmax(1), log_p.argmax(1))
