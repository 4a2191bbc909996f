"""What the votes of a conversation change in its next answers, at once, and in nobody else's."""

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
"""What a vote weighs, of the distance between the first candidate's score and the last one's, where the same is asked
and the document is the same."""
ELSEWHERE = 0.2
"""Share of that for questions that have no word in common with the one that was voted on."""
SAME = 0.5
"""Likeness of two questions from which a fact that was voted down is not given again."""


@dataclass(frozen=True)
class Voted:
    """A vote on an answer: the question, what the answer was made from, and whether it was liked."""

    question: str
    used: tuple[AnswerSource, ...]
    liked: bool

    @cached_property
    def asked(self) -> Counter[str]:
        return Counter(terms(self.question))

    @cached_property
    def texts(self) -> tuple[Counter[str], ...]:
        return tuple(Counter(terms(each.text)) for each in self.used)

    @cached_property
    def documents(self) -> frozenset[tuple[str, str]]:
        return frozenset((each.collection, each.document) for each in self.used)


@dataclass(frozen=True)
class SessionVotes:
    """The votes of one conversation."""

    votes: tuple[Voted, ...]

    @classmethod
    def of(cls, past: Sequence[RememberedTurn]) -> SessionVotes | None:
        """None where nobody voted on anything that has sources."""
        found = []
        for each in past:
            if each.vote is not None and each.talk is None:
                used = tuple(source for source in each.recall().sources if source.span is not None)
                found.append(Voted(each.understood, used, each.vote == "up"))
        votes = tuple(each for each in found if each.used)
        return cls(votes) if votes else None

    def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Candidates in the order that the votes leave, each with its new score under `taste`.

        `s' = s + r · Σ_votes ±w · bag_cosine(questions) · bag_cosine(passages)`, where `r` is the range of the scores.
        """
        if not candidates:
            return []
        asked = Counter(terms(question))
        scores = [each.score for each in candidates]
        spread = (max(scores) - min(scores)) or abs(scores[0]) or 1.0
        after = [each.score + spread * self._moves(asked, each) for each in candidates]
        moved = [each.scored(score, session_votes=score) for each, score in zip(candidates, after, strict=True)]
        return sorted(moved, key=lambda each: -each.score)

    def rejects_fact(self, question: str, sources: Sequence[AnswerSource]) -> bool:
        """Whether a fact was voted down as the answer to such a question."""
        asked, stated = Counter(terms(question)), {each.id for each in sources}
        return any(
            not each.liked and stated & {used.id for used in each.used} and bag_cosine(asked, each.asked) >= SAME
            for each in self.votes
        )

    def _moves(self, asked: Counter[str], candidate: Candidate) -> float:
        source, text = candidate.passage.source, Counter(terms(candidate.passage.text))
        total = 0.0
        for vote in self.votes:
            same = (source.collection, source.document) in vote.documents
            near = 1.0 if same else max((bag_cosine(text, each) ** 2 for each in vote.texts), default=0.0)
            meant = max(ELSEWHERE, bag_cosine(asked, vote.asked))
            total += (LIKED if vote.liked else -DISLIKED) * meant * near
        return max(-1.0, min(1.0, total))


def bag_cosine(one: Counter[str], other: Counter[str]) -> float:
    """Cosine of two bags of words; 0 where one is empty."""
    shared = sum(count * other[word] for word, count in one.items())
    length = math.sqrt(sum(c * c for c in one.values()) * sum(c * c for c in other.values()))
    return shared / length if length else 0.0
