import json
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.encoders.trained_encoder import BiLSTMTextConfig, MeanTextConfig, TrainedEncoder, module_of, save_encoder
from qa_core.networks.poolings import BiLSTMConfig, MeanConfig
from qa_core.networks.vocabulary import PAD, UNKNOWN, Vocabulary

VOCABULARY = Vocabulary((PAD, UNKNOWN, "cats", "sleep", "hunt", "day"))
CONFIGS = {
    "mean": MeanTextConfig(MeanConfig(6, 8), max_tokens=4),
    "bilstm": BiLSTMTextConfig(BiLSTMConfig(6, 8, hidden=5, output=7, typed=True, uniform=0.5), max_tokens=4),
}
TEXTS = ["Cats sleep", "day", "cats hunt day sleep", "", "zebra gnu", "zebra cats"]


def saved(folder: Path, name: str, *, seed: int = 0):
    torch.manual_seed(seed)
    module = module_of(CONFIGS[name]).eval()
    save_encoder(folder, module, config=CONFIGS[name], vocabulary=VOCABULARY, known=["cats", "day"], card="# card\n")
    return module


@pytest.mark.parametrize("name", CONFIGS)
def test_saved_and_loaded_gives_the_network_s_vectors(tmp_path: Path, name: str):
    module = saved(tmp_path / "m", name)
    encoder = TrainedEncoder.load(tmp_path / "m")
    with torch.no_grad():
        expected = module(torch.tensor([[2, 3]]), torch.ones(1, 2, dtype=torch.bool), side="answer")[0].numpy()
    np.testing.assert_allclose(encoder.encode(["Cats, sleep!"], side="answer")[0], expected, atol=1e-6)
    assert encoder.dimension == len(expected)


@pytest.mark.parametrize("name", CONFIGS)
def test_rows_have_unit_length_and_long_texts_are_cut(tmp_path: Path, name: str):
    saved(tmp_path / "m", name)
    encoder = TrainedEncoder.load(tmp_path / "m")
    np.testing.assert_allclose(np.linalg.norm(encoder.encode(TEXTS), axis=1), [1, 1, 1, 0, 0, 1], atol=1e-5)
    np.testing.assert_array_equal(
        encoder.encode(["cats sleep hunt day zebra zebra"]), encoder.encode(["cats sleep hunt day"])
    )


def test_the_sides_of_a_typed_encoder_differ(tmp_path: Path):
    saved(tmp_path / "m", "bilstm")
    encoder = TrainedEncoder.load(tmp_path / "m")
    assert np.abs(encoder.encode(["cats"]) - encoder.encode(["cats"], side="answer")).max() > 1e-3


def test_words_seen_often_are_known(tmp_path: Path):
    saved(tmp_path / "m", "mean")
    encoder = TrainedEncoder.load(tmp_path / "m")
    assert [encoder.knows(word) for word in ("Cats", "day", "sleep", "zebra", "")] == [True, True, False, False, False]


def test_the_fingerprint_is_that_of_weights_and_settings(tmp_path: Path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        saved(tmp_path / name, "mean", seed=seed)
    a, b, c = (TrainedEncoder.load(tmp_path / name).fingerprint for name in "abc")
    assert a == b != c
    config = json.loads((tmp_path / "b" / "config.json").read_text())
    config["config"]["max_tokens"] = 5
    (tmp_path / "b" / "config.json").write_text(json.dumps(config))
    assert TrainedEncoder.load(tmp_path / "b").fingerprint != a


def test_another_architecture_is_refused(tmp_path: Path):
    saved(tmp_path / "m", "mean")
    path = tmp_path / "m" / "config.json"
    config = json.loads(path.read_text())
    config["config"]["encoder"]["dimension"] = 9
    path.write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"expected \(6, 9\), got \(6, 8\)"):
        TrainedEncoder.load(tmp_path / "m")
