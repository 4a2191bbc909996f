"""How a persona chooses the next word: by its fine-tuned model, by its language model times the base, or several mixed.

Letters: N texts, B rows, V words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from generators.acceptor import Acceptor, features
from generators.blending import Together, mixed, mixture, multiplied
from generators.chat_model import ChatModel
from generators.columns import tensors
from generators.persona import Persona
from generators.ranking import Asking, drawn_from
from qa_core.beam_search import Hypothesis, Step
from qa_core.seq2seq import START_ID


@dataclass(frozen=True, slots=True, eq=False)
class Voice:
    """What draws words."""

    start: Callable[[Tensor, Tensor, int], Any]
    """A source (1, T), its mask, and B, to the state before the first word of B replies."""
    step: Step[Any]
    acceptor: Acceptor


class Jury(Acceptor):
    """Several acceptors, whose probabilities are mixed by weight."""

    def __init__(self, members: Sequence[Acceptor], weights: Sequence[float]) -> None:
        super().__init__()
        self.members, self.weights = list(members), list(weights)

    def forward(self, features: Tensor) -> Tensor:
        return mixture([member(features) for member in self.members], self.weights)


def finetuned(persona: Persona) -> Voice:
    """The fine-tuned forward model with its acceptor."""

    def start(source: Tensor, mask: Tensor, count: int) -> Any:
        return persona.forward.start(source, mask).select(torch.zeros(count, dtype=torch.int64))

    return Voice(start, persona.forward.step, persona.acceptor)


def multiplied_voice(persona: Persona) -> Voice:
    """`p(t|S)^w1 p2(t)^w2` of the base's forward model and the speaker's language model, with the base's acceptor."""
    base, speaker = persona.base, persona.speaker

    def start(source: Tensor, mask: Tensor, count: int) -> Together:
        rows = torch.zeros(count, dtype=torch.int64)
        return Together((base.forward.start(source, mask).select(rows), speaker.start(count)))

    return Voice(start, multiplied([base.forward.step, speaker.step], persona.config.weights), base.acceptor)


def merged(voices: Sequence[Voice], weights: Sequence[float]) -> Voice:
    """Voices whose probabilities are mixed; of a single one, itself. Raises ValueError for weights of no sense."""
    if len(voices) == 1:
        return voices[0]

    def start(source: Tensor, mask: Tensor, count: int) -> Together:
        return Together(tuple(voice.start(source, mask, count) for voice in voices))

    jury = Jury([voice.acceptor for voice in voices], weights)
    return Voice(start, mixed([voice.step for voice in voices], weights), jury)


@torch.no_grad()
def draw(
    base: ChatModel,
    voice: Voice,
    context: Sequence[str],
    *,
    generator: torch.Generator,
    asking: Asking,
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """As `generators.ranking.candidates`, of a voice; models are in evaluation mode."""
    state = voice.start(*tensors([base.source(context)], base.device), asking.candidates)
    return drawn_from(base, voice.step, state, voice.acceptor, generator=generator, asking=asking, check=check)


@torch.no_grad()
def acceptance(base: ChatModel, voice: Voice, context: Sequence[str], texts: Sequence[str]) -> Tensor:
    """Log-probabilities (N,) that selective sampling would have given texts, had it drawn their words."""
    if not texts:
        return torch.zeros(0)
    told, mask = tensors([base.target(text) for text in texts], torch.device("cpu"))  # (N, Q)
    state = voice.start(*tensors([base.source(context)], base.device), len(texts))
    prior = base.language.start(len(texts))
    before, total = torch.full((len(texts),), START_ID), torch.zeros(len(texts))
    for place in range(told.shape[1]):
        logits, state = voice.step(state, before)
        prior_logits, prior = base.language.step(prior, before)
        before = told[:, place]
        seen = features(logits.cpu().log_softmax(1), prior_logits.cpu().log_softmax(1), before.unsqueeze(1))
        total += voice.acceptor(seen).squeeze(1) * mask[:, place]
    return total
