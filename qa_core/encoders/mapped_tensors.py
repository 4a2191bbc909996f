"""Memory-mapped numpy arrays in a safetensors file, so that a large table is loaded as its rows are used.

The format (Hugging Face, safetensors 0.5): eight bytes with the length of a JSON header, the header with dtype, shape
and byte range of each tensor, then the bytes.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qa_core.atomic import atomic_path

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U8": "|u1"}
_LARGEST_HEADER = 100_000_000


def map_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Every tensor of the file as a read-only array over the mapped bytes.

    Raises FileNotFoundError, and ValueError for a truncated or damaged file or an unsupported dtype.
    """
    if not path.is_file():
        raise FileNotFoundError(f"Expected weights at {path}, but there is no such file; fetch the encoder again.")
    if path.stat().st_size < 8:
        raise _damaged(path, f"{path.stat().st_size} bytes")
    data = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))  # a plain view: memmap's own slicing is slow
    header, start = _header(path, data)
    return {name: _view(path, data[start:], name, entry) for name, entry in header.items() if name != "__metadata__"}


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write the file atomically: a crash leaves the old file or the new one."""
    from qa_core.networks.checkpoints import write_weights  # late: reading does not need it

    with atomic_path(path) as partial:
        write_weights(partial, tensors)


def _header(path: Path, data: NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    (length,) = struct.unpack("<Q", data[:8].tobytes())
    if length > min(_LARGEST_HEADER, data.size - 8):
        raise _damaged(path, f"a header of {length} bytes in a file of {data.size}")
    try:
        header = json.loads(data[8 : 8 + length].tobytes())
    except ValueError as error:
        raise _damaged(path, f"a header that is not JSON ({error})") from error
    if not isinstance(header, dict):
        raise _damaged(path, "a header that is not a JSON object")
    return header, 8 + length


def _view(path: Path, data: NDArray[np.uint8], name: str, entry: Any) -> NDArray[Any]:
    try:
        code, shape, (begin, end) = entry["dtype"], tuple(map(int, entry["shape"])), entry["data_offsets"]
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, f"an entry {name!r} without dtype, shape and byte range") from error
    if code not in DTYPES:
        raise ValueError(
            f"Expected {name!r} in {path} as one of {', '.join(DTYPES)}, but got {code}; convert it first."
        )
    dtype = np.dtype(DTYPES[code])
    if not 0 <= begin <= end <= data.size or min(shape, default=0) < 0 or end - begin != prod(shape) * dtype.itemsize:
        raise _damaged(path, f"{name!r} of shape {list(shape)} at bytes {begin} to {end} of {data.size}")
    return data[begin:end].view(dtype).reshape(shape)


def _damaged(path: Path, reason: str) -> ValueError:
    return ValueError(f"Expected a whole safetensors file at {path}, but got {reason}; fetch the encoder again.")
