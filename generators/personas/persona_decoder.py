"""How a persona chooses the next word: by its fine-tuned model, by its language model times the base, or several mixed.

Letters: N texts, B rows, V words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from generators.conversation.blending import JointState, mixed, mixture, multiplied
from generators.conversation.decoding import Step
from generators.conversation.random_stream import RandomStream
from generators.conversation.ranking import GenerationConfig, drawn_from
from generators.conversation.reply_model import ReplyModel
from generators.conversation.selective import accepted_log_p
from generators.inference.acceptor import Accepts
from generators.personas.persona import Persona
from generators.personas.quoted_persona import QuotedPersona
from generators.topics.steering import TopicHint
from qa_core.networks.decoder_types import Hypothesis
from qa_core.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class PersonaDecoder:
    """Draws the words of a persona."""

    start: Callable[[Sequence[str], int, Sequence[TopicHint]], Any]
    """The last turns, B, and hints, to the state before the first word of B replies."""
    step: Step[Any]
    acceptor: Accepts


@dataclass(frozen=True, slots=True, eq=False)
class EnsembleAcceptor:
    """Several acceptors, whose probabilities are mixed by weight."""

    members: Sequence[Accepts]
    weights: Sequence[float]

    def __call__(self, features: FloatArray) -> FloatArray:
        return mixture([member(features) for member in self.members], self.weights)


def finetuned_decoder(persona: Persona | QuotedPersona) -> PersonaDecoder:
    """The fine-tuned forward model with its acceptor; raises ValueError for a persona that can only be quoted."""
    persona = tuned(persona)

    def start(context: Sequence[str], count: int, hints: Sequence[TopicHint]) -> Any:
        return persona.base.start_state(context, count, hints=hints, forward=persona.forward)

    return PersonaDecoder(start, persona.forward.step, persona.acceptor)


def multiplied_decoder(persona: Persona | QuotedPersona) -> PersonaDecoder:
    """`p(t|S)^w1 p2(t)^w2` of the base's forward model and the speaker's language model, with the product's acceptor.

    Raises ValueError for a persona that can only be quoted.
    """
    persona = tuned(persona)
    base, speaker = persona.base, persona.speaker

    def start(context: Sequence[str], count: int, hints: Sequence[TopicHint]) -> JointState:
        return JointState((base.start_state(context, count, hints=hints), speaker.start(count)))

    step = multiplied([base.forward.step, speaker.step], persona.config.weights)
    return PersonaDecoder(start, step, persona.product_acceptor)


def merged(decoders: Sequence[PersonaDecoder], weights: Sequence[float]) -> PersonaDecoder:
    """Mix the probabilities of decoders; a single one stays unchanged. Raises ValueError for invalid weights."""
    if len(decoders) == 1:
        return decoders[0]

    def start(context: Sequence[str], count: int, hints: Sequence[TopicHint]) -> JointState:
        return JointState(tuple(decoder.start(context, count, hints) for decoder in decoders))

    ensemble = EnsembleAcceptor([decoder.acceptor for decoder in decoders], weights)
    return PersonaDecoder(start, mixed([decoder.step for decoder in decoders], weights), ensemble)


def draw(
    base: ReplyModel,
    decoder: PersonaDecoder,
    context: Sequence[str],
    *,
    stream: RandomStream,
    generation: GenerationConfig,
    hints: Sequence[TopicHint] = (),
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """As `generators.conversation.ranking.candidates`, but drawn by a decoder."""
    state = decoder.start(context, generation.candidates, hints)
    return drawn_from(base, decoder.step, state, decoder.acceptor, stream=stream, generation=generation, check=check)


def accepted(
    base: ReplyModel,
    decoder: PersonaDecoder,
    context: Sequence[str],
    texts: Sequence[str],
    *,
    check: Callable[[], None] = lambda: None,
) -> FloatArray:
    """`log p(T)` (N,) of given texts by the decoder's acceptor, as drawn ones are scored without a hint."""
    rows = [base.target(text) for text in texts]
    state, prior = decoder.start(context, len(rows), ()), base.language.start(len(rows))
    return accepted_log_p(decoder.step, state, base.language.step, prior, rows, acceptor=decoder.acceptor, check=check)


def tuned(persona: Persona | QuotedPersona) -> Persona:
    """The persona, unless it has no networks: then raises ValueError."""
    if isinstance(persona, QuotedPersona):
        raise ValueError(
            f"Expected a persona with networks, but {persona.config.name} can only be quoted, since its "
            "base is a model of transformers; choose the style rank, or train it on a model that train chat wrote."
        )
    return persona
