import numpy as np
import pytest

from generators.conversation.blending import JointState
from generators.conversation.decoding import Sampling
from generators.conversation.padded_batches import columns
from generators.conversation.random_stream import RandomStream
from generators.conversation.ranking import GenerationConfig, candidates
from generators.inference.activations import log_softmax, softmax
from generators.personas.persona import Persona
from generators.personas.persona_decoder import EnsembleAcceptor, draw, finetuned_decoder, merged, multiplied_decoder
from qa_core.networks.decoder_types import START_ID

CONTEXT = ["where do cats sleep?"]


def seeded() -> RandomStream:
    return RandomStream(1)


def first_word(decoder, persona: Persona) -> list[float]:
    """Probabilities of the first word."""
    state = decoder.start(CONTEXT, 2, ())
    logits, state = decoder.step(state, np.full(2, START_ID))
    assert isinstance(state.select(np.array([0, 0, 1])), type(state))
    return softmax(logits)[1].tolist()


def base_first(persona: Persona) -> np.ndarray:
    """log p of the first word by the base's forward model."""
    z = persona.base.forward.before_softmax(*columns([persona.base.forward_row(CONTEXT, "")]))
    return log_softmax(persona.base.forward.output.logits(z))[0]


def test_the_multiplied_decoder_is_the_product_of_both_models(persona: Persona):
    base = base_first(persona)
    logits, _ = persona.speaker.step(persona.speaker.start(1), np.array([START_ID]))
    expected = softmax(base + 0.5 * log_softmax(logits)[0])  # weights of the fixture
    assert first_word(multiplied_decoder(persona), persona) == pytest.approx(expected.tolist(), abs=1e-6)
    assert multiplied_decoder(persona).acceptor is persona.product_acceptor


def test_the_finetuned_decoder_is_the_tuned_model(persona: Persona):
    shift = persona.forward.output.bias - persona.base.forward.output.bias  # the fixture tunes nothing else
    expected = softmax(base_first(persona) + shift)
    assert first_word(finetuned_decoder(persona), persona) == pytest.approx(expected.tolist(), abs=1e-6)


def test_merged_decoders_are_mixed_by_weight(persona: Persona):
    decoders = [finetuned_decoder(persona), multiplied_decoder(persona)]
    one, other = (np.array(first_word(decoder, persona)) for decoder in decoders)
    assert first_word(merged(decoders, [0.75, 0.25]), persona) == pytest.approx(
        (0.75 * one + 0.25 * other).tolist(), abs=1e-6
    )
    assert merged(decoders[:1], [1.0]) is decoders[0]


def test_an_ensemble_of_acceptors_by_hand():
    features, rng = np.zeros((4, 2, 3), dtype=np.float32), np.random.default_rng(1)
    answers = [np.log(rng.random((4, 2))).astype(np.float32) for _ in range(2)]
    members = [lambda _, answer=answer: answer for answer in answers]
    first, second = map(np.exp, answers)
    both = EnsembleAcceptor(members, [0.75, 0.25])(features)
    np.testing.assert_allclose(np.exp(both), 0.75 * first + 0.25 * second, rtol=1e-5)
    np.testing.assert_allclose(EnsembleAcceptor(members, [1.0, 0.0])(features), answers[0], rtol=1e-5)


@pytest.mark.parametrize("method", ["selective", "vanilla"])
def test_the_finetuned_decoder_draws_like_the_tuned_model(persona: Persona, method: str):
    generation = GenerationConfig(candidates=20, length=6, method=method, sampling=Sampling(shortest=2))
    drawn = draw(persona.base, finetuned_decoder(persona), CONTEXT, stream=seeded(), generation=generation)
    assert drawn == candidates(persona.model, CONTEXT, stream=seeded(), generation=generation)
    blended = merged([multiplied_decoder(persona), finetuned_decoder(persona)], [0.5, 0.5])
    drawn = draw(persona.base, blended, CONTEXT, stream=seeded(), generation=generation)
    assert len(drawn) == 20
    assert isinstance(blended.start(CONTEXT, 2, ()), JointState)
