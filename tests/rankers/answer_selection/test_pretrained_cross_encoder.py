"""Rerankers in Hugging Face layout: labels, lengths, int8, and folders that are refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("transformers", reason="a published reranker needs the extra 'minilm'")

from qa_core.encoders.mapped_tensors import map_tensors, write_tensors
from rankers.answer_selection.pretrained_cross_encoder import open_reranker

HIDDEN = 8
PAIRS = [("why do cats sleep ?", "cats sleep day"), ("day", "why"), ("", "")]


def edit_config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def edit_weights(folder: Path, change: Callable[[dict[str, np.ndarray]], object]) -> None:
    weights = {name: np.array(tensor) for name, tensor in map_tensors(folder / "model.safetensors").items()}
    change(weights)
    write_tensors(folder / "model.safetensors", weights)


@pytest.fixture(scope="module")
def published(pair_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with two labels, and its graph. Read only."""
    folder = Path(shutil.copytree(pair_bert, tmp_path_factory.mktemp("published") / "reranker"))
    (folder / "modules.json").unlink()
    edit_config(folder, architectures=["BertForSequenceClassification"], id2label={"0": "no", "1": "yes"})
    rng = np.random.default_rng(1)
    head = {"pooler.dense": (HIDDEN, HIDDEN), "classifier": (2, HIDDEN)}

    def add_head(weights: dict[str, np.ndarray]) -> None:
        for name, shape in head.items():
            weights[f"{name}.weight"] = rng.normal(size=shape).astype(np.float32)
            weights[f"{name}.bias"] = rng.normal(size=shape[0]).astype(np.float32)
        renamed = {name if name.startswith("classifier") else f"bert.{name}": weights[name] for name in weights}
        weights.clear()
        weights.update(renamed)

    edit_weights(folder, add_head)
    open_reranker(folder, cache=folder / "onnx")
    (folder / "onnx" / "pairs.onnx").rename(folder / "onnx" / "model.onnx")
    return folder


@pytest.fixture
def reranker(published: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(published, tmp_path / "reranker"))


def test_of_two_labels_the_score_is_the_difference(reranker: Path, tmp_path: Path) -> None:
    scores = open_reranker(reranker, cache=tmp_path / "a").score(PAIRS)
    assert not (tmp_path / "a").exists()  # the published graph is used

    def swap(weights: dict[str, np.ndarray]) -> None:
        for name in ("classifier.weight", "classifier.bias"):
            weights[name] = weights[name][::-1].copy()

    (reranker / "onnx" / "model.onnx").unlink()
    edit_weights(reranker, swap)
    np.testing.assert_allclose(open_reranker(reranker, cache=tmp_path / "b").score(PAIRS), -scores, atol=1e-5)


def test_a_pair_has_the_same_score_alone_and_among_others(published: Path, tmp_path: Path) -> None:
    scorer = open_reranker(published, cache=tmp_path, threads=2)
    alone = [scorer.score([pair])[0] for pair in PAIRS]
    np.testing.assert_array_equal(scorer.score(PAIRS), alone)


def test_int8_is_close(published: Path, tmp_path: Path) -> None:
    full = open_reranker(published, cache=tmp_path)
    quantised = open_reranker(published, cache=tmp_path, int8=True)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.int7.onnx"]
    np.testing.assert_allclose(quantised.score(PAIRS), full.score(PAIRS), atol=0.3)


@pytest.mark.parametrize(("stated", "expected"), [(None, 30), (8, 8), (1e30, 30)])
def test_long_pairs_are_cut(
    published: Path, reranker: Path, tmp_path: Path, stated: float | None, expected: int
) -> None:
    if stated is not None:
        (reranker / "tokenizer_config.json").write_text(json.dumps({"model_max_length": stated}))
    scorer = open_reranker(reranker, cache=tmp_path)
    assert scorer.config.max_length == expected  # of 32 positions
    assert np.isfinite(scorer.score([("cats " * 100, "day " * 100)])).all()


def without_head(folder: Path) -> None:
    shutil.rmtree(folder / "onnx")
    edit_weights(folder, lambda weights: weights.pop("classifier.weight"))


def only_pickle(folder: Path) -> None:
    shutil.rmtree(folder / "onnx")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def cut_weights(folder: Path) -> None:
    shutil.rmtree(folder / "onnx")
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def unknown_architecture(folder: Path) -> None:
    shutil.rmtree(folder / "onnx")
    edit_config(folder, model_type="hyperbolic")


def not_a_number(folder: Path) -> None:
    shutil.rmtree(folder / "onnx")
    edit_weights(folder, lambda weights: weights["classifier.bias"].fill(np.nan))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: edit_config(folder, architectures=["BertModel"]), "got BertModel; an encoder is used with"),
        (lambda folder: edit_config(folder, architectures=None), "got none; an encoder"),
        (lambda folder: edit_config(folder, id2label={"0": "a", "1": "b", "2": "c"}), r"3 labels \(a, b, c\)"),
        (without_head, "1 tensors are missing"),
        (only_pickle, "pickled weights are never read"),
        (cut_weights, "Expected a whole safetensors file"),
        (unknown_architecture, "hyperbolic"),
        (not_a_number, "Expected a finite score"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "Expected a tokenizer"),
        (lambda folder: (folder / "onnx" / "model.onnx").write_bytes(b"graph"), "Expected an ONNX graph"),
    ],
)
def test_unusable_folders_are_refused_with_a_reason(
    reranker: Path, tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    damage(reranker)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        open_reranker(reranker, cache=tmp_path / "graphs")
