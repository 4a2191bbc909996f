"""`train fusion`: from judged answers, answer selection data or people's votes to trees that join all stages' scores.

Rankers whose scores are joined must not have been trained on the same questions, or their scores look too sure: give
development data. Figures come from cross-validation over the questions, the trees that are kept from all of them.

Trees that learn from votes correct the order that is there, and are compare with it before they are recommended
(`qa_lab.train.fusion.votes`, `qa_lab.train.fusion.feedback`, `qa_bot.interleaving.team_draft`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from qa_bot.answering.models.ranker_loading import RankerError, open_rankers, parse_ranker_specs
from qa_bot.home.encoders import STARTER, resolve
from qa_bot.home.folder import Home
from qa_core.measures.metrics import Score
from qa_core.measures.plots import draw_bars
from qa_lab.data.answer_sets import read_answer_sets, select
from qa_lab.data.fusion_data import FusionTrainingData, of_answers, of_judgements, single_feature_scores
from qa_lab.errors import SettingsError, TrainingDataError, TrainingError
from qa_lab.evaluate.datasets import read_dataset, splits
from qa_lab.evaluate.evaluation_home import evaluation_home
from qa_lab.evaluate.systems import rank
from qa_lab.train.fusion.feedback import MEASURE, VotedData, compare, measured, read_votes, stages
from qa_lab.train.fusion.fusion_report import FusionOutcome, card
from qa_lab.train.fusion.fusion_settings import FusionSettings, settings
from qa_lab.train.verb import Job, TrainVerb
from rankers.answer_selection.keyword_features import Keywords
from rankers.fusion import FusionConfig, LearnedFusion, Provenance, cross_validated
from rankers.neural import NeuralRanker
from rankers.rank_prior import RankPrior
from rankers.training.answer_pool import AnswerPool, AnswerSet

ANSWERS, JUDGED = ("AP", "RR"), ("nDCG@10", "RR")
"""Measures of answer selection, and of judged collections."""


def _train(job: Job[FusionSettings]) -> FusionOutcome:
    request, config = job.request, job.settings
    try:
        fusion, outcome = _corrected(job) if request.feedback is not None else _learned(job)
    except FileNotFoundError as error:
        raise TrainingError(str(error)) from error
    outcome = replace(outcome, seconds=round(job.seconds, 2))
    fusion.save(request.out, card=card(outcome, config, request))
    if request.plots:
        gains = {name: share for name, share in outcome.importances.items() if share > 0}
        draw_bars(request.out / "importances.png", gains, label="share of the gains")
    return outcome


FUSION = TrainVerb(_train, settings, lambda _config, _request: 1, "AP")


def _learned(job: Job[FusionSettings]) -> tuple[LearnedFusion, FusionOutcome]:
    """Trees from judged answers or a judged collection."""
    request, config = job.request, job.settings
    rejected = 0
    if len(request.data) == 1 and request.data[0].is_dir() and splits(request.data[0]):
        examples, measures = _of_collection(request.data[0], config, request.limit), JUDGED
    else:
        answers = job.read(read_answer_sets)
        sets, rejected = select(answers.examples, "both"), len(answers.rejects)
        if len(sets) < config.folds:
            raise TrainingDataError(
                f"Expected at least {config.folds} questions with right and wrong answers, but got {len(sets)}; give "
                "more, or lower `folds`."
            )
        keywords = Keywords.of(AnswerPool.of(sets).answers) if config.keywords else None
        examples, measures = _of_answers(sets, config, keywords), ANSWERS
    fusion = _fit(examples, config, request.seed)
    outcome = _measured(fusion, examples, measures, config, _held_out(request.dev, config, examples))
    return fusion, replace(outcome, rejected=rejected)


def _of_answers(sets: Sequence[AnswerSet], config: FusionSettings, keywords: Keywords | None) -> FusionTrainingData:
    encoder = resolve(config.encoder, models=Home.open().models) if config.encoder else None
    return of_answers(sets, models=_models(config.models), encoder=encoder, keywords=keywords)


def _of_collection(folder: Path, config: FusionSettings, limit: int | None) -> FusionTrainingData:
    """Of a folder that `eval liveqa` reads; its collection is searched in a temporary home."""
    dataset = read_dataset(folder, limit=limit)
    flags = {"dense.encoder": config.encoder or STARTER, "ranking.depth": config.depth}
    judged = {document for grades in dataset.qrels.values() for document in grades}
    with (
        evaluation_home([dataset.corpus], collection=dataset.name, judged=judged, flags=flags) as data,
        data.opened() as bot,
    ):
        corridor = bot.corridor()
        return of_judgements(
            [query.question for query in dataset.queries],
            dataset.qrels,
            lambda question, depth: rank(corridor, question, engine="hybrid", depth=depth).candidates,
            depth=config.depth,
            unjudged=0.0 if config.unjudged else math.nan,
            weight=config.unjudged,
            models=_models(config.models),
            keywords=config.keywords,
        )


def _voted(home: Path, config: FusionSettings) -> VotedData:
    """Training data from votes. Raises TrainingDataError for too few votes."""
    voted = read_votes(
        home,
        depth=config.depth,
        models=_models(config.models),
        keywords=config.keywords,
        settings=config.votes,
    )
    least = max(config.votes.least, config.folds)
    if (missing := least - voted.questions) > 0:
        raise TrainingDataError(
            f"Expected votes on at least {least} different questions, but got {voted.questions}, {missing} too few; "
            "vote on more answers in the chat, or lower `votes.least` (and `folds`)."
        )
    return voted


def _corrected(job: Job[FusionSettings]) -> tuple[LearnedFusion, FusionOutcome]:
    """Trees from all votes, and figures of such trees on votes of questions that they did not see."""
    config, seed = job.settings, job.request.seed
    assert job.request.feedback is not None, "checked by the caller"
    voted = _voted(job.request.feedback, config)
    data = voted.data
    fusion = _fit(data, config, seed, prior=voted.prior)
    challenger = cross_validated(
        data.scores,
        data.grades,
        weights=data.weights,
        folds=config.folds,
        config=_seeded(config.fusion, seed),
        prior=voted.prior,
        part=voted.parts(config.folds),
    )
    after, before = measured(voted, [challenger, voted.present])
    alone = {"the present ranking": before, **dict(sorted(stages(voted).items(), key=lambda item: -item[1]))}
    return fusion, FusionOutcome(
        questions=data.questions,
        candidates=len(data.candidates),
        held_out=0,
        fusion={MEASURE: round(after, 6)},
        stages={name: {MEASURE: round(value, 6)} for name, value in alone.items()},
        importances=fusion.importances(),
        votes=compare(voted, challenger, settings=config.votes, seed=seed),
    )


def _models(specs: str) -> tuple[NeuralRanker, ...]:
    try:
        return open_rankers(specs)
    except RankerError as error:
        raise SettingsError(f"models: {error}") from error


def _held_out(dev: str, config: FusionSettings, data: FusionTrainingData) -> FusionTrainingData | None:
    """Of the path that `--dev` names; None for a share: then figures come from cross-validation."""
    path = Path(dev)
    if not path.exists():
        return None
    return _of_answers(select(read_answer_sets([path]).examples, "both"), config, data.keywords)


def _fit(
    data: FusionTrainingData, config: FusionSettings, seed: int, *, prior: RankPrior | None = None
) -> LearnedFusion:
    folders = tuple(str(spec.folder.resolve()) for spec in parse_ranker_specs(config.models))
    return LearnedFusion.fit(
        data.scores,
        data.grades,
        weights=data.weights,
        config=_seeded(config.fusion, seed),
        keywords=data.keywords,
        origin=Provenance(folders, config.encoder),
        prior=prior,
    )


def _seeded(config: FusionConfig, seed: int) -> FusionConfig:
    return replace(config, trees=replace(config.trees, seed=config.trees.seed + seed))


def _measured(
    fusion: LearnedFusion,
    data: FusionTrainingData,
    measures: tuple[str, ...],
    config: FusionSettings,
    held: FusionTrainingData | None,
) -> FusionOutcome:
    """On held-out questions, or by cross-validation without any."""
    judged = held or data
    scores = (
        fusion.score(held.scores)
        if held is not None
        else cross_validated(data.scores, data.grades, weights=data.weights, folds=config.folds, config=fusion.config)
    )
    alone = {name: _means(judged.measured(column, measures)) for name, column in single_feature_scores(judged)}
    return FusionOutcome(
        questions=data.questions,
        candidates=len(data.candidates),
        held_out=held.questions if held is not None else 0,
        fusion=_means(judged.measured(scores, measures)),
        stages=dict(sorted(alone.items(), key=lambda item: -item[1][measures[0]])),
        importances=fusion.importances(),
    )


def _means(scores: Mapping[str, Score]) -> dict[str, float]:
    return {name: round(score.mean, 6) for name, score in scores.items()}
