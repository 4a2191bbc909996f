import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrievers.engines.local import dense
from retrievers.engines.local.dense import KINDS, DenseIndex, build, recall
from retrievers.engines.local.errors import CorruptIndexError


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def clustered(n, dimension, *, seed=0, clusters=200):
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((clusters, dimension))
    return unit(centres[rng.integers(0, clusters, n)] + 0.6 * rng.standard_normal((n, dimension)))


def brute_force(vectors, query, k, alive):
    """Best rows of the half-precision vectors, in double precision."""
    scores = vectors.astype(np.float16).astype(np.float64) @ query
    rows = sorted(np.flatnonzero(alive), key=lambda row: -scores[row])[:k]
    return scores[rows]


@pytest.fixture(scope="module")
def vectors():
    return clustered(2_000, 16)


@pytest.fixture(scope="module", params=KINDS)
def index(request, vectors, tmp_path_factory):
    return build(tmp_path_factory.mktemp(request.param), vectors, kind=request.param)


def test_every_kind_finds_a_row_by_itself(index, vectors):
    assert len(index) == 2_000
    assert index.dimension == 16
    scores, rows = index.search(vectors[:50], 3)
    assert rows[:, 0].tolist() == list(range(50))
    assert scores[:, 0] == pytest.approx(np.ones(50), abs=1e-3)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)


def test_scanning_is_brute_force_in_every_kind(index, vectors):
    queries = clustered(20, 16, seed=1)
    scores, _ = index.search(queries, 10, exact=True)
    for query, found in zip(queries, scores, strict=True):
        assert found == pytest.approx(brute_force(vectors, query, 10, np.ones(2_000, bool)), abs=1e-5)
    assert recall(index, queries, 10) >= (1.0 if index.kind == "exact" else 0.95)


@pytest.mark.parametrize("share", [0.9, 0.5, 0.01, 0.0])
def test_dead_rows_are_never_found(index, vectors, share):
    alive = np.random.default_rng(2).random(2_000) < share
    queries = clustered(20, 16, seed=1)
    scores, rows = index.search(queries, 10, live_mask=alive)
    assert alive[rows[rows >= 0]].all()
    assert (rows >= 0).sum(axis=1).tolist() == [min(10, alive.sum())] * 20
    assert np.isneginf(scores[rows < 0]).all()
    best = [brute_force(vectors, query, 10, alive) for query in queries]
    found = sum(np.isclose(s[: len(b)], b, atol=1e-5).sum() for s, b in zip(scores, best, strict=True))
    assert found >= 0.9 * sum(map(len, best))


def test_an_index_opened_again_is_the_same(index, vectors, tmp_path):
    build(tmp_path, vectors, kind=index.kind)
    names = {dense.FILE} if index.kind == "exact" else {dense.FILE, dense.FRONT}
    assert {file.name for file in tmp_path.iterdir()} == names
    again = DenseIndex.open(tmp_path)
    assert (again.kind, len(again), again.dimension) == (index.kind, 2_000, 16)
    assert again.search(vectors[:9], 5, exact=True)[1].tolist() == index.search(vectors[:9], 5, exact=True)[1].tolist()


def faiss_file(file, vectors):
    """What FAISS itself writes of these vectors, with what the index has learnt."""
    native = dense.faiss.read_index(str(file))
    native.reset()
    native.add(vectors)
    dense.faiss.write_index(native, str(file.with_suffix(".native")))
    return file.with_suffix(".native").read_bytes()


@pytest.mark.parametrize("dimension", [16, 9])
@pytest.mark.parametrize("kind", ["sketch", "ivf"])
def test_the_files_are_those_that_faiss_writes(kind, dimension, tmp_path, monkeypatch):
    monkeypatch.setattr(dense, "CHUNK", 320)
    monkeypatch.setattr(dense, "GATHERED", 3)
    vectors = clustered(1_000, dimension)
    build(tmp_path, vectors, kind=kind)
    for name in (dense.FILE, dense.FRONT):
        assert (tmp_path / name).read_bytes() == faiss_file(tmp_path / name, vectors)


def test_mapped_vectors_give_the_same_file(tmp_path):
    vectors = clustered(3_000, 16)
    (tmp_path / "raw").write_bytes(vectors.tobytes())
    for kind in ("sketch", "ivf"):
        build(tmp_path / "plain", vectors, kind=kind)
        build(tmp_path / "mapped", np.memmap(tmp_path / "raw", np.float32, "r", shape=vectors.shape), kind=kind)
        for name in (dense.FILE, dense.FRONT):
            assert (tmp_path / "plain" / name).read_bytes() == (tmp_path / "mapped" / name).read_bytes()


def test_rows_that_are_all_alike_come_into_one_list(tmp_path):
    vectors = np.repeat(np.eye(4, dtype=np.float32)[:1], 500, axis=0)
    vectors[::2] = 0  # texts without a known word
    index = build(tmp_path, vectors, kind="ivf")
    scores, rows = index.search(vectors[1:2], 300)
    assert rows[0, :250].tolist() == list(range(1, 500, 2))
    assert scores[0].tolist() == [1.0] * 250 + [0.0] * 50
    assert index.rows(np.arange(500)).tolist() == vectors.tolist()


def test_rows_come_back_as_stored(index, vectors):
    wanted = np.array([7, 1_999, 0, 7])
    assert index.rows(wanted).tolist() == vectors[wanted].astype(np.float16).astype(np.float32).tolist()
    assert index.rows(np.array([], dtype=np.int64)).shape == (0, 16)
    with pytest.raises(IndexError, match="Expected rows from 0 to 1999, but got -1 to 2000"):
        index.rows(np.array([-1, 2_000]))


def test_a_zero_query_finds_nothing_beside_one_that_does(index, vectors):
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


def test_equal_scores_come_by_row(tmp_path):
    index = build(tmp_path, np.repeat(np.eye(2, dtype=np.float32), 4, axis=0))
    assert index.search(np.array([[0, 1]], dtype=np.float32), 8)[1].tolist() == [[4, 5, 6, 7, 0, 1, 2, 3]]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_finds_neighbours_in_a_crowd(kind, tmp_path):
    vectors = clustered(4_000, 32)
    index = build(tmp_path, vectors, kind=kind)
    assert recall(index, clustered(100, 32, seed=1), 10) >= 0.95


@pytest.mark.parametrize(
    ("n", "kind"), [(0, "exact"), (4_095, "exact"), (4_096, "sketch"), (199_999, "sketch"), (200_000, "ivf")]
)
def test_the_kind_follows_the_number_of_rows(n, kind):
    assert dense.kind_for(n) == kind


@settings(max_examples=25, deadline=None)
@given(data=st.data(), n=st.integers(1, 30), k=st.integers(1, 40), seed=st.integers(0, 99))
def test_masked_exact_search_against_brute_force(data, n, k, seed, tmp_path_factory):
    vectors = unit(np.random.default_rng(seed).standard_normal((n, 5)))
    alive = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    index = build(tmp_path_factory.mktemp("dense"), vectors)
    scores, rows = index.search(vectors[:1], k, live_mask=alive)
    expected = brute_force(vectors, vectors[0], k, alive)
    assert scores[0][rows[0] >= 0] == pytest.approx(expected, abs=1e-5)


def test_a_query_of_another_encoder_is_refused(index):
    with pytest.raises(ValueError, match=r"Expected queries of shape \(Q, 16\), but got \(2, 8\)"):
        index.search(np.ones((2, 8), np.float32), 3)
    with pytest.raises(ValueError, match="NaN or infinity"):
        index.search(np.full((1, 16), np.nan, np.float32), 3)
    with pytest.raises(ValueError, match=r"mask of shape \(2000,\), but got \(3,\)"):
        index.search(np.ones((1, 16), np.float32), 3, live_mask=np.ones(3, bool))


@pytest.mark.parametrize("value", [np.nan, np.inf, 3.0])
def test_rows_that_are_no_unit_vectors_are_refused(value, tmp_path):
    vectors = np.eye(4, dtype=np.float32)
    vectors[2, 2] = value
    with pytest.raises(ValueError, match="row 2; check the encoder"):
        build(tmp_path / "new", vectors)
    assert not (tmp_path / "new").exists()


def test_vectors_of_the_wrong_shape_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"shape \(N, D\), but got \(4,\)"):
        build(tmp_path, np.ones(4, np.float32))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kept", [0, 40, 0.5, 0.999])
def test_a_file_cut_short_is_damaged(kind, kept, vectors, tmp_path):
    build(tmp_path, vectors[:200], kind=kind)
    file = tmp_path / (dense.FILE if kind == "exact" else dense.FRONT)
    whole = file.read_bytes()
    file.write_bytes(whole[: kept if kept > 1 else int(kept * len(whole))])
    with pytest.raises(CorruptIndexError, match="run qa-bot repair"):
        DenseIndex.open(tmp_path)


def test_a_file_that_is_gone_is_damaged_but_a_folder_that_is_not_there_is_missing(tmp_path):
    with pytest.raises(CorruptIndexError, match="run qa-bot repair"):
        DenseIndex.open(tmp_path)
    with pytest.raises(FileNotFoundError, match="run qa-bot add first"):
        DenseIndex.open(tmp_path / "nowhere")


def test_a_file_of_another_kind_is_damaged(tmp_path):
    dense.faiss.write_index(dense.faiss.IndexFlatL2(4), str(tmp_path / dense.FILE))
    with pytest.raises(CorruptIndexError, match="IndexFlat"):
        DenseIndex.open(tmp_path)


@pytest.mark.parametrize("name", [dense.FILE, dense.FRONT])
def test_a_file_of_an_older_version_is_told_to_be_repaired(name, tmp_path):
    build(tmp_path, np.eye(4, dtype=np.float32))
    flat = dense.faiss.IndexFlatIP(4)
    lists = dense.faiss.IndexIVFFlat(flat, 4, 1, dense.faiss.METRIC_INNER_PRODUCT)
    dense.faiss.write_index(lists, str(tmp_path / name))
    with pytest.raises(CorruptIndexError, match=r"IndexIVFFlat.*qa-bot repair"):
        DenseIndex.open(tmp_path)


@pytest.mark.parametrize("kind", ["exact", "sketch", "hnsw", "ivf"])
def test_a_front_gives_way_to_another(kind, vectors, tmp_path):
    build(tmp_path, vectors, kind="ivf")
    dense.write_front(tmp_path, vectors, kind)
    index = DenseIndex.open(tmp_path)
    assert (index.kind, recall(index, vectors[:20], 5) >= 0.95) == (kind, True)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is a device of Linux")
def test_a_full_disk_is_an_os_error_and_leaves_no_file(tmp_path):
    (tmp_path / dense.FILE).symlink_to("/dev/full")
    with pytest.raises(OSError, match="is the disk full"):
        build(tmp_path, clustered(2_000, 16))
    assert list(tmp_path.iterdir()) == []


SEARCH = """
import numpy as np
from pathlib import Path
index = DenseIndex.open(Path({folder!r}))
print(index.search(np.eye(4, dtype=np.float32), 1)[1].ravel().tolist())
"""


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (
            "import torch; torch.ones(64, 64) @ torch.ones(64, 64)",
            "from retrievers.engines.local.dense import DenseIndex",
        ),
        (
            "from retrievers.engines.local.dense import DenseIndex",
            "import torch; torch.ones(64, 64) @ torch.ones(64, 64)",
        ),
        ("from retrievers.engines.local.dense import DenseIndex", "import sys; assert 'torch' not in sys.modules"),
    ],
)
def test_both_orders_of_import_work_in_a_fresh_interpreter(first, then, tmp_path):
    build(tmp_path, np.eye(4, dtype=np.float32))
    code = "\n".join([first, then, SEARCH.format(folder=str(tmp_path))])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, "[0, 1, 2, 3]"), done.stderr


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """An index that is large enough for a sketch, with rows that stand in it several times."""
    vectors = clustered(dense.SKETCH_FROM, 48, seed=3)
    vectors[1_000:1_300] = vectors[0]
    return build(tmp_path_factory.mktemp("many"), vectors)


@pytest.mark.parametrize("k", [1, 10, 100])
def test_a_sketch_finds_what_a_scan_of_all_finds(many, k):
    queries = clustered(40, 48, seed=4)
    assert recall(many, queries, k) >= 0.99
    scores, rows = many.search(queries, k)
    assert (np.diff(scores, axis=1) <= 0).all()
    for query, told, found in zip(queries, scores, rows, strict=True):
        assert told == pytest.approx(many.rows(found) @ query, abs=1e-6)
        assert len(set(found.tolist())) == k


def test_more_than_a_third_of_all_rows_are_read_in_full(many):
    queries = clustered(5, 48, seed=4)
    found, whole = (many.search(queries, 3_000, exact=exact)[1].tolist() for exact in (False, True))
    assert found == whole


@pytest.mark.parametrize("count", [0, 1, 19, 1_000, 3_000, 4_095])
def test_a_sketch_finds_only_rows_that_are_alive(many, count):
    alive = np.zeros(len(many), bool)
    alive[np.random.default_rng(5).permutation(len(many))[:count]] = True
    queries = clustered(20, 48, seed=4)
    scores, rows = many.search(queries, 10, live_mask=alive)
    truth, _ = many.search(queries, 10, live_mask=alive, exact=True)
    assert alive[rows[rows >= 0]].all()
    assert ((rows >= 0).sum(axis=1) == min(10, count)).all()
    assert np.isclose(scores, truth, atol=1e-6).mean() >= 0.99


def test_where_the_nearest_are_dead_all_rows_are_read(many, monkeypatch):
    """Deleting a topic deletes what a question about it finds first."""
    query = many.rows(np.array([7]))
    _, nearest = many.search(query, 1_200, exact=True)
    alive = np.ones(len(many), bool)
    alive[nearest[0]] = False
    expected = many.search(query, 10, live_mask=alive, exact=True)[1].tolist()
    assert many.search(query, 10, live_mask=alive)[1].tolist() == expected
    monkeypatch.setattr(dense, "LEAST", 0)
    with pytest.raises(ValueError, match="broadcast"):
        many.search(query, 10, live_mask=alive)


def test_the_levels_of_a_sketch_lose_what_sixteen_levels_must():
    """The squared error of the best 16 levels is .009497 of a normal number's variance (Max 1960)."""
    numbers = 3 + 2 * np.random.default_rng(0).standard_normal(40_000)
    normal, alike = dense._levels(np.stack([numbers, np.full(40_000, 7.0)], axis=1))
    assert (np.abs(numbers[:, None] - normal).min(axis=1) ** 2).mean() / 4 == pytest.approx(0.009497, rel=0.03)
    assert (alike == 7).all()


def test_an_index_without_a_sketch_is_scanned(many, tmp_path):
    build(tmp_path, many.rows(np.arange(len(many))))
    half = (tmp_path / dense.FILE).stat().st_size
    assert (tmp_path / dense.FRONT).stat().st_size < 0.3 * half
    (tmp_path / dense.FRONT).unlink()
    queries = clustered(20, 48, seed=4)
    index = DenseIndex.open(tmp_path)
    assert index.search(queries, 10)[1].tolist() == index.search(queries, 10, exact=True)[1].tolist()


@pytest.mark.parametrize("rows", [0, dense.SKETCH_FROM - 1])
def test_few_rows_have_no_sketch(rows, tmp_path):
    build(tmp_path, clustered(max(rows, 1), 4)[:rows])
    assert not (tmp_path / dense.FRONT).exists()


def test_a_front_of_other_rows_is_refused(many, tmp_path):
    build(tmp_path, many.rows(np.arange(len(many))))
    dense.write_front(tmp_path, clustered(10, 24), "sketch")
    with pytest.raises(CorruptIndexError, match="10 rows of 24 numbers for 4096 vectors of 48"):
        DenseIndex.open(tmp_path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is a device of Linux")
@pytest.mark.parametrize("kind", ["sketch", "hnsw", "ivf"])
def test_a_full_disk_leaves_no_front(kind, tmp_path):
    (tmp_path / dense.FRONT).symlink_to("/dev/full")
    with pytest.raises(OSError, match="is the disk full"):
        dense.write_front(tmp_path, clustered(dense.SKETCH_FROM, 48), kind)
    assert list(tmp_path.iterdir()) == []


def test_scores_are_inner_products_in_the_order_asked(index, vectors):
    wanted, query = np.array([7, 1_999, 0, 7]), vectors[5]
    assert index.scores(wanted, query) == pytest.approx(index.rows(wanted) @ query, abs=1e-6)
    assert index.scores(np.array([], dtype=np.int64), query).shape == (0,)


def test_a_sketch_keeps_zero_rows_and_zero_vectors(tmp_path):
    vectors = clustered(dense.SKETCH_FROM, 8)
    vectors[3] = 0
    assert build(tmp_path, vectors).search(vectors[:6], 1)[1].ravel().tolist() == [0, 1, 2, -1, 4, 5]
    nothing = build(tmp_path / "zero", np.zeros((dense.SKETCH_FROM, 8), np.float32))
    assert nothing.search(vectors[:1], 2)[0].tolist() == [[0, 0]]
