import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrievers.engines.local import dense
from retrievers.engines.local.dense import COARSE_FILE, FILE, KINDS, DenseIndex, faiss, recall
from retrievers.engines.local.dense_writer import SKETCH_FROM, build, write_coarse
from retrievers.engines.local.errors import CorruptIndexError


def brute_force(vectors, query, k, live_mask):
    """Best scores of the half-precision vectors, in double precision."""
    scores = vectors.astype(np.float16).astype(np.float64) @ query
    return np.sort(scores[live_mask])[::-1][:k]


def test_every_kind_finds_a_row_by_itself(index, vectors):
    assert (len(index), index.dimension) == (2_000, 16)
    scores, rows = index.search(vectors[:50], 3)
    assert rows[:, 0].tolist() == list(range(50))
    assert scores[:, 0] == pytest.approx(np.ones(50), abs=1e-3)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)


def test_exact_search_is_brute_force_in_every_kind(index, vectors, clustered):
    queries = clustered(20, 16, seed=1)
    scores, _ = index.search(queries, 10, exact=True)
    for query, best in zip(queries, scores, strict=True):
        assert best == pytest.approx(brute_force(vectors, query, 10, np.ones(2_000, bool)), abs=1e-5)
    assert recall(index, queries, 10) >= (1.0 if index.kind == "exact" else 0.95)


@pytest.mark.parametrize("share", [0.9, 0.5, 0.01, 0.0])
def test_search_returns_only_live_rows(index, vectors, share, clustered):
    live = np.random.default_rng(2).random(2_000) < share
    queries = clustered(20, 16, seed=1)
    scores, rows = index.search(queries, 10, live_mask=live)
    assert live[rows[rows >= 0]].all()
    assert (rows >= 0).sum(axis=1).tolist() == [min(10, live.sum())] * 20
    assert np.isneginf(scores[rows < 0]).all()
    best = [brute_force(vectors, query, 10, live) for query in queries]
    hits = sum(np.isclose(s[: len(b)], b, atol=1e-5).sum() for s, b in zip(scores, best, strict=True))
    assert hits >= 0.9 * sum(map(len, best))


def test_rows_come_back_as_stored(index, vectors):
    rows = np.array([7, 1_999, 0, 7])
    assert index.rows(rows).tolist() == vectors[rows].astype(np.float16).astype(np.float32).tolist()
    assert index.rows(np.array([], dtype=np.int64)).shape == (0, 16)
    with pytest.raises(IndexError, match="Expected rows from 0 to 1999, but got -1 to 2000"):
        index.rows(np.array([-1, 2_000]))


def test_scores_are_inner_products_in_the_order_of_the_rows(index, vectors):
    rows, query = np.array([7, 1_999, 0, 7]), vectors[5]
    assert index.scores(rows, query) == pytest.approx(index.rows(rows) @ query, abs=1e-6)
    assert index.scores(np.array([], dtype=np.int64), query).shape == (0,)


def test_a_zero_query_matches_nothing(index, vectors):
    scores, rows = index.search(np.stack([np.zeros(16, np.float32), vectors[3]]), 2)
    assert rows[0].tolist() == [-1, -1]
    assert np.isneginf(scores[0]).all()
    assert rows[1, 0] == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_small_and_empty_indexes(kind, n, tmp_path):
    index = build(tmp_path, np.eye(4, dtype=np.float32)[:n], kind=kind)
    _, rows = index.search(np.array([[0.1, 0.2, 0.3, 0.4]], dtype=np.float32), 5)
    assert rows.tolist() == [[*reversed(range(n)), *[-1] * (5 - n)]]
    assert len(index) == n
    assert recall(index, np.ones((2, 4), np.float32), 3) == 1.0


def test_equal_scores_are_ordered_by_row(tmp_path):
    index = build(tmp_path, np.repeat(np.eye(2, dtype=np.float32), 4, axis=0))
    assert index.search(np.array([[0, 1]], dtype=np.float32), 8)[1].tolist() == [[4, 5, 6, 7, 0, 1, 2, 3]]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_recall_in_a_dense_crowd(kind, tmp_path, clustered):
    index = build(tmp_path, clustered(4_000, 32), kind=kind)
    assert recall(index, clustered(100, 32, seed=1), 10) >= 0.95


@settings(max_examples=25)
@given(data=st.data(), n=st.integers(1, 30), k=st.integers(1, 40), seed=st.integers(0, 99))
def test_masked_exact_search_against_brute_force(data, n, k, seed, tmp_path_factory):
    vectors = np.random.default_rng(seed).standard_normal((n, 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    live = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    index = build(tmp_path_factory.mktemp("dense"), vectors)
    scores, rows = index.search(vectors[:1], k, live_mask=live)
    assert scores[0][rows[0] >= 0] == pytest.approx(brute_force(vectors, vectors[0], k, live), abs=1e-5)


@pytest.mark.parametrize(
    ("queries", "options", "message"),
    [
        (np.ones((2, 8), np.float32), {}, r"Expected queries of shape \(Q, 16\), but got \(2, 8\)"),
        (np.full((1, 16), np.nan, np.float32), {}, "NaN or infinity"),
        (np.ones((1, 16), np.float32), {"live_mask": np.ones(3, bool)}, r"mask of shape \(2000,\), but got \(3,\)"),
    ],
)
def test_queries_of_another_encoder_and_other_masks_are_refused(index, queries, options, message):
    with pytest.raises(ValueError, match=message):
        index.search(queries, 3, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 40, 0.5, 0.999])
def test_a_truncated_file_is_corrupt(kind, size, vectors, tmp_path):
    build(tmp_path, vectors[:200], kind=kind)
    file = tmp_path / (FILE if kind == "exact" else COARSE_FILE)
    content = file.read_bytes()
    file.write_bytes(content[: size if size > 1 else int(size * len(content))])
    with pytest.raises(CorruptIndexError, match="run qa-bot repair"):
        DenseIndex.open(tmp_path)


def test_a_missing_file_is_corrupt_and_a_missing_folder_is_not_found(tmp_path):
    with pytest.raises(CorruptIndexError, match="run qa-bot repair"):
        DenseIndex.open(tmp_path)
    with pytest.raises(FileNotFoundError, match="run qa-bot add first"):
        DenseIndex.open(tmp_path / "nowhere")


@pytest.mark.parametrize("name", [FILE, COARSE_FILE])
@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda flat: flat, "IndexFlat.*qa-bot repair"),
        (lambda flat: faiss.IndexIVFFlat(flat, 4, 1, faiss.METRIC_INNER_PRODUCT), "IndexIVFFlat.*qa-bot repair"),
    ],
)
def test_a_file_of_another_type_is_corrupt(name, other, message, tmp_path):
    build(tmp_path, np.eye(4, dtype=np.float32))
    flat = faiss.IndexFlatIP(4)
    faiss.write_index(other(flat), str(tmp_path / name))
    with pytest.raises(CorruptIndexError, match=message):
        DenseIndex.open(tmp_path)


def test_coarse_codes_of_other_rows_are_refused(sketch, tmp_path, clustered):
    build(tmp_path, sketch.rows(np.arange(len(sketch))))
    write_coarse(tmp_path, clustered(10, 24), "sketch")
    with pytest.raises(CorruptIndexError, match="10 rows of 24 numbers for 4096 vectors of 48"):
        DenseIndex.open(tmp_path)


IMPORT_DENSE = "from retrievers.engines.local.dense import DenseIndex"
USE_TORCH = "import torch; torch.ones(64, 64) @ torch.ones(64, 64)"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(USE_TORCH, IMPORT_DENSE, marks=pytest.mark.slow),  # `test_house.py` has a quicker form
        pytest.param(IMPORT_DENSE, USE_TORCH, marks=pytest.mark.slow),
        (IMPORT_DENSE, "import sys; assert 'torch' not in sys.modules"),
    ],
)
def test_both_orders_of_import_work_in_a_fresh_interpreter(first, then, tmp_path):
    build(tmp_path, np.eye(4, dtype=np.float32))
    search = (
        f"import numpy as np; from pathlib import Path; index = DenseIndex.open(Path({str(tmp_path)!r}))\n"
        "print(index.search(np.eye(4, dtype=np.float32), 1)[1].ravel().tolist())"
    )
    code = "\n".join([first, then, search])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, "[0, 1, 2, 3]"), done.stderr


@pytest.mark.parametrize("k", [1, 10, 100])
def test_a_sketch_finds_what_a_full_scan_finds(sketch, k, clustered):
    queries = clustered(40, 48, seed=4)
    assert recall(sketch, queries, k) >= 0.99
    scores, rows = sketch.search(queries, k)
    assert (np.diff(scores, axis=1) <= 0).all()
    for query, query_scores, query_rows in zip(queries, scores, rows, strict=True):
        assert query_scores == pytest.approx(sketch.rows(query_rows) @ query, abs=1e-6)
        assert len(set(query_rows.tolist())) == k


def test_more_than_a_third_of_all_rows_are_searched_in_full(sketch, clustered):
    queries = clustered(5, 48, seed=4)
    rows, truth = (sketch.search(queries, 3_000, exact=exact)[1].tolist() for exact in (False, True))
    assert rows == truth


@pytest.mark.parametrize("count", [0, 1, 19, 1_000, 3_000, 4_095])
def test_a_sketch_returns_only_live_rows(sketch, count, clustered):
    live = np.zeros(len(sketch), bool)
    live[np.random.default_rng(5).permutation(len(sketch))[:count]] = True
    queries = clustered(20, 48, seed=4)
    scores, rows = sketch.search(queries, 10, live_mask=live)
    truth, _ = sketch.search(queries, 10, live_mask=live, exact=True)
    assert live[rows[rows >= 0]].all()
    assert ((rows >= 0).sum(axis=1) == min(10, count)).all()
    assert np.isclose(scores, truth, atol=1e-6).mean() >= 0.99


def test_all_rows_are_read_if_the_nearest_are_deleted(sketch, monkeypatch):
    """Deleting a topic deletes the candidates of questions about it."""
    query = sketch.rows(np.array([7]))
    _, nearest = sketch.search(query, 1_200, exact=True)
    live = np.ones(len(sketch), bool)
    live[nearest[0]] = False
    expected = sketch.search(query, 10, live_mask=live, exact=True)[1].tolist()
    assert sketch.search(query, 10, live_mask=live)[1].tolist() == expected
    monkeypatch.setattr(dense, "MIN_LIVE_RATIO", 0)
    with pytest.raises(ValueError, match="broadcast"):
        sketch.search(query, 10, live_mask=live)


def test_an_index_without_its_sketch_is_scanned(sketch, tmp_path, clustered):
    build(tmp_path, sketch.rows(np.arange(SKETCH_FROM)))
    assert (tmp_path / COARSE_FILE).stat().st_size < 0.3 * (tmp_path / FILE).stat().st_size
    (tmp_path / COARSE_FILE).unlink()
    queries = clustered(20, 48, seed=4)
    index = DenseIndex.open(tmp_path)
    assert index.search(queries, 10)[1].tolist() == index.search(queries, 10, exact=True)[1].tolist()
