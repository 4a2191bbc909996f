"""One adapter makes any pair scorer a ranker of candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from qa_core.types import Candidate, FloatArray, IntArray, Passage, Question

TextPair = tuple[str, str]
"""Question and passage."""
Reads = Literal["text", "title", "both"]
"""What a ranker reads of a candidate: its passage, its clue's title, or the two together."""
SCORED_AT_ONCE = 512
"""Pairs, where there are thousands."""


class PairScorer(Protocol):
    """How well a passage answers a question; a higher score is better.

    The score of a pair does not depend on the pairs beside it, on their order, or on padding.
    """

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Finite scores (N,) of N pairs; empty texts and unknown words have one too."""
        ...


def go_on() -> None:
    """There is all the time in the world."""


@dataclass(frozen=True, slots=True)
class NeuralRanker:
    """Ranks the first candidates by a pair scorer, under a name that their features keep the score by."""

    name: str
    scorer: PairScorer
    depth: int = 100  # candidates that are scored; the others keep their order behind them
    batch: int = 16  # pairs between two looks at the clock
    reads: Reads = "text"

    def _read(self, passage: Passage) -> str:
        title = passage.clue.title
        if self.reads == "text" or not title:
            return passage.text
        return title if self.reads == "title" else f"{title}\n{passage.text}"

    def within(self, depth: int) -> NeuralRanker:
        """The same ranker, looking at so many candidates."""
        return replace(self, depth=depth)

    def rank(
        self, question: Question, candidates: Sequence[Candidate], *, check: Callable[[], object] = go_on
    ) -> list[Candidate]:
        """Candidates, best first; equal scores keep their order.

        Args:
            check: called before every batch of passages of like length; it raises when the time is up.
        """
        pairs = [(asked(question), self._read(candidate.passage)) for candidate in candidates[: self.depth]]
        scores = np.zeros(len(pairs), dtype=np.float32)
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place][1]))
        for start in range(0, len(order), self.batch):
            check()
            chosen = order[start : start + self.batch]
            scores[chosen] = self.scorer.score([pairs[place] for place in chosen])
        scored = [each.scored_by(self.name, score) for each, score in zip(candidates, scores.tolist(), strict=False)]
        return sorted(scored, key=lambda candidate: -candidate.score) + list(candidates[len(pairs) :])


def by_places(pairs: Sequence[TextPair]) -> tuple[tuple[str, ...], tuple[str, ...], IntArray, IntArray]:
    """Distinct questions and distinct answers of pairs, and each pair's places among them, (N,) and (N,)."""
    questions = {question: place for place, question in enumerate(dict.fromkeys(q for q, _ in pairs))}
    answers = {answer: place for place, answer in enumerate(dict.fromkeys(a for _, a in pairs))}
    left = np.array([questions[question] for question, _ in pairs], dtype=np.int64)
    right = np.array([answers[answer] for _, answer in pairs], dtype=np.int64)
    return tuple(questions), tuple(answers), left, right


def asked(question: Question) -> str:
    """The whole of a question, as pair scorers read it."""
    return " ".join(part for part in (question.title, question.body) if part)
