"""Graphs in 8 bits against the numbers of the graph before, worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

from qa_core.encoders.graphs.integers import in_integers
from qa_core.encoders.graphs.quantisation import BLOCK, float_weights, quantise, write_words
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


def write_words_graph(path: Path, table: np.ndarray) -> Path:
    """`states = table[ids]`, by the names of an exported BERT."""
    helper, kinds = onnx.helper, onnx.TensorProto
    name = "model.embeddings.word_embeddings.weight"
    graph = helper.make_graph(
        [helper.make_node("Gather", [name, "ids"], ["states"], name="gather")],
        "words",
        [helper.make_tensor_value_info("ids", kinds.INT64, ["N"])],
        [helper.make_tensor_value_info("states", kinds.FLOAT, None)],
        [onnx.numpy_helper.from_array(table, name)],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def test_words_are_replaced_and_added_beside_unchanged_ones(
    tmp_path: Path, parts: tuple[np.ndarray, np.ndarray]
) -> None:
    table = parts[0]
    quantise(write_words_graph(tmp_path / "whole.onnx", table), tmp_path / "small.onnx")
    rows = np.stack([np.full(BLOCK, 2.0, np.float32), np.linspace(-1, 1, BLOCK, dtype=np.float32)])
    write_words(tmp_path / "small.onnx", tmp_path / "more.onnx", rows, np.array([5, len(table)]))
    before, after = (
        float_weights(tmp_path / name)["embeddings.word_embeddings.weight"] for name in ("small.onnx", "more.onnx")
    )
    assert after.shape == (len(table) + 1, BLOCK)
    np.testing.assert_array_equal(np.delete(after[:-1], 5, axis=0), np.delete(before, 5, axis=0))
    np.testing.assert_allclose(after[[5, -1]], rows, atol=0.01)
    np.testing.assert_allclose(before, table, atol=np.abs(table).max() / 127)
    run = open_graph(tmp_path / "more.onnx", threads=1).run(["states"], {"ids": np.array([len(table)])})[0]
    np.testing.assert_array_equal(run[0], after[-1])
    with pytest.raises(ValueError, match=r"Expected new words from place 1024 on without gaps, but got \[1030\]"):
        write_words(tmp_path / "small.onnx", tmp_path / "more.onnx", rows[:1], np.array([1030]))


def test_matrices_are_read_by_the_names_of_their_layers(tmp_path: Path, parts: tuple[np.ndarray, np.ndarray]) -> None:
    helper, kinds, matrix = onnx.helper, onnx.TensorProto, parts[1]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["inputs", "matrix"], ["states"], name="/model/encoder/dense/MatMul")],
        "layer",
        [helper.make_tensor_value_info("inputs", kinds.FLOAT, ["N", BLOCK])],
        [helper.make_tensor_value_info("states", kinds.FLOAT, None)],
        [onnx.numpy_helper.from_array(matrix, "matrix")],
    )
    whole, small = tmp_path / "whole.onnx", tmp_path / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(whole))
    quantise(whole, small)
    np.testing.assert_allclose(float_weights(small)["encoder.dense.weight"], matrix.T, atol=np.abs(matrix).max() / 120)


def packed_rows(rng: np.random.Generator, count: int) -> np.ndarray:
    """Rows of `BLOCK` numbers as 4 bits give them: of each 32, one is −8 times the scale, others −8 to 7 times."""
    numbers = rng.integers(-8, 8, size=(count, BLOCK // 32, 32))
    numbers[:, :, 5] = -8
    scales = rng.choice([-0.5, 0.25, 2.0], size=(count, BLOCK // 32, 1))
    return (numbers * scales).reshape(count, BLOCK).astype(np.float32)


def test_numbers_that_had_four_bits_stay_exact(tmp_path: Path) -> None:
    helper, kinds, rng = onnx.helper, onnx.TensorProto, np.random.default_rng(0)
    table, matrix, name = packed_rows(rng, 1 << 13), packed_rows(rng, 6).T, "model.embeddings.word_embeddings.weight"
    nodes = [
        helper.make_node("Gather", [name, "ids"], ["rows"], name="gather"),
        helper.make_node("MatMul", ["rows", "matrix"], ["states"], name="/model/encoder/dense/MatMul"),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("ids", kinds.INT64, ["B", "T"])],
        [helper.make_tensor_value_info(output, kinds.FLOAT, None) for output in ("rows", "states")],
        [
            onnx.numpy_helper.from_array(np.ascontiguousarray(of), part)
            for of, part in ((table, name), (matrix, "matrix"))
        ],
    )
    whole, small = tmp_path / "whole.onnx", tmp_path / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(whole))
    quantise(whole, small, bits=4)
    assert small.stat().st_size < 0.17 * whole.stat().st_size
    weights = float_weights(small)
    np.testing.assert_array_equal(weights["embeddings.word_embeddings.weight"], table)
    np.testing.assert_array_equal(weights["encoder.dense.weight"], matrix.T)
    ids = np.array([[3, 8000], [17, 5]])
    expected = table[ids] @ matrix
    for int8 in (False, True):
        rows, states = open_graph(small, threads=1, int8=int8).run(["rows", "states"], {"ids": ids})
        np.testing.assert_array_equal(rows, table[ids])
        assert np.abs(states - expected).max() < 0.03 * np.abs(expected).max(), int8
    tables = {tensor.name: tensor for tensor in onnx.load_from_string(in_integers(small).model).graph.initializer}
    assert tables[f"{name}_rows"].data_location == kinds.EXTERNAL, "the words stay in the file"
