"""A fusion that is tried on people before it is used: some answers are drafted from it and the ranking in force.

    challenger = Challenger.open(folder, share=0.1)
    if challenger.takes_part(): candidates = challenger.drafted(question, unfused, ranked)

Who brought a document is kept among its scores, so that a vote on the answer, stored with its trace, is a point for or
against that ranking (`qa_bot.learning.interleaving`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from qa_bot.answering.models.ranker_loading import open_fusion
from qa_bot.learning.interleaving import CHALLENGER, LENGTH, team_draft
from qa_core.types import Candidate, Question

if TYPE_CHECKING:
    from rankers.fusion import LearnedFusion

TEAM, DRAFTED = "team", "drafted"
"""Among the scores of a candidate: who brought it, where both rankings do not agree; and its score in the draft."""


@dataclass(frozen=True, slots=True, eq=False)
class Challenger:
    """Safe to share between threads."""

    fusion: LearnedFusion
    share: float  # of questions that it takes part in
    name: str = ""  # its fingerprint
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(cls, folder: Path, *, share: float) -> Self:
        """Raises RankerError where the folder holds no learned fusion, or a damaged one."""
        fusion = open_fusion(folder)
        return cls(fusion, share, fingerprint(fusion))

    def takes_part(self) -> bool:
        with self.lock:
            return bool(self.rng.random() < self.share)

    def drafted(
        self,
        question: Question,
        unfused: Sequence[Candidate],
        present: Sequence[Candidate],
        *,
        check: Callable[[], object],
    ) -> list[Candidate]:
        """The first documents by both rankings, the others after them in the present order, with its scores.

        Args:
            unfused: the candidates in the order of the formulas.
            present: the same in the order in force.
            check: raises once the time is up.
        """
        places = {each.passage.id: each for each in present}
        own = [
            each.passage.id for each in self.fusion.rank(question, unfused, check=check) if each.passage.id in places
        ]
        with self.lock:
            first = self.rng.integers(2, size=LENGTH).tolist()
        agreed = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(places, own, strict=False)))
        teams = dict(team_draft([*places], own, first))
        order = [*teams, *(each for each in places if each not in teams)]
        found = []
        for place, (name, score) in enumerate(zip(order, (each.score for each in present), strict=True)):
            candidate = places[name].scored(DRAFTED, score)
            found.append(candidate if place < agreed or name not in teams else _of(candidate, teams[name]))
        return found


def fingerprint(fusion: LearnedFusion) -> str:
    """The same for the same trees."""
    return blake2b(fusion.trees.text.encode(), digest_size=8).hexdigest()


def points(answer: Mapping[str, Any], challenger: str, *, up: bool) -> float | None:
    """What a vote on a recorded answer is to the challenger of that fingerprint, from −1 to 1.

    None where it took no part: the answer was not drafted, or has no trace.
    """
    trace: Mapping[str, Any] = answer.get("trace") or {}
    if (trace.get("models") or {}).get("challenger") != challenger:
        return None
    teams = {each["document"]: each[TEAM] for each in trace.get("candidates", ()) if TEAM in each}
    used = [each for each in answer.get("sources", ()) if each.get("span") is not None]
    lengths = [(each["document"], each["span"][1] - each["span"][0]) for each in used]
    if not any(document in teams for document, _ in lengths):
        return None
    whole = sum(length for _, length in lengths) or 1
    side = sum(
        length / whole * (1 if teams[document] == CHALLENGER else -1)
        for document, length in lengths
        if document in teams
    )
    return float(side if up else -side)


def _of(candidate: Candidate, team: int) -> Candidate:
    """With the team that brought it; its score stays."""
    return candidate.scored(TEAM, float(team)).scored(DRAFTED, candidate.score)
