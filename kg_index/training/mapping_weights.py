"""The weights F, K and S of mined mappings as training examples (Wang (2018), ch. 4.3.5)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kg_index.relations.template_text import NO_PATH
from kg_index.relations.templates import TemplateTable
from qa_core.types import FloatArray


def f_weights(table: TemplateTable) -> FloatArray:
    """`F = C[r, T] × log(N / |{T: C[r, T] > 0}|)` of each mapping, (E,): eq. 4.2 and 4.3."""
    spread = np.bincount(table.relation, minlength=len(table.relations))  # templates per relation
    idf = np.log(len(table) / np.maximum(spread, 1))
    return (table.count * idf[table.relation]).astype(np.float32)


def k_weights(table: TemplateTable, overlap: Callable[[str, str], int]) -> FloatArray:
    """`K` (E,): the number of words that template and relation share; 1 for "no path found"."""
    shared = (1 if row.relation == NO_PATH else overlap(row.template, row.relation) for row in table.rows())
    return np.fromiter(shared, dtype=np.float32, count=len(table.relation))


def s_weights(f: FloatArray, likelihood: FloatArray, *, alpha: float = 0.1) -> FloatArray:
    """`S = F × (l(r, T) + α)` (E,): eq. 4.4; α keeps mappings that the first model rejects."""
    return f * (likelihood + np.float32(alpha))
