"""Simulation of learning from users' votes, with and without hostile users.

    python benchmarks/feedback_simulation.py --data DIR [--users 40] [--rounds 8] [--seeds 8] [--out DIR]

Simulated users ask questions of a judged folder (as of `eval liveqa`), see the first document and vote on it: up with
probability .1, .3, .7 or .9 for grades 0 to 3 (unjudged documents have grade 0, the best grade of binary judgements
counts as 3). Hostile users invert their votes, and half of their questions are one common target. Each round has
`--users` conversations of `--questions` questions, drawn from three quarters of all questions; the rest is held out.

After each round, the code of `train fusion --from-feedback` trains a fusion from all votes so far. A policy decides
whether it is used:

- `safeguards`: at once if it is better by interleaving on votes of unseen questions; otherwise it is the challenger of
  the next round and is used if it wins more conversations than it loses. `--challenge` is the share of questions where
  a coin decides between its first document and the present one, if they differ;
- `unchecked`: always;
- `naive`: always, and LambdaMART is trained from scratch on the last vote on each document, without any correction.

The figures are mean grades of first documents (avg-score without abstention) over rounds, for questions with votes and
held-out questions; ± is the standard error over seeds, which determine questions, users and votes.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from qa_bot.interleaving.team_draft import Interleaved
from qa_core.measures.metrics import standard_error
from qa_core.measures.plots import draw_bands
from qa_core.types import FloatArray, IntArray
from qa_lab.data.fusion_data import FusionTrainingData, of_judgements
from qa_lab.evaluate.datasets import read_dataset
from qa_lab.evaluate.evaluation_home import evaluation_home
from qa_lab.evaluate.systems import rank
from qa_lab.train.fusion.feedback import VotedData, compare, with_votes
from qa_lab.train.fusion.fusion_settings import CORRECTING
from qa_lab.train.fusion.votes import VoterOpinion, VoteSettings
from rankers.fusion import FusionConfig, LearnedFusion, Scores, cross_validated, with_columns
from rankers.rank_prior import RANK

UP = (0.1, 0.3, 0.7, 0.9)
"""Probability of an up vote for a document, by grade."""
POLICIES = ("safeguards", "unchecked", "naive")
PARTS, FOLDS = 4, 3
"""Parts of the questions, of which one is held out, and folds of cross-validation on the others."""
SETTINGS = VoteSettings(drafts=10)
LIKED, UNKNOWN, DISLIKED = 2, 1, 0
"""Grades of the naive policy."""


@dataclass(frozen=True)
class World:
    """Q questions with N candidates in all, ordered by the untrained fusion, and the candidates' grades."""

    lessons: FusionTrainingData
    grades: np.ndarray  # (N,), 0 if unjudged

    @property
    def questions(self) -> int:
        return self.lessons.questions

    @property
    def order(self) -> FloatArray:
        """(N,), scores of the untrained fusion."""
        question = self.lessons.scores.question
        return -(np.arange(len(question)) - np.searchsorted(question, question)).astype(np.float32)

    def first(self, scores: FloatArray) -> np.ndarray:
        """(Q,), rows of the first documents by scores (N,)."""
        order = np.lexsort((-scores, self.lessons.scores.question))
        return order[np.searchsorted(self.lessons.scores.question, np.arange(self.questions))]

    def avg_score(self, scores: FloatArray, questions: np.ndarray) -> float:
        return float(self.grades[self.first(scores)[questions]].mean())

    def score(self, fusion: LearnedFusion) -> FloatArray:
        return fusion.score(with_columns(self.lessons.scores, -self.order[:, None], (RANK,)))

    def up(self) -> np.ndarray:
        """(N,), probability of an up vote."""
        shares: np.ndarray = np.array(UP)[np.rint(self.grades * 3 / self.grades.max()).astype(int)]
        return shares


@dataclass
class Site:
    """Scores in use, scores of the challenger, and all votes."""

    present: FloatArray
    challenger: FloatArray | None = None
    votes: dict[tuple[str, tuple[str, str]], VoterOpinion] = field(default_factory=dict)
    adopted: int = 0

    def adopt(self, scores: FloatArray) -> None:
        self.present, self.challenger, self.adopted = scores, None, self.adopted + 1


def world(folder: Path, *, depth: int, limit: int | None) -> World:
    dataset = read_dataset(folder, limit=limit)
    judged = {document for of in dataset.qrels.values() for document in of}
    flags = {"dense.encoder": "starter", "ranking.depth": depth}
    with (
        evaluation_home([dataset.corpus], collection=dataset.name, judged=judged, flags=flags) as data,
        data.opened() as bot,
    ):
        corridor = bot.corridor()
        lessons = of_judgements(
            [query.question for query in dataset.queries],
            dataset.qrels,
            lambda question, depth: rank(corridor, question, engine="hybrid", depth=depth).candidates,
            depth=depth,
        )
    return World(lessons, lessons.grades)


def ask(
    site: Site,
    world: World,
    number: int,
    options: argparse.Namespace,
    rng: np.random.Generator,
    train: IntArray,
    target: int,
) -> list[int]:
    """Simulate the users of a round; returns each conversation's credit for the challenger."""
    firsts = [world.first(site.present), world.first(site.present if site.challenger is None else site.challenger)]
    up, credit = world.up(), []
    for user in range(options.users):
        hostile, total = rng.random() < options.hostile, 0
        for _ in range(options.questions):
            question = target if hostile and rng.random() < 0.5 else rng.choice(train)
            drafted = firsts[0][question] != firsts[1][question] and rng.random() < options.challenge
            team = int(drafted and rng.random() < 0.5)
            row = firsts[team][question]
            liked = bool(rng.random() < (1 - up[row] if hostile else up[row]))
            total += (1 if liked else -1) * (1 if team else -1) if drafted else 0
            voter, item = f"{number}-{user}", (str(question), world.lessons.candidates[row])
            site.votes[voter, item] = VoterOpinion(voter, item, liked)
        credit.append(total)
    return credit


def voted(site: Site, world: World) -> VotedData:
    """Training data of all votes so far: questions with votes, renumbered from 0."""
    votes = [*site.votes.values()]
    numbers = sorted({int(vote.item[0]) for vote in votes})
    rows = np.isin(world.lessons.scores.question, numbers)
    scores = world.lessons.scores.at(rows)
    lessons = replace(
        world.lessons,
        scores=Scores(scores.table, scores.names, np.searchsorted(numbers, scores.question)),
        candidates=tuple(np.array(world.lessons.candidates, dtype=object)[rows]),
        qrels={},
    )
    return with_votes(
        lessons, votes, [str(number) for number in numbers], present=site.present[rows], settings=SETTINGS
    )


def learned(data: VotedData, world: World, seed: int) -> FloatArray:
    lessons, config = data.data, seeded(CORRECTING, seed)
    fusion = LearnedFusion.fit(lessons.scores, lessons.grades, weights=lessons.weights, config=config, prior=data.prior)
    return world.score(fusion)


def wins(data: VotedData, seed: int) -> bool:
    """Whether a fusion trained on the votes is better on votes of unseen questions."""
    lessons = data.data
    challenger = cross_validated(
        lessons.scores,
        lessons.grades,
        folds=FOLDS,
        config=seeded(CORRECTING, seed),
        weights=lessons.weights,
        prior=data.prior,
        part=data.parts(FOLDS),
    )
    return compare(data, challenger, settings=SETTINGS, seed=seed).better


def learned_naively(site: Site, world: World, seed: int) -> FloatArray:
    last = {vote.item: vote.up for vote in site.votes.values()}
    scores = world.lessons.scores
    pairs = zip(scores.question.tolist(), world.lessons.candidates, strict=True)
    grade_of = {None: UNKNOWN, True: LIKED, False: DISLIKED}
    grades = np.array([grade_of[last.get((str(number), candidate))] for number, candidate in pairs], dtype=float)
    voted_rows = np.isin(scores.question, [int(question) for question, _ in last])
    fusion = LearnedFusion.fit(scores, np.where(voted_rows, grades, math.nan), config=seeded(FusionConfig(), seed))
    return fusion.score(scores)


def seeded(config: FusionConfig, seed: int) -> FusionConfig:
    return replace(config, trees=replace(config.trees, seed=seed))


def learn(site: Site, world: World, policy: str, credit: Sequence[int], seed: int) -> None:
    """Train and apply the policy between two rounds."""
    if policy == "naive":
        site.adopt(learned_naively(site, world, seed))
        return
    if policy == "safeguards" and site.challenger is not None:
        live = Interleaved.of(credit)
        if live.wins > live.losses:
            site.adopt(site.challenger)
    data = voted(site, world)
    scores = learned(data, world, seed)
    if policy == "unchecked" or wins(data, seed):
        site.adopt(scores)
    else:
        site.challenger = scores


def simulate(world: World, policy: str, seed: int, options: argparse.Namespace) -> tuple[list[list[float]], int]:
    """avg-score of voted and held-out questions before the first and after each round, and the number of adoptions."""
    rng = np.random.default_rng(seed)
    part_of = rng.permutation(world.questions) % PARTS
    train, held = np.flatnonzero(part_of != seed % PARTS), np.flatnonzero(part_of == seed % PARTS)
    site, target = Site(world.order), rng.choice(train)
    curve = [[world.avg_score(site.present, part) for part in (train, held)]]
    for number in range(options.rounds):
        credit = ask(site, world, number, options, rng, train, target)
        learn(site, world, policy, credit, seed)
        curve.append([world.avg_score(site.present, part) for part in (train, held)])
    return curve, site.adopted


def summary(curves: np.ndarray, adopted: Sequence[int]) -> dict[str, Any]:
    """Figures of curves (S, R + 1, 2) over S seeds and R rounds."""
    rows: dict[str, Any] = {"adopted": round(float(np.mean(adopted)), 2)}
    for index, name in enumerate(("voted", "held_out")):
        grades = curves[:, :, index]
        rises = (grades[:, -1] - grades[:, 0]).tolist()
        rows[name] = {
            "mean": np.round(grades.mean(axis=0), 4).tolist(),
            "standard_error": [round(standard_error(column), 4) for column in grades.T.tolist()],
            "rise": round(float(np.mean(rises)), 4),
            "rise_standard_error": round(standard_error(rises), 4),
            "least": round(float(grades.mean(axis=0).min()), 4),
        }
    return rows


def plot(out: Path, rows: dict[str, dict[str, Any]]) -> None:
    for name in ("voted", "held_out"):
        lines = {
            label: (
                np.arange(len(row[name]["mean"]), dtype=np.float64),
                np.array(row[name]["mean"]),
                np.array(row[name]["standard_error"]),
            )
            for label, row in rows.items()
        }
        draw_bands(out / f"{name}.png", lines, x="round", y=f"avg-score, {name.replace('_', '-')} questions")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a judged folder")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--depth", type=int, default=30, help="documents that are ranked")
    parser.add_argument("--users", type=int, default=40, help="users in a round")
    parser.add_argument("--questions", type=int, default=3, help="questions of a user")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--hostile", type=float, nargs="+", default=[0.0, 0.3], help="shares of hostile users")
    parser.add_argument("--challenge", type=float, default=0.5, help="share of questions with a challenger")
    parser.add_argument("--policy", nargs="+", choices=POLICIES, default=list(POLICIES))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    questions = world(options.data, depth=options.depth, limit=options.limit)
    rows: dict[str, dict[str, Any]] = {}
    for policy in options.policy:
        for hostile in options.hostile:
            began = time.monotonic()
            settings = argparse.Namespace(**{**vars(options), "hostile": hostile})
            runs = [simulate(questions, policy, seed, settings) for seed in range(options.seeds)]
            row = summary(np.array([curve for curve, _ in runs]), [adopted for _, adopted in runs])
            rows[f"{policy}, {hostile:.0%} hostile"] = row
            sys.stderr.write(f"{policy}, {hostile:.0%} hostile: {time.monotonic() - began:.0f} s\n")
            line = "; ".join(
                f"{name} {row[name]['mean'][0]:.3f} → {row[name]['mean'][-1]:.3f}, {row[name]['rise']:+.3f} ± "
                f"{row[name]['rise_standard_error']:.3f}, least {row[name]['least']:.3f}"
                for name in ("voted", "held_out")
            )
            sys.stdout.write(f"{policy}, {hostile:.0%} hostile: {line}; adopted {row['adopted']}\n")
            sys.stdout.flush()
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        shown = {name: value for name, value in vars(options).items() if name not in ("data", "out")}
        report = {"questions": questions.questions, "set": options.data.name, **shown, "rows": rows}
        (options.out / "feedback.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        plot(options.out, rows)


if __name__ == "__main__":
    main()
