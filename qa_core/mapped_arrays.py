"""Arrays in .npy files, mapped into memory; safe to open from several threads."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEADER_LOCK = Lock()
"""NumPy parses headers with `ast.literal_eval`, which can fail in threads (python/cpython#106905, before 3.11.8)."""


def map_array(path: Path) -> NDArray[Any]:
    """A mapped array as a plain `ndarray`, which is faster to index and slice than `numpy.memmap`.

    Raises:
        FileNotFoundError, ValueError: the file is missing or not a .npy file.
    """
    with _HEADER_LOCK:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
