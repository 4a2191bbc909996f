"""Graphs in 8 bits against the numbers of the graph before, worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

from qa_core.encoders.onnx_quantisation import BLOCK, quantise
from qa_core.encoders.transformer_encoder import open_graph

onnx = pytest.importorskip("onnx", reason="the extra minilm is not installed")


def write_graph(path: Path, table: np.ndarray, matrix: np.ndarray) -> Path:
    """`states = table[ids] @ matrix`, with a product of two activations beside it, which stays unchanged."""
    helper, numpy_helper, kinds = onnx.helper, onnx.numpy_helper, onnx.TensorProto
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"], name="gather"),
        helper.make_node("MatMul", ["rows", "matrix"], ["states"], name="product"),
        helper.make_node("Transpose", ["states"], ["turned"], name="turn", perm=[1, 0]),
        helper.make_node("MatMul", ["states", "turned"], ["squares"], name="squares"),
    ]
    outputs = [helper.make_tensor_value_info(name, kinds.FLOAT, None) for name in ("states", "squares")]
    graph = helper.make_graph(
        nodes,
        "toy",
        [helper.make_tensor_value_info("ids", kinds.INT64, ["N"])],
        outputs,
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(matrix, "matrix")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def run(path: Path, ids: list[int]) -> list[np.ndarray]:
    return open_graph(path, threads=1).run(["states", "squares"], {"ids": np.array(ids)})


@pytest.fixture
def parts() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(1024, BLOCK)).astype(np.float32), rng.normal(size=(BLOCK, 6)).astype(np.float32)


def test_products_differ_by_rounding_only(tmp_path: Path, parts: tuple[np.ndarray, np.ndarray]) -> None:
    table, matrix = parts
    whole = write_graph(tmp_path / "whole.onnx", table, matrix)
    quantise(whole, tmp_path / "small.onnx")
    states, squares = run(tmp_path / "small.onnx", [3, 1000])
    expected = table[[3, 1000]] @ matrix
    assert np.abs(states - expected).max() < 0.02 * np.abs(expected).max()
    np.testing.assert_allclose(squares, states @ states.T, rtol=1e-5)
    assert (tmp_path / "small.onnx").stat().st_size < 0.3 * whole.stat().st_size


def test_a_row_does_not_depend_on_the_rows_beside_it(tmp_path: Path, parts: tuple[np.ndarray, np.ndarray]) -> None:
    table, matrix = parts
    table[7] *= 1000  # one scale for all rows would leave nothing of the others
    quantise(write_graph(tmp_path / "whole.onnx", table, matrix), tmp_path / "small.onnx")
    alone, together = run(tmp_path / "small.onnx", [3])[0], run(tmp_path / "small.onnx", [3, 7])[0]
    np.testing.assert_allclose(alone[0], together[0], rtol=1e-5, atol=1e-4)


def test_whole_numbers_are_exact(tmp_path: Path) -> None:
    """Rows of −127 to 127 have the scale 1, and the identity's columns 1/127."""
    table = np.tile(np.arange(-127, 129, 2, dtype=np.float32), (1024, 1))
    table[:, -1] = 127
    quantise(write_graph(tmp_path / "whole.onnx", table, np.eye(BLOCK, dtype=np.float32)), tmp_path / "small.onnx")
    np.testing.assert_allclose(run(tmp_path / "small.onnx", [5])[0][0], table[5], atol=1e-3)


def test_other_widths_and_small_tables_stay(tmp_path: Path) -> None:
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    quantise(write_graph(tmp_path / "whole.onnx", table, np.eye(3, dtype=np.float32)), tmp_path / "small.onnx")
    np.testing.assert_array_equal(run(tmp_path / "small.onnx", [2])[0], table[[2]])
