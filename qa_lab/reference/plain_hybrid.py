"""Thirty lines: chunks by heading, one encoder and BM25 by reciprocal rank, the first chunk, a threshold of cosine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qa_core.types import Encoder, FloatArray
from qa_lab.reference.bm25 import BM25
from qa_lab.reference.documents import Document
from qa_lab.reference.encoders import encode
from qa_lab.reference.passages import pack
from qa_lab.reference.replies import Extract, Reply, Turn
from qa_lab.reference.units import all_units
from qa_lab.reference.words import stems

CHUNK = 1000
RANK_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack et al. 2009)."""
LEAST_COSINE = 0.4
NOT_SIMILAR = "No chunk is similar enough to the question."


class PlainHybrid:
    """A follow-up is searched with the question before it."""

    def __init__(self, documents: Sequence[Document], encoder: Encoder) -> None:
        self._encoder = encoder
        chunks = pack(list(all_units(documents)), size=CHUNK)
        if not chunks:
            raise ValueError("Expected documents with text, but got none; name others.")
        self._chunks = [Extract(chunk.document.id, chunk.text) for chunk in chunks]
        texts = [f"{chunk.context}\n{chunk.text}" for chunk in chunks]
        self._vectors, self._bm25 = encode(encoder, texts, side="answer"), BM25(texts, stems)

    def reply(self, turn: Turn, *, forced: bool = False) -> Reply:
        cosines, scores = self._scores(turn)
        best = int(np.argmax(scores))
        confidence = float(cosines.max())
        if confidence < LEAST_COSINE and not forced:
            return Reply(False, reason=NOT_SIMILAR, confidence=confidence)
        chunk = self._chunks[best]
        return Reply(True, chunk.text, (chunk.document,), confidence=confidence)

    def ranked(self, turn: Turn, k: int) -> Sequence[Extract]:
        order = np.argsort(-self._scores(turn)[1], kind="stable")[:k]
        return [self._chunks[row] for row in order]

    def passages(self) -> Sequence[Extract]:
        return self._chunks

    def _scores(self, turn: Turn) -> tuple[FloatArray, FloatArray]:
        """Cosine of each chunk and its fused score, (P,) both."""
        question = " ".join((*turn.earlier[-1:], turn.question, turn.body)).strip()
        cosines = self._vectors @ encode(self._encoder, [question], side="question")[0]
        return cosines, reciprocal_ranks(cosines) + reciprocal_ranks(self._bm25.scores(question))


def reciprocal_ranks(scores: FloatArray) -> FloatArray:
    """`1 / (60 + rank)` of each score, ranks from 1; 0 for scores of 0 and less."""
    ranks = np.empty(len(scores), dtype=np.float32)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return np.where(scores > 0, 1 / (RANK_CONSTANT + ranks), 0).astype(np.float32)
