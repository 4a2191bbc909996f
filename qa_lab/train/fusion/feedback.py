"""Training data of a fusion from votes, and its comparison with the ranking that users voted on.

The expected grade y of a document follows from its rank r and from the votes on it, in log-odds

    log(y / (1 − y)) = log(p(r) / (1 − p(r))) + evidence

and trees learn from scores of stages to correct p towards y. They see no document and no question, only the scores of
stages, so a vote on one document affects it as much as all documents with the same scores.
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
from qa_lab.data.fusion_data import FusionTrainingData, of_judgements, single_feature_scores
from qa_lab.evaluate.systems import rank
from qa_lab.train.fusion.votes import (
    Opinion,
    VoterOpinion,
    VoteSettings,
    first_rank_share,
    joint_opinions,
    shrinkage,
    voter_opinions,
)
from rankers.fusion import LearnedFusion, with_columns
from rankers.neural import NeuralRanker
from rankers.rank_prior import RANK, RankPrior
from rankers.training.ndcg_by_feature import ndcg_by_feature

if TYPE_CHECKING:
    from qa_bot.home.store import Feedback, Turn

MEASURE = "nDCG@10"
"""Of the documents with votes only: whether others are ranked well is unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class VotedData:
    """Training data from votes, with the scores of the ranking in force; N candidates of all questions together."""

    data: FusionTrainingData
    prior: RankPrior
    opinions: tuple[Opinion | None, ...]  # (N,), None without votes
    present: FloatArray  # (N,), scores of the ranking in force
    votes: int
    voters: int
    trial: Interleaved | None = None  # the challenger in force against the ranking, by votes on drafts from both

    @property
    def voted(self) -> NDArray[np.bool_]:
        """Candidates (N,) with votes."""
        return np.array([opinion is not None for opinion in self.opinions], dtype=np.bool_)

    @property
    def questions(self) -> int:
        """Questions with votes."""
        return len(np.unique(self.data.scores.question[self.voted]))

    def parts(self, folds: int) -> list[int]:
        """The part of each question that has candidates; questions with votes are spread over all parts."""
        question = self.data.scores.question
        with_votes = set(question[self.voted].tolist())
        order = sorted(np.unique(question).tolist(), key=lambda number: (number not in with_votes, number))
        part = {number: index % folds for index, number in enumerate(order)}
        return [part[number] for number in sorted(part)]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The new ranking against the present one, on votes that it did not learn from."""

    interleaved: Interleaved
    ndcg: float
    present_ndcg: float
    voices: int  # votes
    voters: int
    tried: Interleaved | None = None  # the challenger in force, by votes of users who saw its documents

    @property
    def better(self) -> bool:
        return not self.shortcomings

    @property
    def shortcomings(self) -> list[str]:
        """Reasons against the new ranking."""
        result = self.interleaved
        reasons = {
            f"it wins {result.wins:,} questions and loses {result.losses:,}": result.wins <= result.losses,
            f"its credit is {result.margin:+.3f} a question": result.margin <= 0,
            f"its {MEASURE} is {self.ndcg:.3f}, the present one's {self.present_ndcg:.3f}": self.ndcg
            < self.present_ndcg,
        }
        return [reason for reason, holds in reasons.items() if holds]

    def text(self) -> str:
        result = self.interleaved
        return (
            f"against the present ranking, interleaved, by {self.voices:,} votes of {self.voters:,} voters: "
            f"{result.wins:,} questions won, {result.losses:,} lost, {result.ties:,} even (p = {result.p:.2g} by the "
            f"sign test), credit {result.margin:+.3f}; {MEASURE} {self.present_ndcg:.3f} → {self.ndcg:.3f}"
        )

    def text_of_trial(self) -> str:
        """Votes on the challenger in force; empty without one."""
        if (trial := self.tried) is None:
            return ""
        counts = f"voters for it {trial.wins:,}, against it {trial.losses:,}, even {trial.ties:,} (p = {trial.p:.2g})"
        verdict = "use it in place of the present one" if trial.wins > trial.losses else "it is not better so far"
        return f"the challenger in force, as people voted on drafts from both: {counts}; {verdict}"


def read_votes(
    home: Path, *, depth: int, models: Sequence[NeuralRanker], keywords: bool, settings: VoteSettings
) -> VotedData:
    """Training data from the votes on answers of a home, with candidates of its present configuration."""
    with Bot.open(home, flags={"ranking.fusion": "", "ranking.depth": depth}, record=False) as bot:
        turns = bot.store.voted()
        votes = voter_opinions(turns)
        questions = {question_key(text): text for turn, _ in turns for text in (turn.rewritten or turn.question,)}
        keys = list(dict.fromkeys(vote.item[0] for vote in votes))
        corridor, in_force = bot.corridor(), _RankingInForce.of(home)

        def ranked(question: Question, depth: int) -> list[Candidate]:
            ranking = rank(corridor, question, engine="hybrid", depth=depth).candidates
            candidates = [candidate for candidate in ranking if not is_owned(candidate)][:depth]
            in_force.note(question, candidates)
            return candidates

        data = of_judgements(
            [Question(questions[key], id=key) for key in keys],
            {},
            ranked,
            depth=depth,
            models=models,
            keywords=keywords,
        )
    present = np.concatenate([*in_force.scores, np.zeros(0, np.float32)])
    voted = with_votes(data, votes, keys, present=present, settings=settings)
    challenger = load_config(home).ranking.challenger
    return replace(voted, trial=trial_of(turns, open_fusion(Path(challenger))) if challenger else None)


def trial_of(voted: Sequence[tuple[Turn, Feedback]], challenger: LearnedFusion) -> Interleaved:
    """Votes on drafts from the ranking in force and a challenger: a voter is a win, a loss, or even.

    Each conversation is one voter; all turns without a conversation together are another.
    """
    name, totals = fingerprint(challenger), dict[str, float]()
    for turn, feedback in voted:
        credit = points(turn.answer, name, up=feedback.vote == "up")
        if credit is not None:
            voter = turn.conversation or ""
            totals[voter] = totals.get(voter, 0.0) + credit
    return Interleaved.of([*totals.values()])


def with_votes(
    data: FusionTrainingData,
    votes: Sequence[VoterOpinion],
    keys: Sequence[str],
    *,
    present: FloatArray,
    settings: VoteSettings,
) -> VotedData:
    """Grades and weights of candidates by votes; candidates are in the order of the formulas.

    Args:
        keys: of the questions, by number.
        present: (N,), scores of the ranking in force.
    """
    by_item = joint_opinions(votes, per_voter=settings.per_voter)
    pairs = zip(data.scores.question.tolist(), data.candidates, strict=True)
    opinions = tuple(by_item.get((keys[number], candidate)) for number, candidate in pairs)
    prior, ranks = RankPrior(first_rank_share(votes)), _ranks(data)
    evidence = np.array([0.0 if opinion is None else opinion.evidence for opinion in opinions])
    weights = [settings.unvoted if o is None else shrinkage(o, agree=settings.agree) for o in opinions]
    grades = 1 / (1 + np.exp(-prior.log_odds(ranks) - evidence))
    scores = with_columns(data.scores, ranks[:, None].astype(np.float32), (RANK,))
    data = replace(data, scores=scores, grades=grades, weights=np.array(weights))
    return VotedData(data, prior, opinions, present, len(votes), len({vote.voter for vote in votes}))


def compare(voted: VotedData, challenger: FloatArray, *, settings: VoteSettings, seed: int) -> Comparison:
    """The ranking by scores (N,) of trees that did not see the question, against the present one."""
    present, new = (_rankings(voted.data, scores) for scores in (voted.present, challenger))
    credit = [*document_credits(voted, settings).values()]
    result = interleaved(present, new, credit, drafts=settings.drafts, seed=seed)
    ndcg, before = measured(voted, [challenger, voted.present])
    return Comparison(result, ndcg, before, voted.votes, voted.voters, voted.trial)


def measured(voted: VotedData, columns: Sequence[FloatArray]) -> list[float]:
    """nDCG@10 of the documents with votes, by each of some scores (N,); the gain is the probability of a good one."""
    rows = np.flatnonzero(voted.voted)
    gains = np.array([_probability(voted.opinions[row]) for row in rows.tolist()])
    table = np.stack(columns, axis=1)[rows]
    values: list[float] = ndcg_by_feature(table, gains, voted.data.scores.question[rows]).tolist()
    return values


def stages(voted: VotedData) -> dict[str, float]:
    """The same of each stage alone."""
    columns = {name: scores for name, scores in single_feature_scores(voted.data) if name != RANK}
    return dict(zip(columns, measured(voted, list(columns.values())), strict=True)) if columns else {}


def document_credits(voted: VotedData, settings: VoteSettings) -> dict[int, dict[str, float]]:
    """By question: the documents with votes, and how much better they are than a document without.

    The latter is expected to be as good as the average voted one, but at most as likely good as not. If it were worth
    nothing, no ranking could be better than the one that users voted on.
    """
    data = voted.data
    weights = [0.0 if o is None else shrinkage(o, agree=settings.agree) for o in voted.opinions]
    good = [_probability(opinion) for opinion in voted.opinions]
    unknown = min(float(np.average(good, weights=weights)), 0.5) if any(weights) else 0.5
    credit: dict[int, dict[str, float]] = {number: {} for number in np.unique(data.scores.question).tolist()}
    for number, candidate, weight, share in zip(
        data.scores.question.tolist(), data.candidates, weights, good, strict=True
    ):
        if weight:
            credit[number][candidate] = weight * (share - unknown)
    return credit


class _RankingInForce:
    """The ranking by the learned fusion that a home is configured with, or by the formulas."""

    def __init__(self, fusion: LearnedFusion | None) -> None:
        self._fusion = fusion
        self.scores: list[FloatArray] = []  # of the candidates of each question

    @classmethod
    def of(cls, home: Path) -> _RankingInForce:
        folder = load_config(home).ranking.fusion
        return cls(open_fusion(Path(folder)) if folder else None)

    def note(self, question: Question, candidates: Sequence[Candidate]) -> None:
        """Score the candidates of the next question, which are in the order of the formulas."""
        ranked = candidates if self._fusion is None else self._fusion.rank(question, candidates)
        ranks = {candidate.passage.id: number for number, candidate in enumerate(ranked)}
        self.scores.append(np.array([-ranks[candidate.passage.id] for candidate in candidates], dtype=np.float32))


def _probability(opinion: Opinion | None) -> float:
    """Of a good document, by votes alone."""
    return 0.0 if opinion is None else float(1 / (1 + np.exp(-opinion.evidence)))


def _ranks(data: FusionTrainingData) -> NDArray[np.float64]:
    """(N,), from 0, in the order of the candidates of a question."""
    question = data.scores.question
    ranks: NDArray[np.float64] = (np.arange(len(question)) - np.searchsorted(question, question)).astype(np.float64)
    return ranks


def _rankings(data: FusionTrainingData, scores: FloatArray) -> list[list[str]]:
    """Documents of each question, best first; equal scores keep their order."""
    question = data.scores.question
    order = np.lexsort((-scores, question))
    starts = np.searchsorted(question, np.unique(question))[1:]
    return [[data.candidates[row] for row in rows] for rows in np.split(order, starts)]
