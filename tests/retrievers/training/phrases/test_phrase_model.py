import numpy as np
import pytest
import torch

from qa_core.networks.checkpoints import save_model
from qa_core.vectors.word_vectors import WordVectors
from retrievers.training.phrases.phrase_model import PhraseModel, PhraseNetworkConfig
from retrievers.training.phrases.trees import tree_of

WORDS = WordVectors(("big", "house", "large", "home"), np.array([[1, 0], [0, 1], [1, 0.1], [0.1, 1]], dtype=np.float32))


def test_scores_are_cosines_of_known_words():
    model = PhraseModel.of(WORDS, "addition")
    pairs = [("big house", "large home"), ("big zork", "big"), ("zork", "big"), ("big", "house")]
    scores = model.scores([(tree_of(a), tree_of(b)) for a, b in pairs])
    assert scores.tolist() == pytest.approx([1.0, 1.0, 0.0, 0.0])
    assert model.scores([]).shape == (0,)
    assert not model.vectors([tree_of("unknown")]).any()


def test_widening_adds_words_and_keeps_vectors():
    torch.manual_seed(1)
    small = PhraseModel.of(WordVectors(WORDS.words[2:], WORDS.matrix[2:]), "recursive", noise=0.3)
    with torch.no_grad():
        small.network.E.change += 0.5
    wide = small.widened(WORDS)
    assert np.array_equal(wide.vectors([tree_of("large home")]), small.vectors([tree_of("large home")]))
    assert wide.vectors([tree_of("big")])[0].tolist() == [1, 0]


def test_missing_weights_are_refused(tmp_path):
    config = PhraseNetworkConfig("recursive", 2, 4)
    save_model(tmp_path, config=config, weights={"E": WORDS.matrix}, vocabulary=WORDS.words, card="")
    with pytest.raises(ValueError, match=r"W: expected \(2, 4\), got nothing"):
        PhraseModel.load(tmp_path)
