"""Quantises an ONNX graph to 8 bits, a quarter of its size, and extends its words; the only file to import `onnx`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qa_core.atomic import atomic_path
from qa_core.types import FloatArray, IntArray

BLOCK = 128
"""Inputs that share a scale: 1/32 of a byte more for each weight."""
_LARGE = 1 << 16  # numbers of a table that is worth quantising
_CONTRIBUTED = "com.microsoft"
_WORDS = "model.embeddings.word_embeddings.weight"
_ROWS, _BLOCKS, _SCALES = _PARTS = ("_rows", "_blocks", "_scales")
_INTEGERS = 4  # `accuracy_level`: inputs are rounded to 8 bits, block by block


def quantise(graph: Path, out: Path) -> None:
    """Write the graph with matrices and embeddings in 8 bits.

    Matrices have a scale for each output and 128 inputs, and so have the inputs at run time, row by row: a text's
    vector does not depend on the texts beside it. Embeddings have a scale for each row. MiniLM's mean cosine to the
    float32 vectors is .9992; a scale for each output and one for all inputs (onnxruntime's dynamic quantisation)
    gives .9933.

    Raises:
        ModuleNotFoundError: without the extra `minilm`.
    """
    model = _loaded(graph)
    tables = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes: list[Any] = []
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in tables and tables[node.input[1]].dims[0] % BLOCK == 0:
            nodes.append(_matrix(model.graph, node, tables[node.input[1]]))
        elif node.op_type == "Gather" and node.input[0] in tables and _size(tables[node.input[0]]) >= _LARGE:
            nodes += _embedding(model.graph, node, tables[node.input[0]])
        else:
            nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    _remove_unused(model.graph)
    model.opset_import.append(_domain())
    _save(model, out)


def float_weights(graph: Path) -> dict[str, FloatArray]:
    """The weights of a graph that `quantise` wrote, by the names that they have in torch: `encoder.layer.0.….weight`.

    Raises:
        ModuleNotFoundError: without the extra `minilm`.
    """
    model = _loaded(graph)
    tables = _tables(model)
    weights = {name: table for name, table in tables.items() if not name.endswith(_PARTS)}
    for name, rows in tables.items():
        if name.endswith(_ROWS):
            table = name.removesuffix(_ROWS)
            weights[table] = rows.astype(np.float32) * tables[f"{table}{_SCALES}"]
    for node in model.graph.node:
        if node.op_type == "MatMulNBits":
            blocks, scales = (tables[name] for name in node.input[1:3])  # (N, K / 128, 128), (N · K / 128,)
            matrix = (blocks.astype(np.float32) - 128) * scales.reshape(*blocks.shape[:2], 1)
            name = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            weights[f"{name}.weight"] = matrix.reshape(len(blocks), -1)
    return {name.removeprefix("model."): weight for name, weight in weights.items() if name.startswith("model.")}


def write_words(graph: Path, out: Path, rows: FloatArray, places: IntArray) -> None:
    """Write the graph with other vectors (N, D) of the words at some places; those from its last word on are new.

    All other numbers are unchanged.

    Raises:
        ModuleNotFoundError: without the extra `minilm`.
        ValueError: new places do not follow the last word.
    """
    from onnx import numpy_helper

    model = _loaded(graph)
    tables = {tensor.name: tensor for tensor in model.graph.initializer}
    for suffix, values in zip((_ROWS, _SCALES), _quantised(rows), strict=True):
        tensor = tables[f"{_WORDS}{suffix}"]
        whole = numpy_helper.to_array(tensor)
        added = np.sort(places[places >= len(whole)])
        if not np.array_equal(added, np.arange(len(added)) + len(whole)):
            raise ValueError(f"Expected new words from place {len(whole)} on without gaps, but got {added.tolist()}.")
        whole = np.concatenate([whole, np.zeros((len(added), *whole.shape[1:]), whole.dtype)])
        whole[places] = values
        tensor.CopyFrom(numpy_helper.from_array(whole, tensor.name))
    _save(model, out)


def _loaded(graph: Path) -> Any:
    try:
        import onnx
    except ImportError as error:
        raise ModuleNotFoundError(
            f"Expected onnx to quantise {graph}, but it is not installed; run: pip install 'qa-bot[minilm]'"
        ) from error
    return onnx.load(str(graph))


def _save(model: Any, out: Path) -> None:
    import onnx

    with atomic_path(out) as partial:
        onnx.save(model, str(partial))


def _domain() -> Any:
    from onnx import helper

    return helper.make_opsetid(_CONTRIBUTED, 1)


def _tables(model: Any) -> dict[str, FloatArray]:
    from onnx import numpy_helper

    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def _quantised(rows: FloatArray) -> tuple[NDArray[np.int8], FloatArray]:
    """Rows (V, D) in 8 bits, and their scales (V, 1)."""
    scales: FloatArray = np.maximum(np.abs(rows).max(axis=1, keepdims=True) / 127, 1e-12).astype(np.float32)
    return np.round(rows / scales).astype(np.int8), scales


def _matrix(graph: Any, node: Any, table: Any) -> Any:
    """The product with a matrix (K, N) as `MatMulNBits` of its transposed blocks (N, K / 128, 128)."""
    from onnx import helper, numpy_helper

    matrix = numpy_helper.to_array(table)  # (K, N)
    inputs, outputs = matrix.shape
    blocks = matrix.T.reshape(outputs, inputs // BLOCK, BLOCK)
    scales = np.maximum(np.abs(blocks).max(axis=2) / 127, 1e-12).astype(np.float32)  # (N, K / 128)
    whole = (np.round(blocks / scales[:, :, None]) + 128).astype(np.uint8)
    names = [f"{table.name}{part}" for part in (_BLOCKS, _SCALES)]
    for name, values in zip(names, (whole, scales.reshape(-1)), strict=True):
        graph.initializer.append(numpy_helper.from_array(values, name))
    settings = {"K": inputs, "N": outputs, "bits": 8, "block_size": BLOCK, "accuracy_level": _INTEGERS}
    return helper.make_node(
        "MatMulNBits", [node.input[0], *names], list(node.output), name=node.name, domain=_CONTRIBUTED, **settings
    )


def _embedding(graph: Any, node: Any, table: Any) -> list[Any]:
    """Rows (V, D) as 8-bit rows times their scales (V, 1)."""
    from onnx import TensorProto, helper, numpy_helper

    rows = numpy_helper.to_array(table)
    quantised, scale = f"{table.name}{_ROWS}", f"{table.name}{_SCALES}"
    if quantised not in {tensor.name for tensor in graph.initializer}:
        whole, scales = _quantised(rows)
        graph.initializer.append(numpy_helper.from_array(whole, quantised))
        graph.initializer.append(numpy_helper.from_array(scales, scale))
    ids, name, output = node.input[1], node.name, node.output[0]
    return [
        helper.make_node("Gather", [quantised, ids], [f"{output}_rows"], name=f"{name}_rows"),
        helper.make_node("Cast", [f"{output}_rows"], [f"{output}_float"], name=f"{name}_cast", to=TensorProto.FLOAT),
        helper.make_node("Gather", [scale, ids], [f"{output}_scales"], name=f"{name}_scales"),
        helper.make_node("Mul", [f"{output}_float", f"{output}_scales"], [output], name=f"{name}_scaled"),
    ]


def _remove_unused(graph: Any) -> None:
    used = {name for node in graph.node for name in node.input}
    remaining = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(remaining)


def _size(table: Any) -> int:
    return int(np.prod(table.dims))
