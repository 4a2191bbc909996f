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


def said(persona: QuotedPersona, style: str):
    return styled([Share(persona)], ["who?"], 3, stream=RandomStream(1), styling=Styling(style))


def test_the_likeliest_quotations_to_answer_come_first(persona: QuotedPersona):
    relevance = persona.base.log_backward([persona.base.backward_row(["who?"], each) for each in SENTENCES])
    best = [SENTENCES[place] for place in np.argsort(-relevance)[:3]]
    found = said(persona, "rank")
    assert [each.text for each in found] == best
    assert [each.score for each in found] == pytest.approx(sorted(relevance, reverse=True)[:3], abs=1e-3)
    assert {(each.kind, each.persona) for each in found} == {("quotation", "sailor")}


def test_gists_are_where_an_answer_would_begin(persona: QuotedPersona):
    """A shortlist by them finds what the last layer makes of each sentence's prompt."""
    base = persona.base
    first = base.backward_row(["who?"], "")[1][:-1]
    told = []
    for sentence in SENTENCES:
        logits, _ = base.forward.step(base.start_state([sentence], 1), np.array([2]))
        told.append(float(log_softmax(logits)[0, first].sum()))
    (best,) = quoted(base, persona.quotations, ["who?"], 1, shortlist=1)
    assert best.index == int(np.argmax(told))


def test_contexts_may_be_drawn_for_it(base: PretrainedModel):
    contexts = pseudo_contexts(base, base.backward, SENTENCES, 2, stream=RandomStream(2), sampling=Sampling(), length=5)
    assert [len(each) for each in contexts] == [2] * 5
    made = QuotedPersona.of("sailor", base, SENTENCES, contexts)
    assert np.isfinite(made.quotations.gists).all()
    assert not np.array_equal(made.quotations.gists, QuotedPersona.of("sailor", base, SENTENCES).quotations.gists)


def test_only_quotations_can_be_had(persona: QuotedPersona):
    for style in ("multiply", "finetune", "hybrid"):
        with pytest.raises(ValueError, match="sailor can only be quoted, since its base is a model of transformers"):
            said(persona, style)


def test_it_lives_in_a_folder_and_knows_its_base(persona: QuotedPersona, transformer_folder: Folder, tmp_path: Path):
    persona.save(tmp_path, card="# Sailor\n")
    again = open_persona(tmp_path, persona.base)
    assert isinstance(again, QuotedPersona)
    assert said(again, "rank") == said(persona, "rank")
    with pytest.raises(ValueError, match="Expected the model that sailor was made for"):
        QuotedPersona.load(tmp_path, PretrainedModel.load(transformer_folder("llama")))
    with pytest.raises(ValueError, match="Expected sentences to quote, but got none"):
        QuotedPersona.of("sailor", persona.base, [])
    with pytest.raises(ValueError, match="Expected a persona's name"):
        QuotedPersona.of("../sailor", persona.base, SENTENCES)
    assert math.isclose(again.quotations.prior[0], persona.quotations.prior[0])
