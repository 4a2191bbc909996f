from dataclasses import replace

import pytest

from generators.conversation.chat_model import ChatModel
from generators.conversation.ranking import GenerationConfig
from generators.personas.persona import Persona
from generators.personas.persona_decoder import finetuned_decoder, multiplied_decoder
from qa_bot.answering.models.personas import SHIPPED
from qa_lab.studies.speaker_gain import speaker_gain

QUESTIONS = ["Should we go to Mars?", "What do you do all day?"]
EIGHT = GenerationConfig(8)


@pytest.fixture(scope="module")
def base() -> ChatModel:
    return ChatModel.load(SHIPPED / "base")


@pytest.fixture(scope="module", params=["captain", "gardener"])
def persona(request: pytest.FixtureRequest, base: ChatModel) -> Persona:
    return Persona.load(SHIPPED / request.param, base)


def test_a_speaker_that_is_the_base_gains_nothing(persona: Persona, base: ChatModel):
    same = replace(persona, speaker=base.language)
    assert speaker_gain(same, finetuned_decoder(persona), QUESTIONS, generation=EIGHT, seed=1) == 0


def test_multiplied_replies_of_the_shipped_voices_sound_like_the_speaker(persona: Persona, base: ChatModel):
    multiply = multiplied_decoder(persona)
    gain = speaker_gain(persona, multiply, QUESTIONS, generation=EIGHT, seed=1)
    without = replace(multiply, acceptor=base.acceptor)
    assert gain > 0.2 > speaker_gain(persona, without, QUESTIONS, generation=EIGHT, seed=1)
