"""Replies of a chat model: hundreds of drawn candidates, ranked by `log p(S|T) + log p(T)` (Wang 2018, eq. 8.2).

Both terms fall with every word. An undecided acceptor gives each word one half; by default a bonus returns that much,
so that a reply is no better for being short.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import numpy as np

from generators.conversation.chat_text import BARRED
from generators.conversation.decoding import Rows, Sampling, Step, sample
from generators.conversation.detokenise import well_formed
from generators.conversation.random_stream import RandomStream
from generators.conversation.reply_model import ReplyModel
from generators.conversation.selective import Selection, selective_sample
from generators.inference.acceptor import Accepts
from generators.topics.steering import TopicHint
from qa_core.networks.decoder_types import END_ID, START_ID, Hypothesis, Limits

Method = Literal["selective", "vanilla"]
AnyResponse = TypeVar("AnyResponse", bound="Response")


@dataclass(frozen=True, slots=True)
class Response:
    """A reply and its scores."""

    text: str
    score: float  # log p(S|T) + log p(T), and a bonus for each word
    relevance: float  # log p(S|T), of the last turn given the reply
    fluency: float  # log p(T): the acceptor's of selective sampling, else the language model's


@dataclass(frozen=True, slots=True)
class GenerationConfig:
    """How replies are made. Raises ValueError for impossible values."""

    candidates: int = 100  # drawn texts, duplicates included
    length: int = 20  # words at most
    method: Method = "selective"
    agreement: float = 0.0  # weight of the agreement between a text's topics and those of the hints; 0 in Wang (2018)
    word_bonus: float = math.log(2)  # added to the score for each word; 0 is eq. 8.2 unchanged
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
    stream: RandomStream,
    generation: GenerationConfig = DEFAULT,
    hints: Sequence[TopicHint] = (),
    check: Callable[[], None] = lambda: None,
) -> list[Response]:
    """Up to `n` distinct replies to the last of these turns, best first.

    Args:
        stream: the same one in the same state gives the same replies.
        hints: texts or cells whose topics the replies should have, if the model reads topics; they share the replies
            evenly.
        check: called between steps; an exception that it raises ends the work.

    Raises:
        ValueError: n is less than 1, or every turn is empty.
    """
    check_request(context, n)
    drawn = candidates(model, context, stream=stream, generation=generation, hints=hints, check=check)
    drawn = deduplicate(drawn, model)
    check()
    method: Method = "vanilla" if model.acceptor is None else generation.method
    responses = ranked(model, context, drawn, method=method, word_bonus=generation.word_bonus)
    return rerank_by_topic(model, responses, hints, generation.agreement)[:n]


def check_request(context: Sequence[str], n: int) -> None:
    """Raises ValueError if `n` is less than 1, or there is no turn to reply to."""
    if n < 1:
        raise ValueError(f"Expected to be asked for at least one reply, but got {n}; raise it.")
    if not any(turn.strip() for turn in context):
        raise ValueError("Expected a turn to reply to, but got none; say something first.")


def rerank_by_topic(
    model: ReplyModel, responses: list[AnyResponse], hints: Sequence[TopicHint], weight: float
) -> list[AnyResponse]:
    """Responses, best first, after their topics' agreement with the hints is added to the scores."""
    if not weight or model.steering is None or not hints:
        return responses
    bonuses = weight * model.steering.agreement([response.text for response in responses], hints)
    pairs = zip(responses, bonuses.tolist(), strict=True)
    rescored = [replace(response, score=response.score + bonus) for response, bonus in pairs]
    return sorted(rescored, key=lambda response: (-response.score, response.text))


def candidates(
    model: ReplyModel,
    context: Sequence[str],
    *,
    stream: RandomStream,
    generation: GenerationConfig = DEFAULT,
    hints: Sequence[TopicHint] = (),
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """Drawn texts, scored by the acceptor or, without one, by `log p(T|S)`."""
    state = model.start_state(context, generation.candidates, hints=hints)
    return drawn_from(
        model, model.forward.step, state, model.acceptor, stream=stream, generation=generation, check=check
    )


def drawn_from(
    base: ReplyModel,
    step: Step[Rows],
    state: Rows,
    acceptor: Accepts | None,
    *,
    stream: RandomStream,
    generation: GenerationConfig,
    check: Callable[[], None] = lambda: None,
) -> list[Hypothesis]:
    """A drawn text for each row of the state, by any step over the base's words; selected with its language model."""
    count, sampling = generation.candidates, generation.sampling
    limits = Limits(START_ID, END_ID, generation.length + 1, barred=BARRED)
    if generation.method == "vanilla" or acceptor is None:
        return sample(step, state, count, limits=limits, stream=stream, sampling=sampling, check=check)
    return selective_sample(
        step,
        state,
        base.language.step,
        base.language.start(count),
        count,
        acceptor=acceptor,
        limits=limits,
        stream=stream,
        sampling=sampling,
        selection=generation.selection,
        check=check,
    )


def deduplicate(drawn: Iterable[Hypothesis], model: ReplyModel) -> list[Hypothesis]:
    """Well-formed texts that reached their end (all if none did); the best of those that differ in marks only."""
    texts = [text for text in drawn if text.tokens]
    texts = [text for text in texts if text.finished] or texts
    best: dict[tuple[str, ...], Hypothesis] = {}
    for text in texts:
        tokens = model.vocabulary.words(text.tokens)
        if not well_formed(tokens):
            continue
        words = tuple(word for word in tokens if word[0].isalnum() or word == "n't")
        if words and (words not in best or text.score > best[words].score):
            best[words] = text
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
    texts = [model.text(hypothesis.tokens) for hypothesis in drawn]
    rows = [np.array(hypothesis.tokens, dtype=np.int64) for hypothesis in drawn]
    last_turn = model.backward_row(context, "")[1]
    relevance = model.log_backward([(model.enclosed(row), last_turn) for row in rows]).tolist()
    if method == "vanilla":
        fluency = model.log_language([(row[:0], np.append(row, END_ID)) for row in rows]).tolist()
    else:
        fluency = [hypothesis.score for hypothesis in drawn]
    responses = [
        Response(text, back + prior + word_bonus * len(row), back, prior)
        for text, row, back, prior in zip(texts, rows, relevance, fluency, strict=True)
    ]
    return sorted(responses, key=lambda response: (-response.score, response.text))
