import pytest
import torch

from generators.conversation.acceptor import Acceptor
from generators.conversation.blending import JointState
from generators.conversation.decoding import Sampling
from generators.conversation.padded_batches import tensors
from generators.conversation.ranking import GenerationConfig, candidates
from generators.personas.persona import Persona
from generators.personas.persona_decoder import EnsembleAcceptor, draw, finetuned, merged, multiplied_voice
from qa_core.networks.decoder_types import END_ID, START_ID

CONTEXT = ["where do cats sleep?"]


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(1)


def told(voice, persona: Persona) -> list[float]:
    """Probabilities of the first word."""
    state = voice.start(CONTEXT, 2, ())
    with torch.no_grad():
        logits, state = voice.step(state, torch.full((2,), START_ID))
    assert isinstance(state.select(torch.tensor([0, 0, 1])), type(state))
    return logits.softmax(1)[1].tolist()


def base_first(persona: Persona) -> torch.Tensor:
    """log p of the first word by the base's forward model, as its likelihood has it."""
    source, target = persona.base.forward_row(CONTEXT, "")
    with torch.no_grad():
        return persona.base.forward.token_distributions(
            *tensors([source], torch.device("cpu")), *tensors([target], torch.device("cpu"))
        )[0]


def test_multiplied_is_the_product_of_both_models(persona: Persona):
    base = base_first(persona)
    with torch.no_grad():
        speaker = persona.speaker.token_distributions(torch.tensor([[END_ID]]), torch.tensor([[True]]))[0]
    expected = (base + 0.5 * speaker).softmax(0)  # weights of the fixture
    assert told(multiplied_voice(persona), persona) == pytest.approx(expected.tolist(), abs=1e-6)


def test_finetuned_is_the_tuned_model(persona: Persona):
    shift = persona.forward.output.bias - persona.base.forward.output.bias  # all that was tuned in the fixture
    expected = (base_first(persona) + shift).softmax(0)
    assert told(finetuned(persona), persona) == pytest.approx(expected.tolist(), abs=1e-6)


def test_merged_voices_are_mixed_by_weight(persona: Persona):
    voices = [finetuned(persona), multiplied_voice(persona)]
    one, other = (torch.tensor(told(voice, persona)) for voice in voices)
    assert told(merged(voices, [0.75, 0.25]), persona) == pytest.approx((0.75 * one + 0.25 * other).tolist(), abs=1e-6)
    assert merged(voices[:1], [1.0]) is voices[0]


def test_a_jury_by_hand():
    members = [Acceptor(), Acceptor()]
    seen = torch.randn(4, 2, 3)
    with torch.no_grad():
        first, second = (member(seen).exp() for member in members)
        torch.testing.assert_close(EnsembleAcceptor(members, [0.75, 0.25])(seen).exp(), 0.75 * first + 0.25 * second)
        torch.testing.assert_close(EnsembleAcceptor(members, [1.0, 0.0])(seen), members[0](seen))


@pytest.mark.parametrize("method", ["selective", "vanilla"])
def test_drawing_is_that_of_the_tuned_model(persona: Persona, method: str):
    generation = GenerationConfig(candidates=20, length=6, method=method, sampling=Sampling(shortest=2))
    drawn = draw(persona.base, finetuned(persona), CONTEXT, generator=seeded(), generation=generation)
    assert drawn == candidates(persona.model, CONTEXT, generator=seeded(), generation=generation)
    blended = merged([multiplied_voice(persona), finetuned(persona)], [0.5, 0.5])
    found = draw(persona.base, blended, CONTEXT, generator=seeded(), generation=generation)
    assert len(found) == 20
    assert isinstance(blended.start(CONTEXT, 2, ()), JointState)
