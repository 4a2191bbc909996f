"""A fusion that is tried on people before it is used: some answers are drafted from it and the ranking in force.

    challenger = Challenger.open(folder, share=0.1)
    Corridor(…, reorder=[challenger.reorder])

Who brought a document is kept among its scores, so that a vote on the answer, stored with its trace, is a point for or
against that ranking (`qa_bot.interleaving.team_draft`).
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

from qa_bot.answering.clock import Clock
from qa_bot.answering.corridor import DRAFTED
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
            team = None if place < agreed else teams.get(name)
            found.append(places[name].scored(score, drafted=score, team=team))
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


def open_challenger(ranking: RankingSection) -> Challenger | None:
    """The challenger that the configuration names, if any. Raises RankerError."""
    if not ranking.challenger:
        return None
    return Challenger.open(Path(ranking.challenger), share=ranking.challenge)
