import struct
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from qa_core.encoders.mapped_tensors import DTYPES, map_tensors, write_tensors

TENSORS = st.dictionaries(
    st.text("abc.", min_size=1, max_size=5),
    st.sampled_from(sorted(DTYPES.values())).flatmap(
        lambda code: arrays.arrays(np.dtype(code), arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    ),
    max_size=3,
)


@given(TENSORS)
def test_the_reference_library_reads_what_is_written(tmp_path_factory: pytest.TempPathFactory, tensors: dict) -> None:
    path = tmp_path_factory.mktemp("written") / "model.safetensors"
    write_tensors(path, tensors)
    for read in (safetensors.numpy.load_file(path), map_tensors(path)):
        assert read.keys() == tensors.keys()
        for name, tensor in tensors.items():
            np.testing.assert_array_equal(read[name], tensor)
            assert read[name].dtype == tensor.dtype


def test_what_the_reference_library_writes_is_read(tmp_path: Path) -> None:
    table = np.arange(6, dtype=np.float16).reshape(3, 2)
    safetensors.numpy.save_file({"vectors": table}, tmp_path / "m.safetensors", metadata={"format": "np"})
    tensors = map_tensors(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(tensors["vectors"], table)
    assert list(tensors) == ["vectors"]
    assert not tensors["vectors"].flags.writeable


@given(st.integers(min_value=0, max_value=200))
def test_a_file_cut_anywhere_is_refused(tmp_path_factory: pytest.TempPathFactory, selected: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "model.safetensors"
    write_tensors(path, {"vectors": np.ones((8, 8), dtype=np.float32)})
    whole = path.read_bytes()
    path.write_bytes(whole[: min(selected, len(whole) - 1)])
    with pytest.raises(ValueError, match=r"Expected a whole safetensors file at .*, but got"):
        map_tensors(path)


def damaged(header: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + bytes(8)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "0 bytes"),
        (b"\xff" * 20, "a header of"),
        (damaged(b"not json"), "not JSON"),
        (damaged(b"[]"), "not a JSON object"),
        (damaged(b'{"v": {}}'), "'v' without dtype"),
        (damaged(b'{"v": {"dtype": "F32", "shape": [9], "data_offsets": [0, 8]}}'), r"'v' of shape \[9\]"),
        (damaged(b'{"v": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}'), r"bytes 0 to 36 of 8"),
        (damaged(b'{"v": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}'), "BF16"),
    ],
)
def test_damage_is_described(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        map_tensors(path)


def test_a_missing_file_is_not_called_damaged(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file"):
        map_tensors(tmp_path / "model.safetensors")
