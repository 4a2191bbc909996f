"""Distinct numbers of an array."""

from __future__ import annotations

import numpy as np

from qa_core.types import IntArray


def distinct(numbers: IntArray) -> IntArray:
    """The numbers (n,) in ascending order, each once.

    `np.unique` without its options imports `numpy.ma`: 10 ms and 2.4 MB of a cold answer.
    """
    ordered = np.sort(numbers)
    is_first = np.ones(len(ordered), dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]
