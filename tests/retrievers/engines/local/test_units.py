"""Vectors of units in bytes, compared with numpy over all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.units import SCALE, Units, UnitWriter, quantise


def unit_rows(count: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, 8)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def write(folder: Path, counts: list[int], vectors: np.ndarray) -> Units:
    writer, first = UnitWriter(folder, 8), 0
    for count in counts:
        writer.add([(10 * i, 10 * i + 9) for i in range(count)], quantise(vectors[first : first + count]))
        first += count
    writer.close()
    return Units(folder)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 4), max_size=12), st.integers(0, 99))
def test_the_best_unit_of_a_passage_is_that_of_a_full_scan(tmp_path_factory, counts: list[int], seed: int) -> None:
    vectors = unit_rows(sum(counts), seed)
    units = write(tmp_path_factory.mktemp("units") / "u", counts, vectors)
    query = unit_rows(1, seed + 1)[0]
    best = units.best_of_all(query)
    some = units.best(np.arange(len(counts))[::-1].copy(), query)
    np.testing.assert_array_equal(some.scores[::-1], best.scores)
    np.testing.assert_array_equal(some.units[::-1], best.units)
    bounds = np.cumsum([0, *counts])
    for passage, count in enumerate(counts):
        codes = quantise(vectors[bounds[passage] : bounds[passage + 1]]).astype(np.float32) / SCALE
        if count == 0:
            assert (best.scores[passage], best.units[passage]) == (0, -1)
        else:
            products = codes @ query
            assert best.scores[passage] == pytest.approx(products.max(), abs=1e-6)
            assert products[best.units[passage]] == pytest.approx(products.max(), abs=1e-6)
            assert units.scores(passage, query) == pytest.approx(products, abs=1e-6)
            assert units.spans(passage) == [(10 * i, 10 * i + 9) for i in range(count)]


def test_bytes_change_a_cosine_by_little() -> None:
    vectors = unit_rows(200, 3)
    exact, coded = vectors @ vectors.T, quantise(vectors).astype(np.float32) / SCALE @ vectors.T
    assert np.abs(exact - coded).max() < 0.02


def test_of_equal_units_the_first_is_best(tmp_path: Path) -> None:
    row = unit_rows(1, 0)
    units = write(tmp_path / "u", [1, 3], np.repeat(row, 4, axis=0))
    assert units.best_of_all(row[0]).units.tolist() == [0, 0]


def test_a_missing_file_is_corrupt(tmp_path: Path) -> None:
    write(tmp_path / "u", [1], unit_rows(1, 0))
    (tmp_path / "u" / "codes.npy").unlink()
    with pytest.raises(CorruptIndexError):
        Units(tmp_path / "u")
