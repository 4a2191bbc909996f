from dataclasses import replace

import numpy as np
import pytest
import torch

from qa_core.networks.checkpoints import save_model
from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_core.networks.translator import TranslatorConfig
from qa_core.training.likelihood_training import LikelihoodConfig, optimiser
from qa_core.training.loop import Training, seed_everything
from rankers.answer_selection.encoder_decoder import (
    EncoderDecoderConfig,
    EncoderDecoderRanker,
    normalised,
    train_encoder_decoder,
)

TINY = EncoderDecoderConfig(
    Seq2SeqConfig(60, dimension=12, hidden=12, layers=1, dropout=0.0, uniform=0.3), max_question=6, max_answer=8
)
NAMES = ["ann", "bob", "cid", "dan", "eve", "fay"]
PAIRS = [(f"where is {name}", f"the house of {name}") for name in NAMES]
ODD = ["", "zzz qqq", "😀 😀", "مرحبا بالعالم", "the " * 100_000]


def untrained(**changes):
    torch.manual_seed(0)
    return EncoderDecoderRanker.of([text for pair in PAIRS for text in pair], replace(TINY, **changes))


def trained(**changes):
    seed_everything(0)
    ranker = untrained(**changes)
    config = LikelihoodConfig(batch=6, epochs=60, learning_rate=0.03)
    training = Training(ranker.model, optimiser(ranker.translator, config), seed=0)
    for _ in train_encoder_decoder(training, ranker, PAIRS, config):
        pass
    ranker.model.eval()
    return ranker


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


def test_it_learns_which_answer_belongs_to_which_question():
    ranker = trained()
    for question, answer in PAIRS:
        scores = ranker.score([(question, other) for _, other in PAIRS])
        assert PAIRS[int(scores.argmax())] == (question, answer)


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


@pytest.mark.parametrize("direction", ["backward", "forward", "prior"])
def test_scores_do_not_depend_on_batch_order_or_padding(direction, assert_independent):
    ranker = untrained(direction=direction)
    pairs = [*PAIRS, *(pair for text in ODD for pair in ((PAIRS[0][0], text), (text, PAIRS[0][1]), (text, text)))]
    assert_independent(ranker, pairs)


def test_a_hundred_candidates_are_scored_in_one_call():
    ranker = untrained()
    pairs = [("where is ann", f"the house of {NAMES[n % 6]} {'of ' * (n % 7)}") for n in range(100)]
    scores = ranker.score(pairs)
    assert scores.shape == (100,)
    np.testing.assert_allclose(scores[:1], ranker.score(pairs[:1]), rtol=1e-4)


def test_a_saved_model_scores_the_same(tmp_path):
    ranker = untrained(direction="forward")
    ranker.save(tmp_path / "model", card="")
    loaded = EncoderDecoderRanker.load(tmp_path / "model")
    assert loaded.config == ranker.config
    np.testing.assert_array_equal(loaded.score(PAIRS), ranker.score(PAIRS))


def test_nan_other_words_and_other_models_are_refused(tmp_path):
    from safetensors.numpy import load_file, save_file

    ranker, folder = untrained(), tmp_path / "model"
    ranker.save(folder, card="")
    tokens = ranker.translator.vocabulary.tokens
    path = folder / "model.safetensors"
    weights = load_file(path)
    weights["output.bias"][0] = np.nan
    save_file(weights, path)
    with pytest.raises(ValueError, match=r"NaN or infinity in .output\.bias"):
        EncoderDecoderRanker.load(folder)
    (folder / "vocabulary.txt").write_text("".join(f"{word}\n" for word in reversed(tokens)))
    with pytest.raises(ValueError, match=f"Expected {len(tokens)} words that begin with <pad>"):
        EncoderDecoderRanker.load(folder)
    shape = TranslatorConfig(ranker.config.network)
    save_model(folder, config=shape, weights=ranker.model.state_dict(), vocabulary=tokens, card="")
    with pytest.raises(ValueError, match="kind EncoderDecoderConfig, but got 'TranslatorConfig'"):
        EncoderDecoderRanker.load(folder)
