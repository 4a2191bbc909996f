"""The recipe: passages ranked by four channels together, the answering sentences first, refusal where they disagree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qa_core.types import FloatArray, IntArray
from qa_lab.reference.passages import best_window, joined
from qa_lab.reference.recipe_index import Evidence, RecipeIndex
from qa_lab.reference.refusal import Case, Refusal
from qa_lab.reference.replies import Extract, Reply, Turn

SHOWN = 2
"""Passages of an answer."""
LEAD = 300
LONGEST = 1500
CONSIDERED = 20
"""The second passage is the first of these that is no older than the best."""
NOT_SURE = "No passage fits the question well enough."


class Recipe:
    """A pipeline over a `RecipeIndex`."""

    def __init__(self, index: RecipeIndex, refusal: Refusal) -> None:
        self._index, self._refusal = index, refusal

    def reply(self, turn: Turn, *, forced: bool = False) -> Reply:
        readings, evidence, scores = self._scored(turn)
        order = np.argsort(-scores, kind="stable")
        best = order[0]
        case = Case(self._index.texts[best], readings, scores[order])
        margin = self._refusal.margin(case)
        if margin < 0 and not forced:
            return Reply(False, reason=NOT_SURE, confidence=margin)
        shown = self._shown(order)
        text = "\n\n".join(
            [self._lead_first(int(best), evidence), *(self._index.passages[other].text for other in shown[1:])]
        )
        documents = tuple(self._index.passages[row].document.id for row in shown)
        return Reply(True, text, documents, confidence=margin)

    def ranked(self, turn: Turn, k: int) -> Sequence[Extract]:
        order = np.argsort(-self._scored(turn)[2], kind="stable")[:k]
        return [self._extract(row) for row in order]

    def passages(self) -> Sequence[Extract]:
        return [self._extract(row) for row in range(len(self._index.passages))]

    def _scored(self, turn: Turn) -> tuple[list[str], Evidence, FloatArray]:
        """The readings of a turn, their evidence and F of each passage (P,)."""
        readings = [self._index.corrected(reading) for reading in readings_of(turn)]
        index = self._index
        evidence = index.mean_evidence(readings) if len(readings) > 1 else index.evidence(readings[0])
        return readings, evidence, index.scores(evidence)

    def _shown(self, order: IntArray) -> list[int]:
        old = self._index.old
        others = [int(row) for row in order[1:CONSIDERED] if old[row] <= old[order[0]]]
        return [int(order[0]), *others[: SHOWN - 1]]

    def _lead_first(self, row: int, evidence: Evidence) -> str:
        """The best sentences of a passage, then its rest."""
        passage = self._index.passages[row]
        start, end = best_window(passage.units, evidence.units[passage.rows], width=LEAD)
        lead, rest = joined(passage.units[start:end]), joined(passage.units[:start] + passage.units[end:])
        return (f"{lead}\n\n{rest}" if rest else lead)[:LONGEST]

    def _extract(self, row: int) -> Extract:
        passage = self._index.passages[row]
        return Extract(passage.document.id, passage.text)


def readings_of(turn: Turn) -> list[str]:
    """The turn with its body; a follow-up also after the first and after the previous question."""
    question = f"{turn.question} {turn.body}".strip()
    if not turn.earlier:
        return [question]
    return [question, f"{turn.earlier[0]} {question}", f"{turn.earlier[-1]} {question}"]
