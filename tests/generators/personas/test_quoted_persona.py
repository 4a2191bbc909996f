import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from generators.conversation.decoding import Sampling
from generators.conversation.random_stream import RandomStream
from generators.inference.activations import log_softmax
from generators.personas.persona_replies import Share, Styling, styled
from generators.personas.quotations import quoted
from generators.personas.quoted_persona import QuotedPersona
from generators.pretrained.opening import open_persona
from generators.pretrained.transformer_model import PretrainedModel
from generators.training.persona_training import pseudo_contexts

Folder = Callable[..., Path]
SENTENCES = ["They are tired.", "In the house.", "My cats do.", "Why do they?", "Who sleeps?"]


@pytest.fixture
def base(transformer_folder: Folder) -> PretrainedModel:
    return PretrainedModel.load(transformer_folder("gpt2"))


@pytest.fixture
def persona(base: PretrainedModel) -> QuotedPersona:
    return QuotedPersona.of("sailor", base, SENTENCES)


def quotations_of(persona: QuotedPersona, style: str):
    return styled([Share(persona)], ["who?"], 3, stream=RandomStream(1), styling=Styling(style))


def test_the_most_relevant_quotations_come_first(persona: QuotedPersona):
    relevance = persona.base.log_backward([persona.base.backward_row(["who?"], sentence) for sentence in SENTENCES])
    best = [SENTENCES[index] for index in np.argsort(-relevance)[:3]]
    quotations = quotations_of(persona, "rank")
    assert [quotation.text for quotation in quotations] == best
    assert [quotation.score for quotation in quotations] == pytest.approx(sorted(relevance, reverse=True)[:3], abs=1e-3)
    assert {(quotation.kind, quotation.persona) for quotation in quotations} == {("quotation", "sailor")}


def test_gists_are_hidden_states_before_the_first_token_of_an_answer(persona: QuotedPersona):
    """A shortlist by gists has the sentence whose prompt gives the question the highest first-step probability."""
    base = persona.base
    first = base.backward_row(["who?"], "")[1][:-1]
    relevance = []
    for sentence in SENTENCES:
        logits, _ = base.forward.step(base.start_state([sentence], 1), np.array([2]))
        relevance.append(float(log_softmax(logits)[0, first].sum()))
    (best,) = quoted(base, persona.quotations, ["who?"], 1, shortlist=1)
    assert best.index == int(np.argmax(relevance))


def test_gists_can_use_drawn_contexts(base: PretrainedModel):
    contexts = pseudo_contexts(base, base.backward, SENTENCES, 2, stream=RandomStream(2), sampling=Sampling(), length=5)
    assert [len(texts) for texts in contexts] == [2] * 5
    made = QuotedPersona.of("sailor", base, SENTENCES, contexts)
    assert np.isfinite(made.quotations.gists).all()
    assert not np.array_equal(made.quotations.gists, QuotedPersona.of("sailor", base, SENTENCES).quotations.gists)


def test_styles_other_than_quotations_are_refused(persona: QuotedPersona):
    for style in ("multiply", "finetune", "hybrid"):
        with pytest.raises(ValueError, match="sailor can only be quoted, since its base is a model of transformers"):
            quotations_of(persona, style)


def test_a_saved_persona_checks_its_base(persona: QuotedPersona, transformer_folder: Folder, tmp_path: Path):
    persona.save(tmp_path, card="# Sailor\n")
    again = open_persona(tmp_path, persona.base)
    assert isinstance(again, QuotedPersona)
    assert quotations_of(again, "rank") == quotations_of(persona, "rank")
    with pytest.raises(ValueError, match="Expected the model that sailor was made for"):
        QuotedPersona.load(tmp_path, PretrainedModel.load(transformer_folder("llama")))
    with pytest.raises(ValueError, match="Expected sentences to quote, but got none"):
        QuotedPersona.of("sailor", persona.base, [])
    with pytest.raises(ValueError, match="Expected a persona's name"):
        QuotedPersona.of("../sailor", persona.base, SENTENCES)
    assert math.isclose(again.quotations.prior[0], persona.quotations.prior[0])
