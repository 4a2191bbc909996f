"""Scores passages by the states of their tokens, with a small network that `qa_lab/fit/relevance` trains.

The verifier reads the same states, so that a score costs a few milliseconds. The network is
`qa_core/training/interaction_network.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from qa_core.encoders.transformer_encoder import open_graph
from qa_core.networks.token_rows import PaddedRows, TokenRows
from qa_core.types import FloatArray
from rankers.neural import TextPair

BLANK = -10.0
"""Log-odds of a pair with a blank text, which has no tokens."""


class InteractionScorer:
    """A `PairScorer`; safe to share between threads."""

    def __init__(self, rows: Callable[[Sequence[str]], list[TokenRows]], graph: Path) -> None:
        """`rows` gives those of texts. Raises ValueError for a graph that cannot be opened."""
        self._rows, self._session = rows, open_graph(graph, threads=1)

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Log-odds (N,) that the passage of each pair answers its question."""
        texts = [*dict.fromkeys(text for pair in pairs for text in pair)]
        rows = dict(zip(texts, self._rows(texts), strict=True))
        logits = np.full(len(pairs), BLANK, np.float32)
        read = [at for at, pair in enumerate(pairs) if all(len(rows[text].ids) for text in pair)]
        if read:
            logits[read] = self._logits([rows[pairs[at][0]] for at in read], [rows[pairs[at][1]] for at in read])
        return logits

    def _logits(self, questions: Sequence[TokenRows], passages: Sequence[TokenRows]) -> FloatArray:
        """Of pairs (B,)."""
        padded = (*PaddedRows.of(questions), *PaddedRows.of(passages))
        logits: FloatArray = self._session.run(None, dict(zip(self._names, padded, strict=True)))[0]
        return logits

    @property
    def _names(self) -> list[Any]:
        return [node.name for node in self._session.get_inputs()]
