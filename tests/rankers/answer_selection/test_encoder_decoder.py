from dataclasses import replace

import numpy as np
import pytest
import torch

from qa_core.networks.decoder_types import Seq2SeqConfig
from rankers.answer_selection.encoder_decoder import (
    EncoderDecoderConfig,
    EncoderDecoderRanker,
    normalised,
)

TINY = EncoderDecoderConfig(
    Seq2SeqConfig(60, dimension=12, hidden=12, layers=1, dropout=0.0, uniform=0.3), max_question=6, max_answer=8
)
NAMES = ["ann", "bob", "cid", "dan", "eve", "fay"]
PAIRS = [(f"where is {name}", f"the house of {name}") for name in NAMES]


def untrained(**changes):
    torch.manual_seed(0)
    return EncoderDecoderRanker.of([text for pair in PAIRS for text in pair], replace(TINY, **changes))


def test_a_score_is_minus_the_logarithm_of_the_questions_perplexity():
    ranker = untrained()
    questions, answers = zip(*PAIRS, strict=True)
    perplexities = ranker.translator.perplexities(answers, questions)
    np.testing.assert_allclose(ranker.score(PAIRS), -np.log(perplexities), rtol=1e-5)


def test_likelihoods_are_sums_of_the_decoders_steps():
    ranker = untrained()
    question, answer = PAIRS[0]
    (source,), (target,) = ranker.translator.sources([answer]), ranker.translator.targets([question])
    ranker.model.eval()
    with torch.no_grad():
        state = ranker.model.start(torch.tensor(source)[None], torch.ones(1, len(source), dtype=torch.bool))
        total, last = 0.0, 2  # <s>
        for token in target.tolist():
            logits, state = ranker.model.step(state, torch.tensor([last]))
            total += logits.log_softmax(-1)[0, token].item()
            last = token
    totals, lengths = ranker.log_likelihoods([PAIRS[0]])
    assert totals[0] == pytest.approx(total, rel=1e-5)
    assert lengths[0] == 4  # where is ann </s>
    assert ranker.score([PAIRS[0]])[0] == pytest.approx(total / 4, rel=1e-5)


def test_sources_and_targets_of_each_direction():
    forward, prior = untrained(direction="forward"), untrained(direction="prior")
    assert forward.columns([("q", "a")]) == [("q", "a")]
    assert prior.columns([("q", "a"), ("r", "a")]) == [("", "a")]
    assert untrained().columns([("q", "a")]) == [("a", "q")]
    scores = normalised(forward, prior, PAIRS)
    np.testing.assert_allclose(scores, forward.log_likelihoods(PAIRS)[0] - prior.log_likelihoods(PAIRS)[0])
    with pytest.raises(ValueError, match="got forward and backward"):
        normalised(forward, untrained(), PAIRS)


def test_a_prior_ignores_the_question():
    prior = untrained(direction="prior")
    scores = prior.score([("where is ann", "the house"), ("who", "the house"), ("", "the house")])
    assert scores.tolist() == [scores[0]] * 3
