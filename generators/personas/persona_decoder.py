"""How a persona chooses the next word: by its fine-tuned model, by its language model times the base, or several mixed.

Letters: N texts, B rows, V words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from generators.conversation.acceptor import Acceptor
from generators.conversation.blending import JointState, mixed, mixture, multiplied
from generators.conversation.ranking import GenerationConfig, drawn_from
from generators.conversation.reply_model import ReplyModel
from generators.personas.persona import Persona
from generators.pretrained.pretrained_persona import QuotedPersona
from qa_core.networks.beam_search import Step
from qa_core.networks.decoder_types import Hypothesis


@dataclass(frozen=True, slots=True, eq=False)
class PersonaDecoder:
    """What draws words."""

    start: Callable[[Sequence[str], int, Sequence[str]], Any]
    """The last turns, B, and hints, to the state before the first word of B replies."""
    step: Step[Any]
    acceptor: Acceptor


class EnsembleAcceptor(Acceptor):
    """Several acceptors, whose probabilities are mixed by weight."""

    def __init__(self, members: Sequence[Acceptor], weights: Sequence[float]) -> None:
        super().__init__()
        self.members, self.weights = list(members), list(weights)

    def forward(self, features: Tensor) -> Tensor:
        return mixture([member(features) for member in self.members], self.weights)


def finetuned(persona: Persona | QuotedPersona) -> PersonaDecoder:
    """The fine-tuned forward model with its acceptor; raises ValueError for a persona that can but be quoted."""
    persona = tuned(persona)

    def start(context: Sequence[str], count: int, hints: Sequence[str]) -> Any:
        return persona.base.start_state(context, count, hints=hints, forward=persona.forward)

    return PersonaDecoder(start, persona.forward.step, persona.acceptor)


def multiplied_voice(persona: Persona | QuotedPersona) -> PersonaDecoder:
    """`p(t|S)^w1 p2(t)^w2` of the base's forward model and the speaker's language model, with the base's acceptor.

    Raises ValueError for a persona that can but be quoted.
    """
    persona = tuned(persona)
    base, speaker = persona.base, persona.speaker

    def start(context: Sequence[str], count: int, hints: Sequence[str]) -> JointState:
        return JointState((base.start_state(context, count, hints=hints), speaker.start(count)))

    return PersonaDecoder(start, multiplied([base.forward.step, speaker.step], persona.config.weights), base.acceptor)


def merged(voices: Sequence[PersonaDecoder], weights: Sequence[float]) -> PersonaDecoder:
    """Decoders whose probabilities are mixed; of a single one, itself. Raises ValueError for weights of no sense."""
    if len(voices) == 1:
        return voices[0]

    def start(context: Sequence[str], count: int, hints: Sequence[str]) -> JointState:
        return JointState(tuple(voice.start(context, count, hints) for voice in voices))

    jury = EnsembleAcceptor([voice.acceptor for voice in voices], weights)
    return PersonaDecoder(start, mixed([voice.step for voice in voices], weights), jury)


@torch.no_grad()
def draw(
    base: ReplyModel,
    voice: PersonaDecoder,
    context: Sequence[str],
    *,
    generator: torch.Generator,
    generation: GenerationConfig,
    hints: Sequence[str] = (),
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """As `generators.conversation.ranking.candidates`, of a voice; models are in evaluation mode."""
    state = voice.start(context, generation.candidates, hints)
    return drawn_from(base, voice.step, state, voice.acceptor, generator=generator, generation=generation, check=check)


def tuned(persona: Persona | QuotedPersona) -> Persona:
    if isinstance(persona, QuotedPersona):
        raise ValueError(
            f"Expected a persona with a voice of its own, but {persona.config.name} is only quoted, since its base is "
            "a model of transformers; choose the style rank, or train it on a model that train chat wrote."
        )
    return persona
