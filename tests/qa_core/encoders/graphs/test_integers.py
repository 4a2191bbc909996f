"""Products of whole numbers against those of blocks, and against the float32 matrices before."""

from pathlib import Path

import numpy as np
import pytest

from qa_bot.home.starter import TRANSFORMER
from qa_core.encoders.graphs.integers import in_integers
from qa_core.encoders.graphs.quantisation import BLOCK, quantise
from qa_core.encoders.transformer_encoder import TransformerEncoder, open_graph
from rankers.late_interaction import unit_rows

onnx = pytest.importorskip("onnx", reason="the extra minilm is not installed")
GRAPH = TRANSFORMER / "onnx" / "model.onnx"
TEXTS = ["Leave. Everybody has 27 days of annual leave.", "Wie viele Tage Urlaub habe ich?", "leave"]


def write_graph(folder: Path, matrix: np.ndarray, second: np.ndarray) -> Path:
    """`first = rows @ matrix` and `second = rows @ second`, in blocks of 8 bits."""
    helper, numpy_helper, kind = onnx.helper, onnx.numpy_helper, onnx.TensorProto.FLOAT
    nodes = [helper.make_node("MatMul", ["rows", name], [f"{name}_out"], name=f"/{name}/MatMul") for name in ("a", "b")]
    graph = helper.make_graph(
        nodes,
        "toy",
        [helper.make_tensor_value_info("rows", kind, ["N", BLOCK])],
        [helper.make_tensor_value_info(f"{name}_out", kind, None) for name in ("a", "b")],
        [numpy_helper.from_array(matrix, "a"), numpy_helper.from_array(second, "b")],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(folder / "f.onnx")
    )
    quantise(folder / "f.onnx", folder / "blocks.onnx")
    return folder / "blocks.onnx"


def products(graph: Path, rows: np.ndarray) -> list[np.ndarray]:
    outputs: list[np.ndarray] = open_graph(graph, threads=1, int8=True).run(None, {"rows": rows.astype(np.float32)})
    return outputs


@pytest.fixture
def matrices() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(BLOCK, 6)).astype(np.float32), rng.normal(size=(BLOCK, 3)).astype(np.float32)


def test_whole_numbers_are_exact(tmp_path: Path) -> None:
    """Inputs of up to 127 and a column of up to 64 are whole numbers of their scales, so that nothing is rounded."""
    matrix = np.zeros((BLOCK, 2), np.float32)
    matrix[:3, 0], matrix[:3, 1] = (64, -10, 3), (0, 0, -64)
    rows = np.zeros((2, BLOCK), np.float32)
    rows[0, :3], rows[1, :3] = (127, 5, -2), (0, -127, 100)
    first, _ = products(write_graph(tmp_path, matrix, matrix[:, :1]), rows)
    # 127·64 - 5·10 - 2·3 = 8072 and 2·64; 127·10 + 100·3 = 1570 and -100·64
    np.testing.assert_allclose(first, [[8072, 128], [1570, -6400]], rtol=0.01)


def test_products_differ_by_rounding_only(tmp_path: Path, matrices: tuple[np.ndarray, np.ndarray]) -> None:
    rows = np.random.default_rng(1).normal(size=(4, BLOCK))
    for product, matrix in zip(products(write_graph(tmp_path, *matrices), rows), matrices, strict=True):
        expected = rows @ matrix
        assert np.abs(product - expected).max() < 0.02 * np.abs(expected).max()


def test_a_row_does_not_depend_on_the_rows_beside_it(tmp_path: Path, matrices: tuple[np.ndarray, np.ndarray]) -> None:
    rows = np.random.default_rng(1).normal(size=(2, BLOCK))
    rows[1] *= 1000  # one scale for all rows would leave nothing of the first
    graph = write_graph(tmp_path, *matrices)
    np.testing.assert_array_equal(products(graph, rows[:1])[0], products(graph, rows)[0][:1])


def test_a_row_of_zeros_stays_one(tmp_path: Path, matrices: tuple[np.ndarray, np.ndarray]) -> None:
    first, second = products(write_graph(tmp_path, *matrices), np.zeros((1, BLOCK)))
    assert not first.any()
    assert not second.any()


def test_the_shipped_graph_keeps_its_words_in_the_file() -> None:
    model, tables = in_integers(GRAPH)
    graph = onnx.load_from_string(model)
    assert len(model) < 0.03 * GRAPH.stat().st_size
    assert not [node for node in graph.graph.node if node.op_type == "MatMulNBits"]
    whole = {tensor.name: tensor for tensor in graph.graph.initializer}
    assert whole["model.embeddings.word_embeddings.weight_rows"].data_location == onnx.TensorProto.EXTERNAL
    matrices = [node.input[1] for node in graph.graph.node if node.op_type == "MatMulIntegerToFloat"]
    assert matrices == [*tables]
    assert len(matrices) == 36
    assert [list(whole[name].dims) for name in matrices] == [list(table.shape) for table in tables.values()]
    assert {int(np.abs(table.astype(int)).max()) for table in tables.values()} == {64}
    assert len([node for node in graph.graph.node if node.op_type == "QuantizeLinear"]) == 24  # query, key, value share


def test_states_are_those_of_blocks_but_for_rounding() -> None:
    blocks, integers = (TransformerEncoder.load_prepared(TRANSFORMER, int8=int8) for int8 in (False, True))
    for expected, states in zip(blocks.states(TEXTS), integers.states(TEXTS), strict=True):
        cosines = (unit_rows(expected) * unit_rows(states)).sum(axis=1)
        assert cosines.mean() > 0.98
    assert blocks.fingerprint != integers.fingerprint


@pytest.mark.parametrize("length", [1, 9, 1_000, 30_000_000])
def test_a_graph_that_ends_too_early_is_refused(tmp_path: Path, length: int) -> None:
    data = GRAPH.read_bytes()
    (tmp_path / "model.onnx").write_bytes(data[: min(length, len(data) - 1)])
    with pytest.raises(ValueError, match="Expected an ONNX graph"):
        open_graph(tmp_path / "model.onnx", threads=1, int8=True)


def outcome(graph: Path) -> str:
    """The message of the error; an undamaged field may be read."""
    try:
        in_integers(graph)
    except ValueError as error:
        return str(error)
    return "ONNX graph"


def test_any_damage_is_a_value_error(tmp_path: Path) -> None:
    random, data = np.random.default_rng(0), GRAPH.read_bytes()[-400_000:]
    for _ in range(100):
        damaged = bytearray(data[: random.integers(1, len(data))])
        damaged[random.integers(len(damaged))] = random.integers(256)
        (tmp_path / "model.onnx").write_bytes(damaged)
        assert "ONNX graph" in outcome(tmp_path / "model.onnx")
