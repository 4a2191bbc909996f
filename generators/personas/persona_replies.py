"""Replies in the voice of a persona, or of several that are mixed: quoted, drawn, or the best of both (ch. 8.4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import torch

from generators.conversation.chat_model import ChatModel
from generators.conversation.detokenise import Casing
from generators.conversation.ranking import DEFAULT, GenerationConfig, Response, deduplicate, ranked, rerank_by_topic
from generators.personas.persona import Persona
from generators.personas.persona_decoder import PersonaDecoder, draw, finetuned, merged, multiplied_voice, tuned
from generators.personas.quotations import SHORTLIST, quoted, tidy
from generators.pretrained.pretrained_persona import QuotedPersona

Style = Literal["rank", "multiply", "finetune", "hybrid"]
_QUOTES = 32  # of a persona, that compete with what is drawn


@dataclass(frozen=True, slots=True)
class StyledResponse(Response):
    """A reply in somebody's voice."""

    kind: Literal["generated", "quotation"] = "generated"
    persona: str = ""  # whose quotation it is, or the names of all that had a say, with + between them


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """A persona's part in a mix."""

    persona: Persona | QuotedPersona
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Styling:
    """How replies get their voice."""

    style: Style = "hybrid"
    prior: float = 0.0  # weight of log p(T) when quotations are ranked; the thesis takes it for constant
    lead: float = 0.0  # nats that a quotation, whose words are surely a person's, has over drawn text in the hybrid
    shortlist: int | None = SHORTLIST  # quotations that are scored exactly; None scores all

    def __post_init__(self) -> None:
        if self.style not in ("rank", "multiply", "finetune", "hybrid"):
            raise ValueError(f"Expected rank, multiply, finetune or hybrid, but got {self.style!r}; choose one.")


PLAIN = Styling()


def styled(
    shares: Sequence[Share],
    context: Sequence[str],
    n: int,
    *,
    generator: torch.Generator,
    styling: Styling = PLAIN,
    generation: GenerationConfig = DEFAULT,
    hints: Sequence[str] = (),
    check: Callable[[], None] = lambda: None,
) -> list[StyledResponse]:
    """Up to `n` distinct replies to the last of these turns, best first.

    Of several personas the probabilities of the next word are mixed by weight; a quotation's score is that of its
    persona's sentence with the logarithm of its share added.

    Args:
        generator: on the CPU; the same one in the same state gives the same replies.
        hints: texts whose topics drawn replies should have, where the base hears topics.
        check: called between steps; what it raises ends the work.

    Raises:
        ValueError: n is less than 1, nobody has said anything, weights make no sense, or the bases differ.
    """
    if n < 1:
        raise ValueError(f"Expected to be asked for at least one reply, but got {n}; raise it.")
    if not any(turn.strip() for turn in context):
        raise ValueError("Expected a turn to reply to, but got none; say something first.")
    heard = _heard(shares)
    check()
    if styling.style == "rank":
        said = _quotations(heard, context, n, styling)
        return _distinct(rerank_by_topic(heard[0].persona.base, said, hints, generation.agreement))[:n]
    voice = _voice(heard, "multiply" if styling.style == "multiply" else "finetune")
    made = _generated(heard, voice, context, generator, generation, hints, check)
    if styling.style == "hybrid":
        check()
        made = [*made, *_rivals(heard, context, styling)]
    return _distinct(rerank_by_topic(heard[0].persona.base, made, hints, generation.agreement))[:n]


def _heard(shares: Sequence[Share]) -> list[Share]:
    """Those of a weight above 0, as shares of 1."""
    total = sum(share.weight for share in shares)
    if not total > 0 or not math.isfinite(total) or any(share.weight < 0 for share in shares):
        told = ", ".join(f"{share.weight:g}" for share in shares) or "no persona"
        raise ValueError(f"Expected personas with weights of 0 or more, not all of them 0, but got {told}.")
    heard = [replace(share, weight=share.weight / total) for share in shares if share.weight]
    if len(bases := {share.persona.config.base for share in heard}) > 1:
        raise ValueError(f"Expected personas of one base to mix, but got {len(bases)} bases; train them on one.")
    return heard


def _voice(heard: Sequence[Share], style: Literal["multiply", "finetune"]) -> PersonaDecoder:
    make = multiplied_voice if style == "multiply" else finetuned
    return merged([make(share.persona) for share in heard], [share.weight for share in heard])


def _generated(
    heard: Sequence[Share],
    voice: PersonaDecoder,
    context: Sequence[str],
    generator: torch.Generator,
    generation: GenerationConfig,
    hints: Sequence[str],
    check: Callable[[], None],
) -> list[StyledResponse]:
    model = _spelling(heard)
    drawn = draw(model, voice, context, generator=generator, generation=generation, hints=hints, check=check)
    drawn = deduplicate(drawn, model)
    check()
    name = "+".join(share.persona.config.name for share in heard)
    return [
        StyledResponse(each.text, each.score, each.relevance, each.fluency, persona=name)
        for each in ranked(model, context, drawn, method=generation.method, word_bonus=generation.word_bonus)
    ]


def _quotations(heard: Sequence[Share], context: Sequence[str], n: int, styling: Styling) -> list[StyledResponse]:
    """The best `n` of each persona."""
    return list(chain.from_iterable(_quotations_of(share, context, n, styling) for share in heard))


def _quotations_of(share: Share, context: Sequence[str], n: int, styling: Styling) -> list[StyledResponse]:
    persona, own = share.persona, share.persona.quotations
    found = quoted(persona.base, own, context, n, prior=styling.prior, shortlist=styling.shortlist)
    return [
        StyledResponse(
            tidy(own.sentences[each.place]),
            each.score + math.log(share.weight),
            each.relevance,
            float(own.prior[each.place]),
            kind="quotation",
            persona=persona.config.name,
        )
        for each in found
    ]


def _rivals(heard: Sequence[Share], context: Sequence[str], styling: Styling) -> list[StyledResponse]:
    """The best quotations, to stand beside what is drawn.

    By `log p(S|T)` and a lead, as if an acceptor could not tell whether the speaker's words are a person's, for which
    the bonus for each word makes up.
    """
    found = _quotations(heard, context, _QUOTES, styling)
    return [replace(each, score=each.score + styling.lead, fluency=0.0) for each in found]


def _spelling(heard: Sequence[Share]) -> ChatModel:
    """The base, with the capitals of all personas; those of the one with the largest share go before."""
    ordered = [tuned(share.persona) for share in sorted(heard, key=lambda share: share.weight)]
    forms = {word: form for persona in ordered for word, form in persona.casing.forms.items()}
    return replace(ordered[0].base, casing=Casing(forms))


def _distinct(found: Iterable[StyledResponse]) -> list[StyledResponse]:
    """Best first, equal ones in alphabetical order, each text once whatever its capitals."""
    best: dict[str, StyledResponse] = {}
    for each in sorted(found, key=lambda each: (-each.score, each.text, each.persona)):
        best.setdefault(each.text.casefold(), each)
    return list(best.values())
