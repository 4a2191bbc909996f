"""Threads of the matrix products."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS use one thread within.

    The matrices of a reply are small: a second thread of OpenBLAS gains little on a quiet machine, and on a busy one it
    waits actively and makes a reply take several times as long.
    """
    with threadpool_limits(1, user_api="blas"):
        yield
