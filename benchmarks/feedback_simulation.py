"""Does an answer bot get better by votes, also where three in ten voters mean ill?

    python benchmarks/feedback_simulation.py --data DIR [--users 40] [--rounds 8] [--seeds 8] [--out DIR]

Questions of a judged folder (as of `eval liveqa`) are asked by people who see the first document and vote on it: up
with .1, .3, .7 or .9 for grades 0 to 3 (unjudged counts 0; the best grade of binary judgements counts 3). A hostile one
votes the other way round, and every second time on the question that all of them are after. Each round has so many
users, each a conversation of `--questions` questions drawn from three quarters of all; the rest is held out.

After each round a fusion is trained from all votes so far, by the code of `train fusion --from-feedback`:

- `safeguards`: it is used at once where it is better by interleaving on votes of questions that it did not see; else it
  is the challenger of the next round, and with `--challenge` decides how often its first document is shown, by a coin,
  where it differs; it is used then if it wins more conversations than it loses;
- `unchecked`: the same fusion is always used;
- `naive`: the last vote on a document is taken at its word, LambdaMART learns it from nothing, and is always used.

Shown is the mean grade of first documents (avg-score without abstention) of the questions that were voted on and of the
held-out ones, over rounds; ± is the standard error over seeds, which draw questions, users and votes.
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

import numpy as np

from qa_bot.interleaving.team_draft import Interleaved
from qa_core.measures.metrics import standard_error
from qa_core.measures.plots import draw_bands
from qa_core.types import FloatArray
from qa_lab.evaluate.datasets import read_dataset
from qa_lab.evaluate.evaluation_home import evaluation_home
from qa_lab.evaluate.systems import rank
from qa_lab.train.fusion.feedback import VotedData, compare, with_votes
from qa_lab.train.fusion.fusion_data import FusionTrainingData, of_judgements
from qa_lab.train.fusion.fusion_settings import CORRECTING
from qa_lab.train.fusion.votes import VoterOpinion, VoteSettings
from rankers.fusion import FusionConfig, LearnedFusion, Scores, cross_validated, with_columns
from rankers.rank_prior import RANK

UP = (0.1, 0.3, 0.7, 0.9)
"""How often people vote for a document of each grade."""
POLICIES = ("safeguards", "unchecked", "naive")
PARTS, FOLDS = 4, 3
"""Of the questions: one of so many parts is held out; the rest is cross-validated in so many."""
SETTINGS = VoteSettings(drafts=10)
LIKED, UNKNOWN, DISLIKED = 2, 1, 0
"""Grades of the naive way."""


@dataclass(frozen=True)
class World:
    """Questions with candidates in the order of the formulas (N of all together), and how good each is."""

    lessons: FusionTrainingData
    grades: np.ndarray  # (N,), 0 where nobody judged

    @property
    def questions(self) -> int:
        return self.lessons.questions

    @property
    def order(self) -> FloatArray:
        """(N,), scores of the formulas."""
        question = self.lessons.scores.question
        return -(np.arange(len(question)) - np.searchsorted(question, question)).astype(np.float32)

    def first(self, scores: FloatArray) -> np.ndarray:
        """(Q,), rows of the first documents."""
        order = np.lexsort((-scores, self.lessons.scores.question))
        return order[np.searchsorted(self.lessons.scores.question, np.arange(self.questions))]

    def avg_score(self, scores: FloatArray, questions: np.ndarray) -> float:
        return float(self.grades[self.first(scores)[questions]].mean())

    def scored(self, fusion: LearnedFusion) -> FloatArray:
        return fusion.score(with_columns(self.lessons.scores, -self.order[:, None], (RANK,)))

    def up(self) -> np.ndarray:
        """(N,), how often people vote for a document."""
        return np.array(UP)[np.rint(self.grades * 3 / self.grades.max()).astype(int)]


@dataclass
class Site:
    """What is in force, what challenges it, and what people said."""

    present: FloatArray
    challenger: FloatArray | None = None
    voices: dict[tuple[str, tuple[str, str]], VoterOpinion] = field(default_factory=dict)
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


def ask(site: Site, world: World, number: int, options: argparse.Namespace, rng: np.random.Generator, train, target):
    """A round of users; the votes on drafts, each conversation's credit for the challenger."""
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
            site.voices[voter, item] = VoterOpinion(voter, item, liked)
        credit.append(total)
    return credit


def voted(site: Site, world: World) -> VotedData:
    """What is learnt from all votes so far: questions that were voted on, numbered anew."""
    given = [*site.voices.values()]
    numbers = sorted({int(each.item[0]) for each in given})
    rows = np.isin(world.lessons.scores.question, numbers)
    scores = world.lessons.scores.at(rows)
    lessons = replace(
        world.lessons,
        scores=Scores(scores.table, scores.names, np.searchsorted(numbers, scores.question)),
        candidates=tuple(np.array(world.lessons.candidates, dtype=object)[rows]),
        qrels={},
    )
    return with_votes(lessons, given, [str(each) for each in numbers], present=site.present[rows], settings=SETTINGS)


def learnt(told: VotedData, world: World, seed: int) -> FloatArray:
    lessons, config = told.data, seeded(CORRECTING, seed)
    fusion = LearnedFusion.fit(lessons.scores, lessons.grades, weights=lessons.weights, config=config, prior=told.prior)
    return world.scored(fusion)


def wins(told: VotedData, seed: int) -> bool:
    """Whether what is learnt is better on votes of questions that it did not see."""
    lessons = told.data
    challenger = cross_validated(
        lessons.scores,
        lessons.grades,
        folds=FOLDS,
        config=seeded(CORRECTING, seed),
        weights=lessons.weights,
        prior=told.prior,
        part=told.parts(FOLDS),
    )
    return compare(told, challenger, settings=SETTINGS, seed=seed).better


def naively(site: Site, world: World, seed: int) -> FloatArray:
    last = {voice.item: voice.up for voice in site.voices.values()}
    scores = world.lessons.scores
    pairs = zip(scores.question.tolist(), world.lessons.candidates, strict=True)
    said = [last.get((str(number), candidate)) for number, candidate in pairs]
    grades = np.array([UNKNOWN if each is None else LIKED if each else DISLIKED for each in said], dtype=float)
    heard = np.isin(scores.question, [int(question) for question, _ in last])
    fusion = LearnedFusion.fit(scores, np.where(heard, grades, math.nan), config=seeded(FusionConfig(), seed))
    return fusion.score(scores)


def seeded(config: FusionConfig, seed: int) -> FusionConfig:
    return replace(config, trees=replace(config.trees, seed=seed))


def learn(site: Site, world: World, policy: str, credit: Sequence[int], seed: int) -> None:
    """What happens between two rounds."""
    if policy == "naive":
        site.adopt(naively(site, world, seed))
        return
    if policy == "safeguards" and site.challenger is not None:
        live = Interleaved.of(credit)
        if live.wins > live.losses:
            site.adopt(site.challenger)
    told = voted(site, world)
    scores = learnt(told, world, seed)
    if policy == "unchecked" or wins(told, seed):
        site.adopt(scores)
    else:
        site.challenger = scores


def simulated(world: World, policy: str, seed: int, options: argparse.Namespace) -> tuple[list[list[float]], int]:
    """avg-score of voted and held-out questions before the first round and after each, and how often was adopted."""
    rng = np.random.default_rng(seed)
    part = rng.permutation(world.questions) % PARTS
    train, held = np.flatnonzero(part != seed % PARTS), np.flatnonzero(part == seed % PARTS)
    site, target = Site(world.order), rng.choice(train)
    curve = [[world.avg_score(site.present, each) for each in (train, held)]]
    for number in range(options.rounds):
        credit = ask(site, world, number, options, rng, train, target)
        learn(site, world, policy, credit, seed)
        curve.append([world.avg_score(site.present, each) for each in (train, held)])
    return curve, site.adopted


def summary(curves: np.ndarray, adopted: Sequence[int]) -> dict[str, object]:
    """Of curves (S, R + 1, 2)."""
    rows: dict[str, object] = {"adopted": round(float(np.mean(adopted)), 2)}
    for place, name in enumerate(("voted", "held_out")):
        told = curves[:, :, place]
        rises = (told[:, -1] - told[:, 0]).tolist()
        rows[name] = {
            "mean": np.round(told.mean(axis=0), 4).tolist(),
            "standard_error": [round(standard_error(column), 4) for column in told.T.tolist()],
            "rise": round(float(np.mean(rises)), 4),
            "rise_standard_error": round(standard_error(rises), 4),
            "least": round(float(told.mean(axis=0).min()), 4),
        }
    return rows


def drawn(out: Path, rows: dict[str, dict]) -> None:
    for name in ("voted", "held_out"):
        lines = {
            label: (
                np.arange(len(row[name]["mean"])),
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
    parser.add_argument("--depth", type=int, default=30, help="documents that are put in order")
    parser.add_argument("--users", type=int, default=40, help="a round")
    parser.add_argument("--questions", type=int, default=3, help="of a user")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--hostile", type=float, nargs="+", default=[0.0, 0.3], help="shares of users")
    parser.add_argument(
        "--challenge", type=float, default=0.5, help="share of questions that the challenger takes part in"
    )
    parser.add_argument("--policy", nargs="+", choices=POLICIES, default=list(POLICIES))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    asked = world(options.data, depth=options.depth, limit=options.limit)
    rows: dict[str, dict] = {}
    for policy in options.policy:
        for hostile in options.hostile:
            began = time.monotonic()
            given = argparse.Namespace(**{**vars(options), "hostile": hostile})
            runs = [simulated(asked, policy, seed, given) for seed in range(options.seeds)]
            row = summary(np.array([curve for curve, _ in runs]), [adopted for _, adopted in runs])
            rows[f"{policy}, {hostile:.0%} hostile"] = row
            sys.stderr.write(f"{policy}, {hostile:.0%} hostile: {time.monotonic() - began:.0f} s\n")
            told = "; ".join(
                f"{name} {row[name]['mean'][0]:.3f} → {row[name]['mean'][-1]:.3f}, {row[name]['rise']:+.3f} ± "
                f"{row[name]['rise_standard_error']:.3f}, least {row[name]['least']:.3f}"
                for name in ("voted", "held_out")
            )
            sys.stdout.write(f"{policy}, {hostile:.0%} hostile: {told}; adopted {row['adopted']}\n")
            sys.stdout.flush()
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        settings = {name: value for name, value in vars(options).items() if name not in ("data", "out")}
        report = {"questions": asked.questions, "set": options.data.name, **settings, "rows": rows}
        (options.out / "feedback.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        drawn(options.out, rows)


if __name__ == "__main__":
    main()
