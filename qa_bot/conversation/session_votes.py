"""The votes of one conversation change its own next answers at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from qa_bot.conversation.memory import RememberedTurn
from qa_core.text.analysis import terms
from qa_core.types import AnswerSource, Candidate

DISLIKED, LIKED = 0.9, 0.3
"""Weight of a vote on the same question and document, as a share of the range of the candidates' scores."""
ELSEWHERE = 0.2
"""Share of that weight for questions without a word in common."""
SAME = 0.5
"""Cosine of two questions from which a fact that was voted down is rejected."""


@dataclass(frozen=True)
class Voted:
    """A vote on an answer: the question, the sources that the answer used, and whether it was an up vote."""

    question: str
    used: tuple[AnswerSource, ...]
    liked: bool

    @cached_property
    def question_bag(self) -> Counter[str]:
        return Counter(terms(self.question))

    @cached_property
    def texts(self) -> tuple[Counter[str], ...]:
        return tuple(Counter(terms(source.text)) for source in self.used)

    @cached_property
    def documents(self) -> frozenset[tuple[str, str]]:
        return frozenset((source.collection, source.document) for source in self.used)


@dataclass(frozen=True)
class SessionVotes:
    """The votes of one conversation."""

    votes: tuple[Voted, ...]

    @classmethod
    def of(cls, past: Sequence[RememberedTurn]) -> SessionVotes | None:
        """The votes on answers with sources, or None if there are none."""
        votes = []
        for turn in past:
            if turn.vote is not None and turn.talk is None:
                used = tuple(source for source in turn.recall().sources if source.span is not None)
                if used:
                    votes.append(Voted(turn.understood, used, turn.vote == "up"))
        return cls(tuple(votes)) if votes else None

    def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Candidates in a new order, each with its new score.

        `s' = s + r · Σ_votes ±w · bag_cosine(questions) · bag_cosine(passages)`, where `r` is the range of the scores.
        """
        if not candidates:
            return []
        bag = Counter(terms(question))
        scores = [candidate.score for candidate in candidates]
        spread = (max(scores) - min(scores)) or abs(scores[0]) or 1.0
        after = [candidate.score + spread * self._shift(bag, candidate) for candidate in candidates]
        moved = [c.scored(score, session_votes=score) for c, score in zip(candidates, after, strict=True)]
        return sorted(moved, key=lambda candidate: -candidate.score)

    def rejects_fact(self, question: str, sources: Sequence[AnswerSource]) -> bool:
        """Whether a fact was voted down as the answer to a similar question."""
        bag, triples = Counter(terms(question)), {source.id for source in sources}
        return any(
            not vote.liked
            and triples & {source.id for source in vote.used}
            and bag_cosine(bag, vote.question_bag) >= SAME
            for vote in self.votes
        )

    def _shift(self, bag: Counter[str], candidate: Candidate) -> float:
        """Sum of the votes' effects on a candidate, in [-1, 1]."""
        source, text = candidate.passage.source, Counter(terms(candidate.passage.text))
        total = 0.0
        for vote in self.votes:
            same = (source.collection, source.document) in vote.documents
            near = 1.0 if same else max((bag_cosine(text, voted) ** 2 for voted in vote.texts), default=0.0)
            similarity = max(ELSEWHERE, bag_cosine(bag, vote.question_bag))
            total += (LIKED if vote.liked else -DISLIKED) * similarity * near
        return max(-1.0, min(1.0, total))


def bag_cosine(one: Counter[str], other: Counter[str]) -> float:
    """Cosine of two bags of words; 0 if one is empty."""
    shared = sum(count * other[word] for word, count in one.items())
    length = math.sqrt(sum(c * c for c in one.values()) * sum(c * c for c in other.values()))
    return shared / length if length else 0.0
