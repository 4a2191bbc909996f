import math
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from generators.conversation.chat_model import ChatModel
from generators.conversation.decoding import Sampling
from generators.conversation.random_stream import RandomStream
from generators.conversation.ranking import GenerationConfig, Response, respond
from generators.personas.persona import Persona, PersonaConfig, changed
from generators.personas.persona_replies import Share, Styling, styled
from generators.personas.quotations import Quotations

GENERATION = GenerationConfig(candidates=40, length=6, sampling=Sampling(shortest=2))
CONTEXT = ["where do cats sleep?"]
STYLES = ["rank", "multiply", "finetune", "hybrid"]


@pytest.fixture
def other(persona: Persona, chat_model: ChatModel) -> Persona:
    """A second speaker on the same base."""
    return replace(
        persona,
        config=PersonaConfig("gardener", persona.config.base),
        forward=changed(chat_model.forward, {"output.bias": -persona.forward.output.bias}),
        quotations=Quotations.of(chat_model, ["They are my cats .", "why do they sleep ?"], [("who?",)] * 2),
    )


def replies_of(
    shares, style: str = "hybrid", n: int = 30, context=CONTEXT, seed: int = 1, lead: float = 0.0, **options
):
    stream = RandomStream(seed)
    return styled(
        shares, context, n, stream=stream, styling=Styling(style, lead=lead), generation=GENERATION, **options
    )


@pytest.mark.parametrize("style", STYLES)
def test_replies_are_distinct_and_best_first(persona: Persona, style: str):
    replies = replies_of([Share(persona)], style)
    assert len(replies) > 2
    assert [reply.score for reply in replies] == sorted((reply.score for reply in replies), reverse=True)
    assert len({reply.text.casefold() for reply in replies}) == len(replies)
    assert {reply.persona for reply in replies} == {"sailor"}
    kinds = {"rank": {"quotation"}, "hybrid": {"quotation", "generated"}}.get(style, {"generated"})
    assert {reply.kind for reply in replies} == kinds
    assert replies_of([Share(persona)], style, n=2) == replies[:2]


def test_quotations_are_unchanged(persona: Persona):
    replies = replies_of([Share(persona)], "rank")
    assert {reply.text for reply in replies} == {"Cats sleep.", "my House?", "who do they do?"}
    assert all(reply.score == reply.relevance for reply in replies)


def test_generated_texts_use_the_speakers_capitals(persona: Persona):
    text = " ".join(reply.text[1:] for reply in replies_of([Share(persona)], "finetune", seed=3))
    assert "Cats" in text
    assert "cats" not in text


def test_finetune_responds_with_the_tuned_model(persona: Persona):
    expected = respond(persona.model, CONTEXT, 5, stream=RandomStream(1), generation=GENERATION)
    replies = [
        Response(reply.text, reply.score, reply.relevance, reply.fluency)
        for reply in replies_of([Share(persona)], "finetune")
    ]
    assert replies[:5] == expected


def test_hybrid_scores_quotations_by_relevance_only(persona: Persona, chat_model: ChatModel):
    replies = replies_of([Share(persona)], "hybrid")
    assert [reply for reply in replies if reply.kind == "generated"] == replies_of([Share(persona)], "finetune")
    quotations = [reply for reply in replies if reply.kind == "quotation"]
    assert quotations
    for quotation in quotations:
        row = chat_model.backward_row(CONTEXT, quotation.text)
        assert quotation.relevance == pytest.approx(chat_model.log_backward([row])[0], abs=1e-4)
        assert (quotation.score, quotation.fluency) == (quotation.relevance, 0.0)
    led = replies_of([Share(persona)], "hybrid", lead=50.0)
    assert led[0].kind == "quotation"
    assert led[0].score == pytest.approx(led[0].relevance + 50)


def test_hybrid_by_likelihood_scores_quotations_like_drawn_replies(persona: Persona):
    """A quotation of the words of a drawn reply has its score, bonus included."""
    drawn = replies_of([Share(persona)], "finetune")[0]
    quoting = replace(persona, quotations=Quotations.of(persona.base, [drawn.text], [("why?",)]))
    styling = Styling("hybrid", lead=50.0, likelihood=True)
    replies = styled([Share(quoting)], CONTEXT, 99, stream=RandomStream(2), styling=styling, generation=GENERATION)
    quotation = next(reply for reply in replies if reply.text == drawn.text)
    assert quotation.relevance == pytest.approx(drawn.relevance, abs=1e-4)
    assert quotation.score == pytest.approx(
        quotation.relevance + quotation.fluency + math.log(2) * (len(persona.base.target(drawn.text)) - 1), abs=1e-4
    )


@pytest.mark.parametrize("style", STYLES)
def test_a_mix_with_one_weight_above_zero_is_that_persona(persona: Persona, other: Persona, style: str):
    alone = replies_of([Share(persona)], style)
    assert replies_of([Share(persona, 1.0), Share(other, 0.0)], style) == alone
    assert replies_of([Share(other, 0.0), Share(persona, 7.0)], style) == alone
    assert replies_of([Share(other)], style) != alone


def test_a_mix_quotes_both_personas_by_weight(persona: Persona, other: Persona):
    by_text = {reply.text: reply for reply in replies_of([Share(persona, 3.0), Share(other, 1.0)], "rank")}
    assert {reply.persona for reply in by_text.values()} == {"sailor", "gardener"}
    for share, name in ((0.75, "Cats sleep."), (0.25, "They are my cats.")):
        assert by_text[name].score == pytest.approx(by_text[name].relevance + np.log(share), abs=1e-5)
    mixed = replies_of([Share(persona, 3.0), Share(other, 1.0)], "finetune")
    assert {reply.persona for reply in mixed} == {"sailor+gardener"}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("context", [["zyzzyva"], ["?!"], ["word " * 10_000]])
def test_odd_contexts_get_finite_scores(persona: Persona, style: str, context: list[str]):
    assert all(np.isfinite(reply.score) for reply in replies_of([Share(persona)], style, 3, context))


def test_invalid_requests_are_refused(persona: Persona, other: Persona):
    with pytest.raises(ValueError, match="at least one reply, but got 0"):
        replies_of([Share(persona)], n=0)
    with pytest.raises(ValueError, match="Expected a turn to reply to, but got none"):
        replies_of([Share(persona)], context=[" "])
    for shares in ([], [Share(persona, 0.0)], [Share(persona, 1.0), Share(other, -0.5)], [Share(persona, np.inf)]):
        with pytest.raises(ValueError, match="Expected personas with weights of 0 or more"):
            replies_of(shares)
    stranger = replace(other, config=PersonaConfig("stranger", "0"))
    with pytest.raises(ValueError, match="Expected personas of one base to mix, but got 2 bases"):
        replies_of([Share(persona), Share(stranger)])
    with pytest.raises(ValueError, match="Expected rank, multiply, finetune or hybrid, but got 'shout'"):
        Styling("shout")


@pytest.mark.parametrize("style", STYLES)
def test_a_deadline_stops_the_work(persona: Persona, style: str):
    with pytest.raises(TimeoutError):
        replies_of([Share(persona)], style, check=Mock(side_effect=TimeoutError))
