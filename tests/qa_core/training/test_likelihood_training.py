import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_core.networks.translator import Translator, TranslatorConfig
from qa_core.training.likelihood_training import (
    LikelihoodConfig,
    length_batches,
    optimiser,
    perplexity,
    train_translator,
)
from qa_core.training.loop import Training, seed_everything

REVERSED = [(" ".join(text), " ".join(reversed(text))) for n in (1, 2, 3) for text in product("abc", repeat=n)]
SHAPE = TranslatorConfig(Seq2SeqConfig(100, dimension=16, hidden=32, layers=1, dropout=0.0, uniform=0.3))
CONFIG = LikelihoodConfig(batch=13, epochs=20, learning_rate=0.02)


def fresh(config: LikelihoodConfig = CONFIG, shape: TranslatorConfig = SHAPE) -> tuple[Translator, Training]:
    seed_everything(1)
    translator = Translator.of(["a b c"], shape)
    return translator, Training(translator.model, optimiser(translator, config), seed=1)


def trained(config: LikelihoodConfig = CONFIG, **options) -> tuple[Translator, Training]:
    translator, training = fresh(config)
    for _ in train_translator(training, translator, REVERSED, config, **options):
        pass
    return translator, training


def test_it_learns_to_reverse():
    translator, _ = trained()
    assert perplexity(translator, REVERSED) < 1.05
    results = translator.generated([source for source, _ in REVERSED], size=3, length=5)
    assert [" ".join(item[0].words) for item in results] == [target for _, target in REVERSED]


def test_perplexity_of_equal_chances_is_their_number():
    translator, _ = fresh()
    with torch.no_grad():
        for parameter in translator.model.parameters():
            parameter.zero_()
    assert perplexity(translator, REVERSED) == pytest.approx(len(translator.vocabulary))


def test_the_lowest_perplexity_is_kept():
    held_out = [("a", "b"), ("b", "c")]  # nothing that reversing would teach
    translator, training = trained(replace(CONFIG, epochs=12, patience=2), held_out=held_out)
    results = [progress.dev for progress in training.history if progress.dev is not None]
    assert perplexity(translator, held_out) == pytest.approx(min(results), rel=1e-4)
    assert len(results) < 12


def test_a_resumed_run_ends_the_same(assert_resumes):
    config = replace(CONFIG, epochs=3)

    def run(translator, training):
        return train_translator(training, translator, REVERSED, config, report_every=1)

    assert_resumes(lambda: fresh(config), run, step=4)


def test_a_batch_larger_than_the_data_and_an_empty_source():
    config = replace(CONFIG, batch=1000, epochs=2)
    translator, training = fresh(config)
    list(train_translator(training, translator, [("", "a"), ("b", "")], config))
    assert training.step == 2


@pytest.mark.parametrize("pairs", [[], [("a", ""), ("b", "?!")]])
def test_nothing_to_learn(pairs):
    translator, training = fresh()
    with pytest.raises(ValueError, match=f"Expected pairs with a target, but got none among {len(pairs)}"):
        list(train_translator(training, translator, pairs, CONFIG))


def test_no_pairs_to_measure():
    with pytest.raises(ValueError, match="Expected pairs to measure the perplexity of"):
        perplexity(fresh()[0], [])


def test_every_pair_is_in_one_batch_of_similar_lengths():
    lengths = [index % 7 for index in range(103)]
    batches = list(length_batches(lengths, np.random.default_rng(1), size=10))
    assert sorted(int(index) for batch in batches for index in batch) == list(range(103))
    assert all(max(lengths[i] for i in batch) - min(lengths[i] for i in batch) <= 1 for batch in batches)
    assert sorted(map(len, batches)) == [3, *[10] * 10]


def test_the_loss_is_a_mean_over_tokens():
    config = replace(CONFIG, epochs=1, batch=1000)
    translator, training = fresh(config)
    before = perplexity(translator, REVERSED)
    (progress,) = train_translator(training, translator, REVERSED, config)
    assert progress.loss == pytest.approx(math.log(before), rel=1e-5)
