"""Quantises an ONNX graph to 8 or 4 bits, and extends its words; the only file to import `onnx`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qa_core.atomic import atomic_path
from qa_core.types import FloatArray, IntArray

BLOCK, SMALL_BLOCK = 128, 32
"""Inputs that share a scale, with 8 and with 4 bits: 1/32 and 1/8 of a byte more for each weight."""
Bits = Literal[8, 4]
_LARGE = 1 << 16  # numbers of a table that is worth quantising
_WORDS_LARGE = 1 << 20  # numbers of a table that may have 4 bits
_CONTRIBUTED = "com.microsoft"
_WORDS = "model.embeddings.word_embeddings.weight"
_ROWS, _BLOCKS, _SCALES = _PARTS = ("_rows", "_blocks", "_scales")
_INTEGERS = 4  # `accuracy_level`: inputs are rounded to 8 bits, block by block


def quantise(graph: Path, out: Path, *, bits: Bits = 8) -> None:
    """Write the graph with matrices and embeddings in 8 bits, or matrices and the words' vectors in 4.

    Matrices have a scale for each output and 128 inputs, and so have the inputs at run time, row by row: a text's
    vector does not depend on the texts beside it. Embeddings have a scale for each row. MiniLM's mean cosine to the
    float32 vectors is .9992; a scale for each output and one for all inputs (onnxruntime's dynamic quantisation)
    gives .9933. With 4 bits a scale serves 32 numbers; weights that had 4 bits in such blocks before stay exact.

    Raises:
        ModuleNotFoundError: without the extra `minilm`.
    """
    model = _loaded(graph)
    tables = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes: list[Any] = []
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in tables and tables[node.input[1]].dims[0] % BLOCK == 0:
            nodes.append(_matrix(model.graph, node, tables[node.input[1]], bits))
        elif node.op_type == "Gather" and node.input[0] in tables and _size(tables[node.input[0]]) >= _LARGE:
            is_small = bits == 4 and _size(tables[node.input[0]]) >= _WORDS_LARGE
            nodes += (_small_embedding if is_small else _embedding)(model.graph, node, tables[node.input[0]])
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
            weights[table] = _table_of(rows, tables[f"{table}{_SCALES}"])
    for node in model.graph.node:
        if node.op_type == "MatMulNBits":
            whole, scales = (tables[name] for name in node.input[1:3])  # (N, K / B, bytes), (N · K / B,)
            name = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            weights[f"{name}.weight"] = _of_blocks(_Blocks(whole, scales.reshape(whole.shape[:2])))
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


def _tables(model: Any) -> dict[str, NDArray[Any]]:
    from onnx import numpy_helper

    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def _quantised(rows: FloatArray) -> tuple[NDArray[np.int8], FloatArray]:
    """Rows (V, D) in 8 bits, and their scales (V, 1)."""
    scales: FloatArray = np.maximum(np.abs(rows).max(axis=1, keepdims=True) / 127, 1e-12).astype(np.float32)
    return np.round(rows / scales).astype(np.int8), scales


class _Blocks(NamedTuple):
    """Numbers in blocks: whole ones (N, K / B, bytes of a block), and their scales (N, K / B)."""

    whole: NDArray[np.uint8]
    scales: FloatArray


def _in_blocks(rows: FloatArray, bits: Bits) -> _Blocks:
    """Rows (N, K) in blocks of `BLOCK` numbers, or of `SMALL_BLOCK`, whose first number has the low bits of a byte.

    Of 4 bits the number that is farthest from 0 has the value −8, so that the scale has its sign.
    """
    size = BLOCK if bits == 8 else SMALL_BLOCK
    blocks = rows.reshape(len(rows), -1, size)
    if bits == 8:
        scales = np.maximum(np.abs(blocks).max(axis=2) / 127, 1e-12).astype(np.float32)
        return _Blocks((np.round(blocks / scales[:, :, None]) + 128).astype(np.uint8), scales)
    farthest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
    scales = np.where(farthest == 0, 1e-12, farthest / -8).astype(np.float32)
    whole = np.clip(np.round(blocks / scales[:, :, None]) + 8, 0, 15).astype(np.uint8)
    return _Blocks(whole[:, :, ::2] | whole[:, :, 1::2] << 4, scales)


def _of_blocks(blocks: _Blocks) -> FloatArray:
    """The rows (N, K) of blocks."""
    whole, middle = blocks.whole.astype(np.float32), 128
    if blocks.whole.shape[2] == SMALL_BLOCK // 2:
        whole, middle = np.stack([blocks.whole & 15, blocks.whole >> 4], axis=3).astype(np.float32), 8
        whole = whole.reshape(*blocks.whole.shape[:2], SMALL_BLOCK)
    rows: FloatArray = ((whole - middle) * blocks.scales.astype(np.float32)[:, :, None]).reshape(len(whole), -1)
    return rows


def _table_of(rows: NDArray[Any], scales: NDArray[Any]) -> FloatArray:
    """An embedding (V, D) of 8-bit rows and scales (V, 1), or of bytes (V, D / 2) and scales (V, D / 32)."""
    if rows.dtype == np.uint8:
        return _of_blocks(_Blocks(rows.reshape(*scales.shape, -1), scales))
    table: FloatArray = rows.astype(np.float32) * scales
    return table


def _matrix(graph: Any, node: Any, table: Any, bits: Bits) -> Any:
    """The product with a matrix (K, N) as `MatMulNBits` of its transposed blocks."""
    from onnx import helper, numpy_helper

    matrix = numpy_helper.to_array(table)  # (K, N)
    inputs, outputs = matrix.shape
    blocks = _in_blocks(matrix.T, bits)
    names = [f"{table.name}{part}" for part in (_BLOCKS, _SCALES)]
    parts: tuple[NDArray[Any], ...] = (blocks.whole, blocks.scales.reshape(-1))
    for name, values in zip(names, parts, strict=True):
        graph.initializer.append(numpy_helper.from_array(values, name))
    size = BLOCK if bits == 8 else SMALL_BLOCK
    settings = {"K": inputs, "N": outputs, "bits": bits, "block_size": size, "accuracy_level": _INTEGERS}
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


def _small_embedding(graph: Any, node: Any, table: Any) -> list[Any]:
    """Rows (V, D) in 4 bits, two numbers a byte, times the scales (V, D / 32) of their blocks."""
    from onnx import TensorProto, helper, numpy_helper

    rows = numpy_helper.to_array(table)
    ids, name, output = node.input[1], node.name, node.output[0]
    blocks = _in_blocks(rows, 4)
    places = np.arange(rows.shape[1]) // SMALL_BLOCK  # the block of each number
    tables: dict[str, NDArray[Any]] = {
        f"{table.name}{_ROWS}": blocks.whole.reshape(len(rows), -1),
        f"{table.name}{_SCALES}": blocks.scales.astype(np.float16),
        f"{name}_places": places.astype(np.int64),
        f"{name}_sixteen": np.array(16, np.float32),
        f"{name}_middle": np.array(8, np.float32),
        f"{name}_last": np.array([-1], np.int64),
        f"{name}_width": np.array([0, 0, rows.shape[1]], np.int64),
    }
    for table_name, values in tables.items():
        graph.initializer.append(numpy_helper.from_array(values, table_name))

    def step(kind: str, inputs: list[str], part: str, **settings: Any) -> Any:
        return helper.make_node(kind, inputs, [f"{output}_{part}"], name=f"{name}_{part}", **settings)

    def part(of: str) -> str:
        return f"{output}_{of}"

    rows_name, scales_name, places_name, sixteen, middle, last, width = tables
    return [
        step("Gather", [rows_name, ids], "bytes"),
        step("Cast", [part("bytes")], "float", to=TensorProto.FLOAT),
        step("Div", [part("float"), sixteen], "shifted"),
        step("Floor", [part("shifted")], "high"),
        step("Mul", [part("high"), sixteen], "high_bits"),
        step("Sub", [part("float"), part("high_bits")], "low"),
        step("Unsqueeze", [part("low"), last], "low_column"),
        step("Unsqueeze", [part("high"), last], "high_column"),
        step("Concat", [part("low_column"), part("high_column")], "pairs", axis=-1),
        step("Reshape", [part("pairs"), width], "numbers"),
        step("Sub", [part("numbers"), middle], "centred"),
        step("Gather", [scales_name, ids], "scales"),
        step("Gather", [part("scales"), places_name], "scales_of_numbers", axis=-1),
        step("Cast", [part("scales_of_numbers")], "scales_float", to=TensorProto.FLOAT),
        helper.make_node("Mul", [part("centred"), part("scales_float")], [output], name=f"{name}_scaled"),
    ]


def _remove_unused(graph: Any) -> None:
    used = {name for node in graph.node for name in node.input}
    remaining = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(remaining)


def _size(table: Any) -> int:
    return int(np.prod(table.dims))
