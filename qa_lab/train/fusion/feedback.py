"""What a fusion learns from votes, and whether it is better than the ranking that people voted on.

Of each document is expected how good it is: by its place, and by what was said of it, in log-odds

    log(y / (1 − y)) = log(p(r) / (1 − p(r))) + evidence

and trees learn from scores of stages to correct p towards y. They see no document and no question, only how stages
scored it, so a vote on one document promotes it no further than all documents that stages score alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qa_bot.answering.models.ranker_loading import open_fusion
from qa_bot.answering.stages.owner_answers import is_owned
from qa_bot.bot import Bot
from qa_bot.home.config import load_config
from qa_bot.home.question_key import question_key
from qa_bot.interleaving.challenger import fingerprint, points
from qa_bot.interleaving.team_draft import Interleaved, interleaved
from qa_core.types import Candidate, FloatArray, Question
from qa_lab.evaluate.systems import rank
from qa_lab.train.fusion.fusion_data import FusionTrainingData, of_judgements, single_feature_scores
from qa_lab.train.fusion.votes import Opinion, VoterOpinion, VoteSettings, first_place, opinions, shrinkage, voices
from rankers.fusion import LearnedFusion, joined
from rankers.neural import NeuralRanker
from rankers.rank_prior import RANK, RankPrior
from rankers.training.ndcg_by_feature import ndcg_by_feature

if TYPE_CHECKING:
    from qa_bot.home.store import Feedback, Turn

MEASURE = "nDCG@10"
"""Of the documents that were voted on alone: of others nobody knows whether they stand where they should."""


@dataclass(frozen=True, slots=True, eq=False)
class Voted:
    """FusionTrainingData from votes, beside the ranking that is in force. N candidates of all questions together."""

    lessons: FusionTrainingData
    places: RankPrior
    told: tuple[Opinion | None, ...]  # (N,), None where nobody said anything
    present: FloatArray  # (N,), scores of the ranking in force
    voices: int
    voters: int
    tried: Interleaved | None = None  # the challenger in force against it, by votes on drafts from both

    @property
    def questions(self) -> int:
        """That something is said of."""
        said = [each is not None for each in self.told]
        return len(np.unique(self.lessons.scores.question[said]))

    def parts(self, folds: int) -> list[int]:
        """The part of each question that has candidates, so that questions with votes spread over all parts."""
        question = self.lessons.scores.question
        said = set(question[[each is not None for each in self.told]].tolist())
        order = sorted(np.unique(question).tolist(), key=lambda number: (number not in said, number))
        part = {number: place % folds for place, number in enumerate(order)}
        return [part[number] for number in sorted(part)]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The new ranking beside the present one, on votes that it did not learn from."""

    interleaved: Interleaved
    ndcg: float
    present_ndcg: float
    voices: int
    voters: int
    tried: Interleaved | None = None  # the challenger in force, by votes of people who were shown its documents

    @property
    def better(self) -> bool:
        return not self.shortcomings

    @property
    def shortcomings(self) -> list[str]:
        """What speaks against the new ranking."""
        told, found = self.interleaved, []
        if told.wins <= told.losses:
            found.append(f"it wins {told.wins:,} questions and loses {told.losses:,}")
        if told.margin <= 0:
            found.append(f"its credit is {told.margin:+.3f} a question")
        if self.ndcg < self.present_ndcg:
            found.append(f"its {MEASURE} is {self.ndcg:.3f}, the present one's {self.present_ndcg:.3f}")
        return found

    def text(self) -> str:
        told = self.interleaved
        return (
            f"against the present ranking, interleaved, by {self.voices:,} votes of {self.voters:,} voters: "
            f"{told.wins:,} questions won, {told.losses:,} lost, {told.ties:,} even (p = {told.p:.2g} by the sign "
            f"test), credit {told.margin:+.3f}; {MEASURE} {self.present_ndcg:.3f} → {self.ndcg:.3f}"
        )

    def text_of_trial(self) -> str:
        """What people made of the challenger in force; empty where none is."""
        if (told := self.tried) is None:
            return ""
        found = f"voters for it {told.wins:,}, against it {told.losses:,}, even {told.ties:,} (p = {told.p:.2g})"
        verdict = "use it in place of the present one" if told.wins > told.losses else "it is not better so far"
        return f"the challenger in force, as people voted on drafts from both: {found}; {verdict}"


def voted_in(
    home: Path, *, depth: int, models: Sequence[NeuralRanker], keywords: bool, settings: VoteSettings
) -> Voted:
    """What people said about answers of a home, by its own pipeline as it is configured now."""
    with Bot.open(home, flags={"ranking.fusion": "", "ranking.depth": depth}, record=False) as bot:
        votes = bot.store.voted()
        given = voices(votes)
        asked = {question_key(text): text for turn, _ in votes for text in (turn.rewritten or turn.question,)}
        keys = list(dict.fromkeys(each.item[0] for each in given))
        corridor, force = bot.corridor(), _InForce.of(home)

        def ranked(question: Question, depth: int) -> list[Candidate]:
            found = rank(corridor, question, engine="hybrid", depth=depth).candidates
            candidates = [each for each in found if not is_owned(each)][:depth]
            force.note(question, candidates)
            return candidates

        lessons = of_judgements(
            [Question(asked[key], id=key) for key in keys], {}, ranked, depth=depth, models=models, keywords=keywords
        )
    present = np.concatenate([*force.scores, np.zeros(0, np.float32)])
    told = taught(lessons, given, keys, present=present, settings=settings)
    challenger = load_config(home).ranking.challenger
    return replace(told, tried=tried(votes, open_fusion(Path(challenger))) if challenger else None)


def tried(voted: Sequence[tuple[Turn, Feedback]], challenger: LearnedFusion) -> Interleaved:
    """Votes on drafts from the ranking in force and a challenger: a voter is a win, a loss, or even.

    Each conversation has one voice however often it votes, as have all turns without one.
    """
    name, said = fingerprint(challenger), dict[str, float]()
    for turn, given in voted:
        found = points(turn.answer, name, up=given.vote == "up")
        if found is not None:
            voter = turn.conversation or ""
            said[voter] = said.get(voter, 0.0) + found
    return Interleaved.of([*said.values()])


def taught(
    lessons: FusionTrainingData,
    given: Sequence[VoterOpinion],
    keys: Sequence[str],
    *,
    present: FloatArray,
    settings: VoteSettings,
) -> Voted:
    """What voices say of candidates, which stand in the order of the formulas.

    Args:
        keys: of the questions, by number.
        present: (N,), scores of the ranking in force.
    """
    said = opinions(given, per_voter=settings.per_voter)
    pairs = zip(lessons.scores.question.tolist(), lessons.candidates, strict=True)
    told = tuple(said.get((keys[number], candidate)) for number, candidate in pairs)
    places, place = RankPrior(first_place(given)), _places(lessons)
    evidence = np.array([0.0 if each is None else each.evidence for each in told])
    firm = [settings.unvoted if each is None else shrinkage(each, agree=settings.agree) for each in told]
    grades = 1 / (1 + np.exp(-places.log_odds(place) - evidence))
    scores = joined(lessons.scores, place[:, None].astype(np.float32), (RANK,))
    lessons = replace(lessons, scores=scores, grades=grades, weights=np.array(firm))
    return Voted(lessons, places, told, present, len(given), len({each.voter for each in given}))


def compared(voted: Voted, challenger: FloatArray, *, settings: VoteSettings, seed: int) -> Comparison:
    """By scores (N,) of trees that did not see the question."""
    present, new = (_ranked(voted.lessons, scores) for scores in (voted.present, challenger))
    credit = [*credited(voted, settings).values()]
    found = interleaved(present, new, credit, drafts=settings.drafts, seed=seed)
    ndcg, before = measured(voted, [challenger, voted.present])
    return Comparison(found, ndcg, before, voted.voices, voted.voters, voted.tried)


def measured(voted: Voted, columns: Sequence[FloatArray]) -> list[float]:
    """nDCG@10 of the documents that were voted on, by each of some scores (N,); the gain is how surely it is good."""
    rows = np.flatnonzero([each is not None for each in voted.told])
    good = np.array([_good(voted.told[row]) for row in rows.tolist()])
    found: list[float] = ndcg_by_feature(
        np.stack(columns, axis=1)[rows], good, voted.lessons.scores.question[rows]
    ).tolist()
    return found


def stages(voted: Voted) -> dict[str, float]:
    """The same of each stage alone."""
    alone = {name: each for name, each in single_feature_scores(voted.lessons) if name != RANK}
    return dict(zip(alone, measured(voted, list(alone.values())), strict=True)) if alone else {}


def credited(voted: Voted, settings: VoteSettings) -> dict[int, dict[str, float]]:
    """By question: documents that something was said of, and how much better they are than one that nobody knows.

    Of that is expected what such documents are on average, and not more than that it is as likely good as not. Were it
    worth nothing, no ranking could be better than the one that people voted on.
    """
    lessons = voted.lessons
    firm = [0.0 if each is None else shrinkage(each, agree=settings.agree) for each in voted.told]
    good = [_good(each) for each in voted.told]
    unknown = min(float(np.average(good, weights=firm)), 0.5) if any(firm) else 0.5
    found: dict[int, dict[str, float]] = {number: {} for number in np.unique(lessons.scores.question).tolist()}
    rows = zip(lessons.scores.question.tolist(), lessons.candidates, firm, good, strict=True)
    for number, candidate, weight, share in rows:
        if weight:
            found[number][candidate] = weight * (share - unknown)
    return found


class _InForce:
    """The order of a learned fusion that a home is configured with, or that of the formulas."""

    def __init__(self, fusion: LearnedFusion | None) -> None:
        self._fusion = fusion
        self.scores: list[FloatArray] = []  # (N of the question,), each

    @classmethod
    def of(cls, home: Path) -> _InForce:
        folder = load_config(home).ranking.fusion
        return cls(open_fusion(Path(folder)) if folder else None)

    def note(self, question: Question, candidates: Sequence[Candidate]) -> None:
        """Candidates of the next question, in the order of the formulas."""
        ranked = candidates if self._fusion is None else self._fusion.rank(question, candidates)
        places = {each.passage.id: place for place, each in enumerate(ranked)}
        self.scores.append(np.array([-places[each.passage.id] for each in candidates], dtype=np.float32))


def _good(opinion: Opinion | None) -> float:
    """How surely a document is good, whatever its place."""
    return 0.0 if opinion is None else float(1 / (1 + np.exp(-opinion.evidence)))


def _places(lessons: FusionTrainingData) -> NDArray[np.float64]:
    """(N,), from 0, as the candidates of a question stand."""
    question = lessons.scores.question
    places: NDArray[np.float64] = (np.arange(len(question)) - np.searchsorted(question, question)).astype(np.float64)
    return places


def _ranked(lessons: FusionTrainingData, scores: FloatArray) -> list[list[str]]:
    """Documents of each question, best first; equal scores keep their order."""
    question = lessons.scores.question
    order = np.lexsort((-scores, question))
    starts = np.searchsorted(question, np.unique(question))[1:]
    return [[lessons.candidates[row] for row in rows] for rows in np.split(order, starts)]
