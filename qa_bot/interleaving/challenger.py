"""A learned fusion that is tried on users: some answers are interleaved from it and the present ranking.

    challenger = Challenger.open(folder, share=0.1)
    Corridor(…, reorder=[challenger.reorder])

The trace of the answer records which ranking brought a document, so a vote on the answer counts for or against that
ranking (`qa_bot.interleaving.team_draft`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from qa_bot.answering.clock import DRAFTED, Clock
from qa_bot.answering.models.ranker_loading import open_fusion
from qa_bot.answering.stages.owner_answers import is_owned
from qa_bot.answering.stages.rank import Ranking
from qa_bot.home.sections import RankingSection
from qa_bot.interleaving.team_draft import CHALLENGER, LENGTH, team_draft
from qa_core.types import Candidate, Question

if TYPE_CHECKING:
    from rankers.fusion import LearnedFusion

TEAM = "team"
"""Key of a traced candidate: the ranking that brought it, if the two rankings differ."""


@dataclass(frozen=True, slots=True, eq=False)
class Challenger:
    """Safe to share between threads."""

    fusion: LearnedFusion
    share: float  # of the questions that are interleaved
    name: str = ""  # its fingerprint
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng())  # its import takes 2.5 MB
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(cls, folder: Path, *, share: float) -> Self:
        """Raises RankerError if the folder has no learned fusion, or a damaged one."""
        fusion = open_fusion(folder)
        return cls(fusion, share, fingerprint(fusion))

    def takes_part(self) -> bool:
        with self.lock:
            return bool(self.rng.random() < self.share)

    def reorder(self, ranking: Ranking, clock: Clock) -> Ranking:
        """A draft from both rankings, in the challenger's share of the questions and if there is time."""
        first = ranking.candidates[:1]
        if not ranking.before_fusion or any(map(is_owned, first)) or not self.takes_part():
            return ranking
        draft = partial(self.drafted, ranking.question, ranking.before_fusion, ranking.candidates)
        drafted = clock.run(DRAFTED, lambda share: draft(check=share.check), None)
        return ranking if drafted is None else replace(ranking, candidates=tuple(drafted), challenger=self.name)

    def drafted(
        self,
        question: Question,
        unfused: Sequence[Candidate],
        present: Sequence[Candidate],
        *,
        check: Callable[[], object],
    ) -> list[Candidate]:
        """Interleave the first documents of both rankings; the rest keeps the present order and scores.

        Args:
            unfused: the candidates in the order of the formulas.
            present: the same candidates in the present order.
            check: raises when the time is over.
        """
        by_id = {candidate.passage.id: candidate for candidate in present}
        challenging = [c.passage.id for c in self.fusion.rank(question, unfused, check=check) if c.passage.id in by_id]
        with self.lock:
            coins = self.rng.integers(2, size=LENGTH).tolist()
        agreed = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(by_id, challenging, strict=False)))
        teams = dict(team_draft([*by_id], challenging, coins))
        order = [*teams, *(id_ for id_ in by_id if id_ not in teams)]
        scores = [candidate.score for candidate in present]
        return [
            by_id[id_].scored(score, drafted=score, team=None if rank < agreed else teams.get(id_))
            for rank, (id_, score) in enumerate(zip(order, scores, strict=True))
        ]


def fingerprint(fusion: LearnedFusion) -> str:
    """Equal for equal trees."""
    return blake2b(fusion.trees.text.encode(), digest_size=8).hexdigest()


def points(answer: Mapping[str, Any], challenger: str, *, up: bool) -> float | None:
    """Points of a vote on a recorded answer for the challenger with this fingerprint, from −1 to 1.

    None if the answer was not interleaved with it, or has no trace.
    """
    trace: Mapping[str, Any] = answer.get("trace") or {}
    if (trace.get("models") or {}).get("challenger") != challenger:
        return None
    teams = {traced["document"]: traced[TEAM] for traced in trace.get("candidates", ()) if TEAM in traced}
    used = [source for source in answer.get("sources", ()) if source.get("span") is not None]
    lengths = [(source["document"], source["span"][1] - source["span"][0]) for source in used]
    if not any(document in teams for document, _ in lengths):
        return None
    whole = sum(length for _, length in lengths) or 1
    side = sum(
        length / whole * (1 if teams[document] == CHALLENGER else -1)
        for document, length in lengths
        if document in teams
    )
    return float(side if up else -side)


def open_challenger(ranking: RankingSection) -> Challenger | None:
    """The challenger that the configuration names, if any. Raises RankerError."""
    if not ranking.challenger:
        return None
    return Challenger.open(Path(ranking.challenger), share=ranking.challenge)
