"""Arrays are mapped, also by many threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from qa_core.mapped_arrays import map_array


def test_threads_map_the_same_array(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(6).reshape(2, 3))
    with ThreadPoolExecutor(8) as pool:
        arrays = list(pool.map(map_array, [tmp_path / "a.npy"] * 200))
    assert all(array.tolist() == [[0, 1, 2], [3, 4, 5]] and not array.flags.writeable for array in arrays)


def test_a_pickle_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"pickle|object"):
        map_array(tmp_path / "a.npy")
