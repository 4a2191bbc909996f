import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.encoders.sentence_layout import SentenceLayout
from qa_core.encoders.transformer_encoder import TransformerEncoder
from qa_core.networks.poolings import pad

pytest.importorskip("transformers", reason="training a transformer needs the extra 'minilm'")

from qa_core.training.transformer_tuning import TransformerReader, load_tunable, save_tuned

TEXTS = ["why do cats sleep?", "day", "un unhappy cats sleep day"]


def vectors(module, layout: SentenceLayout) -> np.ndarray:
    rows = TransformerReader(layout).rows(TEXTS, side="question")
    with torch.no_grad():
        return module.eval()(*pad([row.tolist() for row in rows])).numpy()


def test_as_the_encoder_of_the_product_before_and_after_training(tiny_bert: Path, tmp_path: Path):
    layout = SentenceLayout.read(tiny_bert)
    module = load_tunable(layout)
    before = TransformerEncoder.load(tiny_bert, cache=tmp_path / "cache")
    np.testing.assert_allclose(vectors(module, layout), before.encode(TEXTS), atol=1e-5)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    (tiny_bert / "pytorch_model.bin").write_bytes(b"stale")
    save_tuned(tmp_path / "out", module, layout=layout, card="# tuned\n")
    after = TransformerEncoder.load(tmp_path / "out", cache=tmp_path / "cache2")
    np.testing.assert_allclose(after.encode(TEXTS), vectors(module, layout), atol=1e-5)
    assert np.abs(after.encode(TEXTS) - before.encode(TEXTS)).max() > 1e-2
    assert after.fingerprint != before.fingerprint
    assert not (tmp_path / "out" / "onnx").exists()
    assert not (tmp_path / "out" / "pytorch_model.bin").exists()
    assert (tmp_path / "out" / "README.md").read_text() == "# tuned\n"


def test_saving_again_replaces_and_saving_nonsense_does_not(tiny_bert_source: Path, tmp_path: Path):
    layout = SentenceLayout.read(tiny_bert_source)
    module = load_tunable(layout)
    for _ in range(2):
        save_tuned(tmp_path / "out", module, layout=layout, card="# tuned\n")
    before = (tmp_path / "out" / "model.safetensors").read_bytes()
    with torch.no_grad():
        next(module.parameters()).fill_(float("nan"))
    with pytest.raises(ValueError, match="finite weights"):
        save_tuned(tmp_path / "out", module, layout=layout, card="")
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == before


def test_what_was_trained_is_trained_on(tiny_bert_source: Path, tmp_path: Path):
    """The base's curve is not copied over the new curve, which is written before the weights."""
    layout = SentenceLayout.read(tiny_bert_source)
    save_tuned(tmp_path / "first", load_tunable(layout), layout=layout, card="# First")
    (tmp_path / "first" / "curve.csv").write_text("old")
    layout = SentenceLayout.read(tmp_path / "first")
    out = tmp_path / "second"
    out.mkdir()
    (out / "curve.csv").write_text("new")
    save_tuned(out, load_tunable(layout), layout=layout, card="# Second")
    assert (out / "curve.csv").read_text() == "new"
    assert (out / "README.md").read_text() == "# Second"
    assert load_tunable(SentenceLayout.read(out))


def test_weights_of_another_architecture_are_refused(tiny_bert_source: Path, tmp_path: Path):
    from qa_core.encoders.mapped_tensors import write_tensors

    folder = Path(shutil.copytree(tiny_bert_source, tmp_path / "other"))
    write_tensors(folder / "model.safetensors", {"embedding": np.zeros((2, 2), dtype=np.float32)})
    with pytest.raises(ValueError, match="another architecture"):
        load_tunable(SentenceLayout.read(folder))
