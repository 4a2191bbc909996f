"""Replies of a chat model: candidates drawn by the hundred, the best by `log p(S|T) + log p(T)` first (eq. 8.2).

Both grow smaller with every word. An acceptor that cannot tell says one half of each; that much is given back by
default, so that a reply is no better for being short.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import numpy as np
import torch

from generators.conversation.acceptor import Acceptor
from generators.conversation.chat_model import BARRED
from generators.conversation.decoding import Sampling, sample
from generators.conversation.detokenise import well_formed
from generators.conversation.padded_batches import evaluating
from generators.conversation.reply_model import ReplyModel
from generators.conversation.selective import Selection, selective_sample
from qa_core.networks.beam_search import Rows, Step
from qa_core.networks.decoder_types import END_ID, START_ID, Hypothesis, Limits

Method = Literal["selective", "vanilla"]
Told = TypeVar("Told", bound="Response")


@dataclass(frozen=True, slots=True)
class Response:
    """A reply, and what speaks for it."""

    text: str
    score: float  # log p(S|T) + log p(T), and a bonus for each word
    relevance: float  # log p(S|T), of the last turn given the reply
    fluency: float  # log p(T): the acceptor's of selective sampling, else the language model's


@dataclass(frozen=True, slots=True)
class GenerationConfig:
    """How replies are made. Raises ValueError for what makes no sense."""

    candidates: int = 100  # texts that are drawn, of which duplicates are removed
    length: int = 20  # words at most
    method: Method = "selective"
    agreement: float = 0.0  # weight of how well a text's topics agree with those of the hints; 0 as in the thesis
    word_bonus: float = math.log(2)  # of the score for each word, since a sum likes short texts; 0 is eq. 8.2 as it is
    sampling: Sampling = field(default_factory=lambda: Sampling(shortest=3))
    selection: Selection = field(default_factory=Selection)

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise ValueError(f"Expected at least one candidate, but got {self.candidates}; raise it.")
        if not 0 <= self.agreement < math.inf:
            raise ValueError(f"Expected a weight of 0 or more for the topics' agreement, but got {self.agreement}.")
        if not math.isfinite(self.word_bonus):
            raise ValueError(f"Expected a finite bonus for each word, but got {self.word_bonus}; 0 gives none.")
        if self.length <= self.sampling.shortest:
            raise ValueError(
                f"Expected replies that may be longer than {self.sampling.shortest} words, but got a length of "
                f"{self.length}; raise it."
            )


DEFAULT = GenerationConfig()


def respond(
    model: ReplyModel,
    context: Sequence[str],
    n: int,
    *,
    generator: torch.Generator,
    generation: GenerationConfig = DEFAULT,
    hints: Sequence[str] = (),
    check: Callable[[], None] = lambda: None,
) -> list[Response]:
    """Up to `n` distinct replies to the last of these turns, best first.

    Args:
        generator: on the CPU; the same one in the same state gives the same replies.
        hints: texts whose topics the replies should have, where the model hears topics; each gets its share of them.
        check: called between steps; what it raises ends the work.

    Raises:
        ValueError: n is less than 1, or nobody has said anything.
    """
    if n < 1:
        raise ValueError(f"Expected to be asked for at least one reply, but got {n}; raise it.")
    if not any(turn.strip() for turn in context):
        raise ValueError("Expected a turn to reply to, but got none; say something first.")
    drawn = candidates(model, context, generator=generator, generation=generation, hints=hints, check=check)
    drawn = deduplicate(drawn, model)
    check()
    method: Method = "vanilla" if model.acceptor is None else generation.method
    found = ranked(model, context, drawn, method=method, word_bonus=generation.word_bonus)
    return rerank_by_topic(model, found, hints, generation.agreement)[:n]


def rerank_by_topic(model: ReplyModel, found: list[Told], hints: Sequence[str], weight: float) -> list[Told]:
    """Responses, best first, after their topics' agreement with the hints was added to the scores."""
    if not weight or model.steering is None or not hints:
        return found
    more = weight * model.steering.agreement([each.text for each in found], hints)
    told = [replace(each, score=each.score + extra) for each, extra in zip(found, more.tolist(), strict=True)]
    return sorted(told, key=lambda each: (-each.score, each.text))


def candidates(
    model: ReplyModel,
    context: Sequence[str],
    *,
    generator: torch.Generator,
    generation: GenerationConfig = DEFAULT,
    hints: Sequence[str] = (),
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """As many drawn texts as are asked for, scored by the acceptor or, where it has no say, by `log p(T|S)`."""
    with evaluating(model.forward):
        state = model.start_state(context, generation.candidates, hints=hints)
        return drawn_from(
            model, model.forward.step, state, model.acceptor, generator=generator, generation=generation, check=check
        )


def drawn_from(
    base: ReplyModel,
    step: Step[Rows],
    state: Rows,
    acceptor: Acceptor | None,
    *,
    generator: torch.Generator,
    generation: GenerationConfig,
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """A drawn text for each row of the state, by any step over the base's words; selected with its language model."""
    count = generation.candidates
    limits = Limits(START_ID, END_ID, generation.length + 1, barred=BARRED)
    if generation.method == "vanilla" or acceptor is None:
        return sample(step, state, count, limits=limits, generator=generator, sampling=generation.sampling, check=check)
    with evaluating(base.language):
        return selective_sample(
            step,
            state,
            base.language.step,
            base.language.start(count),
            count,
            acceptor=acceptor,
            limits=limits,
            generator=generator,
            sampling=generation.sampling,
            selection=generation.selection,
            check=check,
        )


def deduplicate(drawn: Iterable[Hypothesis], model: ReplyModel) -> list[Hypothesis]:
    """Those that came to an end, where any did, well formed; of those that differ in marks alone the best scored."""
    kept = [each for each in drawn if each.tokens]
    kept = [each for each in kept if each.finished] or kept
    best: dict[tuple[str, ...], Hypothesis] = {}
    for each in kept:
        told = model.vocabulary.words(each.tokens)
        if not well_formed(told):
            continue
        words = tuple(word for word in told if word[0].isalnum() or word == "n't")
        if words and (words not in best or each.score > best[words].score):
            best[words] = each
    return list(best.values())


def ranked(
    model: ReplyModel,
    context: Sequence[str],
    drawn: Sequence[Hypothesis],
    *,
    method: Method = "selective",
    word_bonus: float = 0.0,
) -> list[Response]:
    """Responses of texts, best first; equal ones in alphabetical order."""
    if not drawn:
        return []
    texts = [model.text(each.tokens) for each in drawn]
    rows = [np.array(each.tokens, dtype=np.int64) for each in drawn]
    told = model.backward_row(context, "")[1]
    relevance = model.log_backward([(row, told) for row in rows]).tolist()
    if method == "vanilla":
        fluency = model.log_language([(row[:0], np.append(row, END_ID)) for row in rows]).tolist()
    else:
        fluency = [each.score for each in drawn]
    found = [
        Response(text, back + prior + word_bonus * len(each.tokens), back, prior)
        for text, each, back, prior in zip(texts, drawn, relevance, fluency, strict=True)
    ]
    return sorted(found, key=lambda each: (-each.score, each.text))
