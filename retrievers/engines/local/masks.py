"""Masks of the rows of a segment that a search may find: live documents, narrowed by a filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from qa_core.types import IntArray
from retrievers.engines.index import VIEWS, View
from retrievers.engines.local.dense import LiveMask


class _Narrowed(NamedTuple):
    """Masks by view for the documents `only` of those that are live."""

    only: IntArray
    live: LiveMask | None
    rows: Mapping[View, LiveMask | None]


class RowMasks:
    """Makes masks of titles (N,) and passages (P,); the last one is kept, because most questions have the same filter.

    `documents` are the keys of the titles, ascending, and `owners` the title rows of the passages.
    """

    def __init__(self, documents: IntArray, owners: IntArray) -> None:
        self._documents, self._owners = documents, owners
        self._last: _Narrowed | None = None

    def of(self, view: View, live: LiveMask | None, only: IntArray | None) -> LiveMask | None:
        """The rows of live documents, of these only if given; None for all rows."""
        if only is None:
            return self._of_view(view, live)
        last = self._last
        if last is None or last.only is not only or last.live is not live:
            chosen = np.isin(self._documents, only)
            mask = chosen if live is None else chosen & live
            last = self._last = _Narrowed(only, live, {name: self._of_view(name, mask) for name in VIEWS})
        return last.rows[view]

    def _of_view(self, view: View, mask: LiveMask | None) -> LiveMask | None:
        """A mask (N,) of documents as one of the rows of a view."""
        if mask is None or view == "titles":
            return mask
        of_passages: LiveMask = mask[self._owners]
        return of_passages
