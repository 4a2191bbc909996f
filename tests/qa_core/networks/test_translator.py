from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_core.networks.translator import Translator, TranslatorConfig
from qa_core.vectors.word_vectors import WordVectors

TEXTS = ["cats hunt mice", "Cats sleep by day"]
SHAPE = TranslatorConfig(Seq2SeqConfig(100, dimension=6, hidden=8, layers=2, uniform=0.5), max_source=4, max_target=3)


def translator(seed: int = 1, **options) -> Translator:
    torch.manual_seed(seed)
    return Translator.of(TEXTS, SHAPE, **options)


def test_the_vocabulary_holds_the_words_of_the_texts():
    ours = translator()
    assert ours.vocabulary.tokens == ("<pad>", "<unk>", "<s>", "</s>", "cats", "by", "day", "hunt", "mice", "sleep")
    assert ours.config.network.vocabulary == 10
    assert [row.tolist() for row in ours.sources(["Cats, zebra!", ""])] == [[4, 1], []]
    assert [row.tolist() for row in ours.targets(["cats cats cats cats", ""])] == [[4, 4, 4, 3], [3]]


def test_sources_may_have_boundary_symbols():
    torch.manual_seed(1)
    network = replace(SHAPE.network, boundaries=True)
    ours = Translator.of(TEXTS, replace(SHAPE, network=network))
    assert [row.tolist() for row in ours.sources(["Cats, zebra!", ""])] == [[2, 4, 1, 3], [2, 3]]
    assert [row.tolist() for row in ours.targets(["cats", ""])] == [[4, 3], [3]]


def test_generated_texts_survive_saving(tmp_path: Path):
    ours = translator()
    ours.save(tmp_path / "m", card="")
    assert ours.generated(TEXTS) == Translator.load(tmp_path / "m").generated(TEXTS)
    assert ours.generated([]) == []


def test_likelihoods_do_not_depend_on_dropout():
    ours = translator()
    ours.model.train()
    sources, targets = ["cats", "mice hunt cats by", ""], ["by day", "", "sleep sleep sleep"]
    together, tokens = ours.log_likelihoods(sources, targets)
    np.testing.assert_array_equal(ours.log_likelihoods(sources, targets)[0], together)
    assert tokens.tolist() == [3, 1, 4]
    np.testing.assert_allclose(ours.perplexities(sources, targets), np.exp(-together / tokens), rtol=1e-5)
    assert ours.model.training


def test_generated_texts_are_likely_ones_of_known_words():
    ours = translator()
    results = ours.generated(["cats hunt", ""], size=3, length=3)
    assert [len(item) for item in results] == [3, 3]
    for likely in results:
        assert [item.log_likelihood for item in likely] == sorted((e.log_likelihood for e in likely), reverse=True)
        assert all(word in TEXTS[0] + TEXTS[1].lower() for item in likely for word in item.words)
    ended = next(item for item in results[0] if len(item.words) < 3)
    assert ended.log_likelihood == pytest.approx(
        ours.log_likelihoods(["cats hunt"], [" ".join(ended.words)])[0][0], abs=1e-4
    )


def test_pretrained_vectors_are_used_and_stay():
    vectors = WordVectors(("cats", "unheard"), np.arange(12, dtype=np.float32).reshape(2, 6))
    ours = translator(pretrained=vectors)
    for embedding in (ours.model.source, ours.model.target):
        assert embedding.E_pre[4].tolist() == [0, 1, 2, 3, 4, 5]
        assert embedding.E_pre.abs().sum() == 15


def test_pretrained_vectors_give_the_dimension():
    ours = translator(pretrained=WordVectors(("cats",), np.ones((1, 5), dtype=np.float32)))
    assert SHAPE.network.dimension == 6
    assert ours.config.network.dimension == 5
    assert np.isfinite(ours.log_likelihoods(["cats"], ["cats hunt"])[0]).all()


def test_no_word_is_frequent_enough():
    with pytest.raises(ValueError, match="Expected words beside the 4 special ones"):
        Translator.of(TEXTS, SHAPE, minimum=3)
