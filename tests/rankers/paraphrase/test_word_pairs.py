from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.networks.checkpoints import save_model
from qa_core.training.loop import Training
from qa_core.vectors.word_vectors import WordVectors
from rankers.paraphrase.word_pairs import CONFIGS, WordPairs
from rankers.training.paraphrase_training import ParaphraseConfig, accuracy, train_paraphrase

TRAINING = ParaphraseConfig(batch=6, epochs=16, patience=16, learning_rate=0.02, identical=3)
MIXED = [
    ("where does balor live", "address of balor"),
    ("", ""),
    ("zzz qqq", "age"),
    ("😀", "מה נשמע"),
    ("age of cemin", "where " * 100_000),
]


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_toy_task_is_learned_saved_and_loaded(kind: str, word_pairs, toy_pairs, assert_independent, tmp_path: Path):
    scorer = word_pairs(kind, dimension=16, hidden=16)
    training = Training(scorer.model, torch.optim.Adam(scorer.model.parameters(), lr=0.02), seed=1)
    list(train_paraphrase(training, scorer, toy_pairs, TRAINING, held_out=toy_pairs))
    assert accuracy(scorer, toy_pairs) == 1
    scorer.save(tmp_path / "model", card="# card\n")
    loaded = WordPairs.load(tmp_path / "model")
    scores = assert_independent(loaded, MIXED)
    assert np.array_equal(scores, scorer.score(MIXED))
    np.testing.assert_allclose(loaded.score([(b, a) for a, b in MIXED]), scores, atol=1e-5)


def test_pretrained_vectors_are_frozen(word_pairs, toy_pairs):
    vectors = WordVectors(("balor", "nobody"), np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32))
    scorer = word_pairs("decomposable", pretrained=vectors)
    training = Training(scorer.model, torch.optim.Adam(scorer.model.parameters(), lr=0.02), seed=1)
    list(train_paraphrase(training, scorer, toy_pairs, replace(TRAINING, epochs=1)))
    table = scorer.model.embedding.E_pre
    row = scorer.reader.vocabulary.ids(["balor"])[0]
    assert table[row].tolist() == [1.0, 2.0]
    assert float(table.abs().sum()) == 3.0
    assert scorer.config.dimension == 2


def test_bad_models_are_refused(word_pairs, tmp_path: Path):
    scorer = word_pairs()
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        WordPairs.load(tmp_path / "none")
    save_model(tmp_path / "other", config=TRAINING, weights={"a": np.zeros(2)}, card="")
    with pytest.raises(ValueError, match="kind EntailmentConfig, but got 'ParaphraseConfig'"):
        WordPairs.load(tmp_path / "other")
    folder = tmp_path / "model"
    scorer.save(folder, card="")
    words = (folder / "vocabulary.txt").read_text()
    (folder / "vocabulary.txt").write_text(words + "more\n")
    with pytest.raises(ValueError, match=r"Expected \d+ words, as config\.json says"):
        WordPairs.load(folder)
    (folder / "vocabulary.txt").write_text(words)
    weights = {name: weight.numpy() for name, weight in scorer.model.state_dict().items()}
    weights["match.0.bias"] = np.full_like(weights["match.0.bias"], np.nan)
    write_tensors(folder / "model.safetensors", weights)
    with pytest.raises(ValueError, match=r"NaN or infinity in 'match\.0\.bias'"):
        WordPairs.load(folder)
    with torch.no_grad():
        scorer.model.match[0].bias.fill_(float("nan"))
    with pytest.raises(ValueError, match="finite weights"):
        scorer.save(folder, card="")
