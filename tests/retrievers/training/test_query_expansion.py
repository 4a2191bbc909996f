from dataclasses import replace
from pathlib import Path

import pytest

from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_core.networks.translator import Translator
from qa_core.training.likelihood_training import LikelihoodConfig, optimiser
from qa_core.training.loop import Training, seed_everything
from retrievers.query_expander import ExpansionConfig, QueryExpander
from retrievers.training.examples import Examples, Pair
from retrievers.training.query_expansion import (
    PAPER,
    ExpanderConfig,
    expanded,
    expander_of,
    train_expander,
)

CONFIG = ExpanderConfig(
    Seq2SeqConfig(100, dimension=16, hidden=32, layers=1, dropout=0.0, uniform=0.5),
    minimum=1,
    training=LikelihoodConfig(batch=8, epochs=60, learning_rate=0.02),
    expansion=ExpansionConfig(beam=2, length=5, terms=3, weight=0.5),
)


def test_a_question_is_expanded_by_words_of_its_answer(toy: Examples):
    seed_everything(1)
    translator = expander_of(toy, CONFIG)
    training = Training(translator.model, optimiser(translator, CONFIG.training), seed=1)
    for _ in train_expander(training, translator, toy, CONFIG):
        pass
    cats, bees, nothing = expanded(translator, ["do cats eat", "do bees eat", ""], CONFIG.expansion)
    for weighted, food in ((cats, "mice"), (bees, "nectar")):
        shares = dict(weighted)
        # half of the three words of the question and half of the two of the answer; `they` is a stop word
        assert [shares[word] for word in ("do", "eat")] == pytest.approx([1 / 6, 1 / 6])
        assert [shares[word] for word in ("like", food)] == pytest.approx([1 / 4, 1 / 4], abs=0.02)
    assert sum(share for _, share in nothing) == pytest.approx(1.0)  # the likeliest answer of all


def test_the_paper_s_sizes():
    assert (PAPER.network.layers, PAPER.network.hidden, PAPER.network.vocabulary) == (2, 500, 50_000)
    assert (PAPER.training.batch, PAPER.training.learning_rate, PAPER.training.clip) == (200, 0.002, 5.0)


def test_held_out_pairs_decide_when_to_stop(toy: Examples):
    config = replace(CONFIG, training=replace(CONFIG.training, epochs=30, patience=1))
    seed_everything(1)
    translator = expander_of(toy, config)
    training = Training(translator.model, optimiser(translator, config.training), seed=1)
    other = Examples.of([Pair("do cats eat", "grass"), Pair("do bees eat", "honey")])
    list(train_expander(training, translator, toy, config, held_out=other))
    assert training.best is not None
    assert training.epoch < 30


def test_too_rare_words_are_refused(toy: Examples):
    with pytest.raises(ValueError, match="Expected words beside the 4 special ones"):
        expander_of(toy, replace(CONFIG, minimum=100))


def test_a_saved_expander_generates_the_same_answers_and_stops_when_told(toy: Examples, tmp_path: Path):
    seed_everything(1)
    expander = QueryExpander(expander_of(toy, CONFIG), CONFIG.expansion)
    expander.save(tmp_path / "expander", card="# Card\n")
    loaded = QueryExpander.load(tmp_path / "expander")
    assert loaded.config == CONFIG.expansion
    assert loaded.likely_answers("do cats eat") == expander.likely_answers("do cats eat")
    calls = []

    def stop() -> None:
        calls.append("word")
        if len(calls) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        loaded.likely_answers("do cats eat", check=stop)
    with pytest.raises(ValueError, match="Expected"):
        Translator.load(tmp_path / "expander")  # of another kind
