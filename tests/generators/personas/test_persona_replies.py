from dataclasses import replace

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


def said(shares, style: str = "hybrid", n: int = 30, context=CONTEXT, seed: int = 1, lead: float = 0.0, **options):
    stream = RandomStream(seed)
    return styled(
        shares, context, n, stream=stream, styling=Styling(style, lead=lead), generation=GENERATION, **options
    )


@pytest.mark.parametrize("style", STYLES)
def test_replies_are_distinct_and_the_best_come_first(persona: Persona, style: str):
    found = said([Share(persona)], style)
    assert len(found) > 2
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert len({each.text.casefold() for each in found}) == len(found)
    assert {each.persona for each in found} == {"sailor"}
    kinds = {"rank": {"quotation"}, "hybrid": {"quotation", "generated"}}.get(style, {"generated"})
    assert {each.kind for each in found} == kinds
    assert said([Share(persona)], style, n=2) == found[:2]


def test_quotations_stand_as_they_were_said(persona: Persona):
    found = said([Share(persona)], "rank")
    assert {each.text for each in found} == {"Cats sleep.", "my House?", "who do they do?"}
    assert all(each.score == each.relevance for each in found)


def test_generated_texts_have_the_capitals_of_the_speaker(persona: Persona):
    told = " ".join(each.text[1:] for each in said([Share(persona)], "finetune", seed=3))
    assert "Cats" in told
    assert "cats" not in told


def test_finetune_is_the_base_with_the_tuned_model(persona: Persona):
    expected = respond(persona.model, CONTEXT, 5, stream=RandomStream(1), generation=GENERATION)
    found = [
        Response(each.text, each.score, each.relevance, each.fluency) for each in said([Share(persona)], "finetune")
    ]
    assert found[:5] == expected


def test_the_hybrid_scores_quotations_by_relevance_alone(persona: Persona, chat_model: ChatModel):
    found = said([Share(persona)], "hybrid")
    assert [each for each in found if each.kind == "generated"] == said([Share(persona)], "finetune")
    quotations = [each for each in found if each.kind == "quotation"]
    assert quotations
    for each in quotations:
        row = chat_model.backward_row(CONTEXT, each.text)
        assert each.relevance == pytest.approx(chat_model.log_backward([row])[0], abs=1e-4)
        assert (each.score, each.fluency) == (each.relevance, 0.0)
    led = said([Share(persona)], "hybrid", lead=50.0)
    assert led[0].kind == "quotation"
    assert led[0].score == pytest.approx(led[0].relevance + 50)


@pytest.mark.parametrize("style", STYLES)
def test_a_mix_of_one_and_nothing_is_that_one(persona: Persona, other: Persona, style: str):
    alone = said([Share(persona)], style)
    assert said([Share(persona, 1.0), Share(other, 0.0)], style) == alone
    assert said([Share(other, 0.0), Share(persona, 7.0)], style) == alone
    assert said([Share(other)], style) != alone


def test_a_mix_quotes_both_by_weight(persona: Persona, other: Persona):
    found = {each.text: each for each in said([Share(persona, 3.0), Share(other, 1.0)], "rank")}
    assert {each.persona for each in found.values()} == {"sailor", "gardener"}
    for share, name in ((0.75, "Cats sleep."), (0.25, "They are my cats.")):
        assert found[name].score == pytest.approx(found[name].relevance + np.log(share), abs=1e-5)
    mixed = said([Share(persona, 3.0), Share(other, 1.0)], "finetune")
    assert {each.persona for each in mixed} == {"sailor+gardener"}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("context", [["zyzzyva"], ["?!"], ["word " * 10_000]])
def test_nothing_is_too_odd_to_reply_to(persona: Persona, style: str, context: list[str]):
    assert all(np.isfinite(each.score) for each in said([Share(persona)], style, 3, context))


def test_what_cannot_be_asked_is_refused(persona: Persona, other: Persona):
    with pytest.raises(ValueError, match="at least one reply, but got 0"):
        said([Share(persona)], n=0)
    with pytest.raises(ValueError, match="Expected a turn to reply to, but got none"):
        said([Share(persona)], context=[" "])
    for shares in ([], [Share(persona, 0.0)], [Share(persona, 1.0), Share(other, -0.5)], [Share(persona, np.inf)]):
        with pytest.raises(ValueError, match="Expected personas with weights of 0 or more"):
            said(shares)
    stranger = replace(other, config=PersonaConfig("stranger", "0"))
    with pytest.raises(ValueError, match="Expected personas of one base to mix, but got 2 bases"):
        said([Share(persona), Share(stranger)])
    with pytest.raises(ValueError, match="Expected rank, multiply, finetune or hybrid, but got 'shout'"):
        Styling("shout")


@pytest.mark.parametrize("style", STYLES)
def test_a_deadline_ends_the_work(persona: Persona, style: str):
    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        said([Share(persona)], style, check=check)
