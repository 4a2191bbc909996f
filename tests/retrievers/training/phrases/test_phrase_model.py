import numpy as np
import pytest
import torch

from qa_core.encoders.trained_encoder import MeanTextConfig
from qa_core.networks.checkpoints import save_model
from qa_core.networks.poolings import MeanConfig
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


@pytest.mark.parametrize("composition", ["addition", "recursive"])
def test_a_loaded_model_gives_the_same_vectors(composition, tmp_path):
    torch.manual_seed(1)
    model = PhraseModel.of(WORDS, composition, noise=0.3)
    with torch.no_grad():
        model.network.E.change += 0.1
    trees = [tree_of("big house"), tree_of("(NP (JJ large) (NP (NN home) (NN house)))"), tree_of("unknown")]
    model.save(tmp_path / "model", card="# A card\n")
    loaded = PhraseModel.load(tmp_path / "model")
    assert np.array_equal(loaded.vectors(trees), model.vectors(trees))
    assert not loaded.vectors(trees)[2].any()


def test_widening_adds_words_and_keeps_vectors():
    torch.manual_seed(1)
    small = PhraseModel.of(WordVectors(WORDS.words[2:], WORDS.matrix[2:]), "recursive", noise=0.3)
    with torch.no_grad():
        small.network.E.change += 0.5
    wide = small.widened(WORDS)
    assert np.array_equal(wide.vectors([tree_of("large home")]), small.vectors([tree_of("large home")]))
    assert wide.vectors([tree_of("big")])[0].tolist() == [1, 0]


def test_a_model_of_another_kind_or_shape_is_refused(tmp_path):
    other = MeanTextConfig(MeanConfig(vocabulary=4, dimension=2))
    save_model(tmp_path / "mean", config=other, weights={"E": np.zeros((4, 2))}, card="")
    with pytest.raises(ValueError, match="Expected a model of kind PhraseNetworkConfig, but got 'MeanTextConfig'"):
        PhraseModel.load(tmp_path / "mean")
    config = PhraseNetworkConfig("recursive", 2, 4)
    save_model(tmp_path / "half", config=config, weights={"E": WORDS.matrix}, vocabulary=WORDS.words, card="")
    with pytest.raises(ValueError, match=r"W: expected \(2, 4\), got nothing"):
        PhraseModel.load(tmp_path / "half")
    save_model(tmp_path / "few", config=config, weights={"E": WORDS.matrix}, vocabulary=("big",), card="")
    with pytest.raises(ValueError, match="Expected 4 words, but got 1"):
        PhraseModel.load(tmp_path / "few")
