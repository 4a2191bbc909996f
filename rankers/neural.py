"""The role of a pair scorer, and the adapter that makes one a ranker of candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from qa_core.types import Candidate, FloatArray, IntArray, Passage, Question

TextPair = tuple[str, str]
"""Question and passage."""
Reads = Literal["text", "title", "both"]
"""What a ranker reads of a candidate: its passage, the title of its clue, or both."""
Asks = Literal["title", "body", "both"]
"""What a ranker reads of a question; all of it if that part is empty."""
SCORING_BATCH = 512
"""Pairs that are scored at a time."""


class PairScorer(Protocol):
    """Scores how well a passage answers a question; higher is better.

    The score of a pair does not depend on other pairs, their order or padding.
    """

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Finite scores (N,) of N pairs, which may have empty texts and unknown words."""
        ...


def no_deadline() -> None:
    """The check of a ranker without a deadline."""


@dataclass(frozen=True, slots=True)
class NeuralRanker:
    """Ranks the first candidates by a pair scorer; their signals store the score under its name."""

    name: str
    scorer: PairScorer
    depth: int = 100  # candidates to score; the others follow in their order
    batch: int = 16  # pairs between two checks of the deadline
    reads: Reads = "text"
    asks: Asks = "both"

    def _read(self, passage: Passage) -> str:
        title = passage.clue.title
        if self.reads == "text" or not title:
            return passage.text
        return title if self.reads == "title" else f"{title}\n{passage.text}"

    def within(self, depth: int) -> NeuralRanker:
        """The same ranker with another depth."""
        return replace(self, depth=depth)

    def rank(
        self, question: Question, candidates: Sequence[Candidate], *, check: Callable[[], object] = no_deadline
    ) -> list[Candidate]:
        """Candidates, best first; those with equal scores keep their order.

        Args:
            check: called before every batch of passages of similar length; raises when the deadline has passed.
        """
        text = full_question(question, self.asks)
        pairs = [(text, self._read(candidate.passage)) for candidate in candidates[: self.depth]]
        scores = np.zeros(len(pairs), dtype=np.float32)
        order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][1]))
        for start in range(0, len(order), self.batch):
            check()
            members = order[start : start + self.batch]
            scores[members] = self.scorer.score([pairs[i] for i in members])
        scored = [c.scored_by(self.name, score) for c, score in zip(candidates, scores.tolist(), strict=False)]
        return sorted(scored, key=lambda candidate: -candidate.score) + list(candidates[len(pairs) :])


def distinct_texts(pairs: Sequence[TextPair]) -> tuple[tuple[str, ...], tuple[str, ...], IntArray, IntArray]:
    """Distinct questions and distinct answers of pairs, and the rows (N,) and (N,) of each pair among them."""
    questions = {question: row for row, question in enumerate(dict.fromkeys(q for q, _ in pairs))}
    answers = {answer: row for row, answer in enumerate(dict.fromkeys(a for _, a in pairs))}
    left = np.array([questions[question] for question, _ in pairs], dtype=np.int64)
    right = np.array([answers[answer] for _, answer in pairs], dtype=np.int64)
    return tuple(questions), tuple(answers), left, right


def full_question(question: Question, asks: Asks = "both") -> str:
    """Title and body of a question, or one of them, as pair scorers read it."""
    part = {"title": question.title, "body": question.body, "both": ""}[asks]
    return part if part.strip() else " ".join(part for part in (question.title, question.body) if part)
