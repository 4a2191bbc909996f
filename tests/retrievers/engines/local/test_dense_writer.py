import sys

import numpy as np
import pytest

from retrievers.engines.local import dense_writer
from retrievers.engines.local.dense import COARSE_FILE, FILE, KINDS, DenseIndex, faiss, recall
from retrievers.engines.local.dense_writer import SKETCH_FROM, build, kind_for, write_coarse

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is a device of Linux")


@pytest.mark.parametrize(
    ("n", "kind"), [(0, "exact"), (4_095, "exact"), (4_096, "sketch"), (199_999, "sketch"), (200_000, "ivf")]
)
def test_the_kind_follows_the_number_of_rows(n, kind):
    assert kind_for(n) == kind


@pytest.mark.parametrize("rows", [0, SKETCH_FROM - 1])
def test_few_rows_have_no_coarse_codes(rows, tmp_path, clustered):
    build(tmp_path, clustered(max(rows, 1), 4)[:rows])
    assert not (tmp_path / COARSE_FILE).exists()


def test_an_index_that_is_opened_again_is_the_same(index, vectors, tmp_path):
    build(tmp_path, vectors, kind=index.kind)
    assert {file.name for file in tmp_path.iterdir()} == {FILE} | ({COARSE_FILE} if index.kind != "exact" else set())
    again = DenseIndex.open(tmp_path)
    assert (again.kind, len(again), again.dimension) == (index.kind, 2_000, 16)
    assert again.search(vectors[:9], 5, exact=True)[1].tolist() == index.search(vectors[:9], 5, exact=True)[1].tolist()


def native_file(file, vectors):
    """The bytes that FAISS itself writes for these vectors and the trained parameters of a file."""
    native = faiss.read_index(str(file))
    native.reset()
    native.add(vectors)
    faiss.write_index(native, str(file.with_suffix(".native")))
    return file.with_suffix(".native").read_bytes()


@pytest.mark.parametrize("dimension", [16, 9])
@pytest.mark.parametrize("kind", ["sketch", "ivf"])
def test_the_files_are_those_that_faiss_writes(kind, dimension, tmp_path, monkeypatch, clustered):
    monkeypatch.setattr(dense_writer, "CHUNK", 320)
    monkeypatch.setattr(dense_writer, "GATHER_BLOCK", 3)
    vectors = clustered(1_000, dimension)
    build(tmp_path, vectors, kind=kind)
    for name in (FILE, COARSE_FILE):
        assert (tmp_path / name).read_bytes() == native_file(tmp_path / name, vectors)


@pytest.mark.parametrize("kind", ["sketch", "ivf"])
def test_mapped_vectors_give_the_same_files(kind, tmp_path, clustered):
    vectors = clustered(3_000, 16)
    (tmp_path / "raw").write_bytes(vectors.tobytes())
    build(tmp_path / "plain", vectors, kind=kind)
    build(tmp_path / "mapped", np.memmap(tmp_path / "raw", np.float32, "r", shape=vectors.shape), kind=kind)
    for name in (FILE, COARSE_FILE):
        assert (tmp_path / "plain" / name).read_bytes() == (tmp_path / "mapped" / name).read_bytes()


def test_equal_rows_share_a_list(tmp_path):
    vectors = np.repeat(np.eye(4, dtype=np.float32)[:1], 500, axis=0)
    vectors[::2] = 0  # texts without a known word
    index = build(tmp_path, vectors, kind="ivf")
    scores, rows = index.search(vectors[1:2], 300)
    assert rows[0, :250].tolist() == list(range(1, 500, 2))
    assert scores[0].tolist() == [1.0] * 250 + [0.0] * 50
    assert index.rows(np.arange(500)).tolist() == vectors.tolist()


@pytest.mark.parametrize("value", [np.nan, np.inf, 3.0])
def test_rows_that_are_not_unit_vectors_are_refused(value, tmp_path):
    vectors = np.eye(4, dtype=np.float32)
    vectors[2, 2] = value
    with pytest.raises(ValueError, match="row 2; check the encoder"):
        build(tmp_path / "new", vectors)
    assert not (tmp_path / "new").exists()


def test_vectors_of_the_wrong_shape_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"shape \(N, D\), but got \(4,\)"):
        build(tmp_path, np.ones(4, np.float32))


@pytest.mark.parametrize("kind", KINDS)
def test_coarse_codes_can_be_replaced(kind, vectors, tmp_path):
    build(tmp_path, vectors, kind="ivf")
    write_coarse(tmp_path, vectors, kind)
    index = DenseIndex.open(tmp_path)
    assert (index.kind, recall(index, vectors[:20], 5) >= 0.95) == (kind, True)


@linux
def test_a_full_disk_is_an_os_error_and_leaves_no_file(tmp_path, clustered):
    (tmp_path / FILE).symlink_to("/dev/full")
    with pytest.raises(OSError, match="is the disk full"):
        build(tmp_path, clustered(2_000, 16))
    assert list(tmp_path.iterdir()) == []


@linux
@pytest.mark.parametrize("kind", ["sketch", "hnsw", "ivf"])
def test_a_full_disk_leaves_no_coarse_codes(kind, tmp_path, clustered):
    (tmp_path / COARSE_FILE).symlink_to("/dev/full")
    with pytest.raises(OSError, match="is the disk full"):
        write_coarse(tmp_path, clustered(SKETCH_FROM, 48), kind)
    assert list(tmp_path.iterdir()) == []


def test_the_levels_of_a_sketch_lose_what_sixteen_levels_must():
    """The squared error of the best 16 levels is .009497 of a normal number's variance (Max 1960)."""
    numbers = 3 + 2 * np.random.default_rng(0).standard_normal(40_000)
    normal, constant = dense_writer._levels(np.stack([numbers, np.full(40_000, 7.0)], axis=1))
    assert (np.abs(numbers[:, None] - normal).min(axis=1) ** 2).mean() / 4 == pytest.approx(0.009497, rel=0.03)
    assert (constant == 7).all()


def test_a_sketch_stores_zero_rows(tmp_path, clustered):
    vectors = clustered(SKETCH_FROM, 8)
    vectors[3] = 0
    assert build(tmp_path, vectors).search(vectors[:6], 1)[1].ravel().tolist() == [0, 1, 2, -1, 4, 5]
    zeros = build(tmp_path / "zero", np.zeros((SKETCH_FROM, 8), np.float32))
    assert zeros.search(vectors[:1], 2)[0].tolist() == [[0, 0]]
