"""Vectors and dense indexes that several tests share."""

import numpy as np
import pytest

from retrievers.engines.local.dense import KINDS
from retrievers.engines.local.dense_writer import SKETCH_FROM, build


@pytest.fixture(scope="session")
def clustered():
    """Unit vectors (n, dimension) around random centres."""

    def make(n, dimension, *, seed=0, clusters=200):
        rng = np.random.default_rng(seed)
        centres = rng.standard_normal((clusters, dimension))
        vectors = centres[rng.integers(0, clusters, n)] + 0.6 * rng.standard_normal((n, dimension))
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    return make


@pytest.fixture(scope="session")
def vectors(clustered):
    return clustered(2_000, 16)


@pytest.fixture(scope="session", params=KINDS)
def index(request, vectors, tmp_path_factory):
    return build(tmp_path_factory.mktemp(request.param), vectors, kind=request.param)


@pytest.fixture(scope="session")
def sketch(clustered, tmp_path_factory):
    """An index that is large enough for a sketch, with 300 copies of one row."""
    vectors = clustered(SKETCH_FROM, 48, seed=3)
    vectors[1_000:1_300] = vectors[0]
    return build(tmp_path_factory.mktemp("sketch"), vectors)
