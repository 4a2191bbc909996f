from pathlib import Path

import numpy as np
import pytest

from qa_bot.home.starter import TRANSFORMER
from qa_core.encoders.graphs.mapping import LEAST, without_tables
from qa_core.encoders.graphs.silent_runtime import onnxruntime
from qa_core.encoders.transformer_encoder import open_graph

GRAPH = TRANSFORMER / "onnx" / "model.onnx"


def test_large_tables_stay_in_the_file() -> None:
    onnx = pytest.importorskip("onnx")
    whole, rest = onnx.load(GRAPH), onnx.load_from_string(without_tables(GRAPH))
    data = GRAPH.read_bytes()
    for tensor, other in zip(whole.graph.initializer, rest.graph.initializer, strict=True):
        if other.data_location == onnx.TensorProto.EXTERNAL:
            place = {entry.key: entry.value for entry in other.external_data}
            start, length = int(place["offset"]), int(place["length"])
            assert data[start : start + length] == tensor.raw_data
            assert place["location"] == "model.onnx"
            assert (other.name, other.dims, other.data_type) == (tensor.name, tensor.dims, tensor.data_type)
            assert length >= LEAST
        else:
            assert other == tensor
    assert rest.graph.node == whole.graph.node
    assert len(rest.SerializeToString()) < 0.03 * len(data)


def test_a_graph_without_large_tables_of_bytes_is_left_to_the_runtime(tiny_bert: Path) -> None:
    assert without_tables(tiny_bert / "onnx" / "model.onnx") is None


def test_a_mapped_graph_gives_the_same_numbers() -> None:
    ids = np.array([[101, 2339, 2079, 8870, 3637, 102]])
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    plain = onnxruntime.InferenceSession(str(GRAPH), providers=["CPUExecutionProvider"])
    mapped = open_graph(GRAPH, threads=1)
    inputs = {node.name: feed[node.name] for node in plain.get_inputs()}
    np.testing.assert_array_equal(mapped.run(None, inputs)[0], plain.run(None, inputs)[0])


@pytest.mark.parametrize("length", [1, 9, 1_000, 30_000_000])
def test_a_graph_that_ends_too_early_is_refused(tmp_path: Path, length: int) -> None:
    data = GRAPH.read_bytes()
    (tmp_path / "model.onnx").write_bytes(data[: min(length, len(data) - 1)])
    with pytest.raises(ValueError, match="Expected an ONNX graph"):
        open_graph(tmp_path / "model.onnx", threads=1)


def outcome(graph: Path) -> str:
    """The message of the error; an undamaged field may be read."""
    try:
        without_tables(graph)
    except ValueError as error:
        return str(error)
    return "ONNX graph"


def test_any_damage_is_a_value_error(tmp_path: Path) -> None:
    random, data = np.random.default_rng(0), bytearray(GRAPH.read_bytes()[-400_000:])
    for _ in range(100):
        damaged = bytearray(data[: random.integers(1, len(data))])
        damaged[random.integers(len(damaged))] = random.integers(256)
        (tmp_path / "model.onnx").write_bytes(damaged)
        assert "ONNX graph" in outcome(tmp_path / "model.onnx")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").touch()
    with pytest.raises(ValueError, match="Expected an ONNX graph"):
        open_graph(tmp_path / "model.onnx", threads=1)
