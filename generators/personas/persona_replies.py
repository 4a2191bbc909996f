"""Replies of a persona, or of a mix of several: quoted, drawn, or the best of both (Wang 2018, ch. 8.4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from generators.conversation.chat_model import ChatModel
from generators.conversation.detokenise import Casing
from generators.conversation.random_stream import RandomStream
from generators.conversation.ranking import (
    DEFAULT,
    GenerationConfig,
    Response,
    check_request,
    deduplicate,
    ranked,
    rerank_by_topic,
)
from generators.inference.threads import one_thread
from generators.personas.persona import Persona
from generators.personas.persona_decoder import (
    PersonaDecoder,
    accepted,
    draw,
    finetuned_decoder,
    merged,
    multiplied_decoder,
    tuned,
)
from generators.personas.quotations import SHORTLIST, quoted, tidy
from generators.personas.quoted_persona import QuotedPersona
from generators.topics.steering import TopicHint

Style = Literal["rank", "multiply", "finetune", "hybrid"]
_QUOTES = 32  # of a persona, that compete with drawn replies


@dataclass(frozen=True, slots=True)
class StyledResponse(Response):
    """A reply of a persona."""

    kind: Literal["generated", "quotation"] = "generated"
    persona: str = ""  # whose quotation it is, or the names of all in the mix, with + between them


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """A persona's part in a mix."""

    persona: Persona | QuotedPersona
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Styling:
    """How a persona makes replies."""

    style: Style = "hybrid"
    prior: float = 0.0  # weight of log p(T) when quotations are ranked; constant in Wang (2018)
    lead: float = 0.0  # nats added to a quotation in the hybrid, since a person surely wrote its words
    likelihood: bool = False  # the hybrid scores quotations like drawn replies, by eq. 8.2, as in Wang (2018)
    shortlist: int | None = SHORTLIST  # quotations that are scored exactly; None scores all

    def __post_init__(self) -> None:
        if self.style not in ("rank", "multiply", "finetune", "hybrid"):
            raise ValueError(f"Expected rank, multiply, finetune or hybrid, but got {self.style!r}; choose one.")


PLAIN = Styling()


@one_thread()
def styled(
    shares: Sequence[Share],
    context: Sequence[str],
    n: int,
    *,
    stream: RandomStream,
    styling: Styling = PLAIN,
    generation: GenerationConfig = DEFAULT,
    hints: Sequence[TopicHint] = (),
    check: Callable[[], None] = lambda: None,
) -> list[StyledResponse]:
    """Up to `n` distinct replies to the last of these turns, best first.

    For several personas, the probabilities of the next word are mixed by weight; a quotation's score is that of its
    persona's sentence plus the logarithm of the persona's share.

    Args:
        stream: the same one in the same state gives the same replies.
        hints: texts or cells whose topics drawn replies should have, if the base reads topics.
        check: called between steps; an exception that it raises ends the work.

    Raises:
        ValueError: n is less than 1, every turn is empty, weights are invalid, or the bases differ.
    """
    check_request(context, n)
    mix = _normalised(shares)
    base = mix[0].persona.base
    check()
    if styling.style == "rank":
        quotations = _quotations(mix, context, n, styling)
        return _distinct(rerank_by_topic(base, quotations, hints, generation.agreement))[:n]
    decoder = _decoder(mix, "multiply" if styling.style == "multiply" else "finetune")
    replies = _generated(mix, decoder, context, stream, generation, hints, check)
    if styling.style == "hybrid":
        check()
        quotations = _quotations(mix, context, _QUOTES, styling)
        if styling.likelihood:
            quotations = _likelihoods(_spelling(mix), decoder, quotations, context, generation, check)
        else:
            quotations = [_led(quotation, styling.lead) for quotation in quotations]
        replies = [*replies, *quotations]
    return _distinct(rerank_by_topic(base, replies, hints, generation.agreement))[:n]


def _normalised(shares: Sequence[Share]) -> list[Share]:
    """Shares of a weight above 0, which sum to 1."""
    total = sum(share.weight for share in shares)
    if not total > 0 or not math.isfinite(total) or any(share.weight < 0 for share in shares):
        weights = ", ".join(f"{share.weight:g}" for share in shares) or "no persona"
        raise ValueError(f"Expected personas with weights of 0 or more, not all of them 0, but got {weights}.")
    mix = [replace(share, weight=share.weight / total) for share in shares if share.weight]
    if len(bases := {share.persona.config.base for share in mix}) > 1:
        raise ValueError(f"Expected personas of one base to mix, but got {len(bases)} bases; train them on one.")
    return mix


def _decoder(mix: Sequence[Share], style: Literal["multiply", "finetune"]) -> PersonaDecoder:
    make = multiplied_decoder if style == "multiply" else finetuned_decoder
    return merged([make(share.persona) for share in mix], [share.weight for share in mix])


def _generated(
    mix: Sequence[Share],
    decoder: PersonaDecoder,
    context: Sequence[str],
    stream: RandomStream,
    generation: GenerationConfig,
    hints: Sequence[TopicHint],
    check: Callable[[], None],
) -> list[StyledResponse]:
    model = _spelling(mix)
    drawn = draw(model, decoder, context, stream=stream, generation=generation, hints=hints, check=check)
    drawn = deduplicate(drawn, model)
    check()
    name = "+".join(share.persona.config.name for share in mix)
    return [
        StyledResponse(reply.text, reply.score, reply.relevance, reply.fluency, persona=name)
        for reply in ranked(model, context, drawn, method=generation.method, word_bonus=generation.word_bonus)
    ]


def _quotations(mix: Sequence[Share], context: Sequence[str], n: int, styling: Styling) -> list[StyledResponse]:
    """The best `n` of each persona."""
    return list(chain.from_iterable(_quotations_of(share, context, n, styling) for share in mix))


def _quotations_of(share: Share, context: Sequence[str], n: int, styling: Styling) -> list[StyledResponse]:
    persona, quotations = share.persona, share.persona.quotations
    best = quoted(persona.base, quotations, context, n, prior=styling.prior, shortlist=styling.shortlist)
    return [
        StyledResponse(
            tidy(quotations.sentences[quotation.index]),
            quotation.score + math.log(share.weight),
            quotation.relevance,
            float(quotations.prior[quotation.index]),
            kind="quotation",
            persona=persona.config.name,
        )
        for quotation in best
    ]


def _led(quotation: StyledResponse, lead: float) -> StyledResponse:
    """A quotation scored to compete with drawn replies: `log p(S|T)` and the lead.

    That is as if the acceptor were undecided about every word, which the bonus for each word makes up for.
    """
    return replace(quotation, score=quotation.score + lead, fluency=0.0)


def _likelihoods(
    model: ChatModel,
    decoder: PersonaDecoder,
    quotations: Sequence[StyledResponse],
    context: Sequence[str],
    generation: GenerationConfig,
    check: Callable[[], None],
) -> list[StyledResponse]:
    """Quotations scored like drawn replies: `log p(S|T) + log p(T)`, p(T) by the acceptor, and the bonus for words."""
    texts = [quotation.text for quotation in quotations]
    fluency = accepted(model, decoder, context, texts, check=check).tolist()
    words = [len(model.target(text)) - 1 for text in texts]
    return [
        replace(quotation, score=quotation.score + prior + generation.word_bonus * count, fluency=prior)
        for quotation, prior, count in zip(quotations, fluency, words, strict=True)
    ]


def _spelling(mix: Sequence[Share]) -> ChatModel:
    """The base with the capitals of all personas; on a conflict the persona of the largest share decides."""
    ordered = [tuned(share.persona) for share in sorted(mix, key=lambda share: share.weight)]
    forms = {word: form for persona in ordered for word, form in persona.casing.forms.items()}
    return replace(ordered[0].base, casing=Casing(forms))


def _distinct(replies: Iterable[StyledResponse]) -> list[StyledResponse]:
    """Best first, equal ones in alphabetical order, each text once whatever its capitals."""
    best: dict[str, StyledResponse] = {}
    for reply in sorted(replies, key=lambda reply: (-reply.score, reply.text, reply.persona)):
        best.setdefault(reply.text.casefold(), reply)
    return list(best.values())
