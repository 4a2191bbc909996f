"""`train fusion`: from judged answers, answer selection data or people's votes to trees that join all stages' scores.

Rankers whose scores are joined must not have been trained on the same questions, or their scores look too sure: give
development data. Figures come from cross-validation over the questions, the trees that are kept from all of them.

Trees that learn from votes correct the order that is there, and are compared with it before they are recommended
(`qa_lab.train.fusion.votes`, `qa_lab.train.fusion.feedback`, `qa_bot.interleaving.team_draft`).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from qa_bot.answering.models.ranker_loading import RankerError, open_rankers, parse_ranker_specs
from qa_bot.home.encoders import STARTER, resolve
from qa_bot.home.folder import Home
from qa_core.measures.metrics import Score
from qa_core.measures.plots import draw_bars
from qa_core.training.loop import Progress
from qa_lab.evaluate.datasets import DatasetError, read_dataset, splits
from qa_lab.evaluate.evaluation_home import indexed
from qa_lab.evaluate.systems import rank
from qa_lab.train.data.answer_sets import AnswerSets, kept, read_answer_sets
from qa_lab.train.errors import SettingsError, TrainingDataError, TrainingError
from qa_lab.train.fusion.feedback import MEASURE, Comparison, Voted, compared, measured, stages, voted_in
from qa_lab.train.fusion.fusion_data import (
    UNJUDGED,
    FusionTrainingData,
    names_of,
    of_answers,
    of_judgements,
    single_feature_scores,
)
from qa_lab.train.fusion.votes import VoteSettings
from qa_lab.train.request import Request
from qa_lab.train.settings import read_toml, settled
from rankers.answer_selection.keyword_features import Keywords
from rankers.fusion import FusionConfig, LearnedFusion, Origin, cross_validated
from rankers.gbdt import GBDTConfig
from rankers.neural import NeuralRanker
from rankers.rank_prior import RankPrior
from rankers.training.answer_pool import AnswerPool, AnswerSet

ANSWERS, JUDGED = ("AP", "RR"), ("nDCG@10", "RR")
"""Measures of answer selection, and of judged collections."""
CORRECTING = FusionConfig(
    trees=GBDTConfig("cross_entropy", trees=100, leaves=4, learning_rate=0.03, features=0.3), blanked=0.0, least=0.0
)
"""What corrects an order by votes: expected shares, by all stages, since no single one is to be learnt from."""
_SHOWN = 8  # stages whose figures are printed


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """What `--config` may hold."""

    models: str = ""  # rankers whose scores are joined, as [ranking] models names them; votes: the configured ones
    encoder: str = STARTER  # whose cosines are joined, and which a judged collection is searched with
    keywords: bool = True  # features of shared words, numbers and names
    folds: int = 5  # of cross-validation
    depth: int = 30  # documents of a question that are put in order
    unjudged: float = UNJUDGED  # how much a document counts that nobody judged, as a wrong one; 0 leaves it out
    fusion: FusionConfig = field(default_factory=FusionConfig)
    votes: VoteSettings = field(default_factory=VoteSettings)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: figures of the fusion, and of each stage alone beside it."""

    questions: int
    candidates: int
    held_out: int  # questions; 0 for cross-validation
    fusion: Mapping[str, float]
    stages: Mapping[str, Mapping[str, float]]  # best first
    importances: Mapping[str, float]
    seconds: float = 0.0
    rejects: int = 0
    votes: Comparison | None = None  # with the ranking in force, where votes are learnt from

    @property
    def how(self) -> str:
        """How the figures were got."""
        return f"on {self.held_out:,} held-out questions" if self.held_out else "by cross-validation"

    def as_dict(self) -> dict[str, object]:
        """For JSON, with the names of ir-measures."""
        told = {("rejected" if name == "rejects" else name): value for name, value in asdict(self).items()}
        if self.votes is None:
            del told["votes"]
            return told
        return told | {"votes": asdict(self.votes) | {"better": self.votes.better}}

    def text(self, out: Path) -> str:
        """Figures, what the trees look at, and how to use the fusion."""
        rows = {"fusion": self.fusion, **dict([*self.stages.items()][:_SHOWN])}
        width = max(map(len, rows))
        figures = (
            f"{name:{width}}  {', '.join(f'{m} {value:.3f}' for m, value in row.items())}" for name, row in rows.items()
        )
        gains = [(name, share) for name, share in self.importances.items() if share >= 0.005]
        bars = (f"{name:{width}}  {'█' * round(40 * share)} {share:.0%}" for name, share in gains)
        return "\n".join(
            (
                f"{self.candidates:,} candidates of {self.questions:,} questions; {self.how}, and each stage alone:",
                *figures,
                "",
                "what the trees look at:",
                *bars,
                "",
                *self._verdict(out),
                "",
            )
        )

    def _verdict(self, out: Path) -> Iterator[str]:
        """Whether to use it; a fusion from votes only where it does better than the ranking in force."""
        if self.votes is not None:
            yield from filter(None, (self.votes.text_of_trial(), self.votes.text()))
        if self.votes is not None and not self.votes.better:
            yield f"keep the present one: {'; '.join(self.votes.shortcomings)} (the new one is in {out})"
            yield f"or let people decide: qa-bot config set ranking.challenger {out}"
        else:
            yield f"use it: qa-bot config set ranking.fusion {out}"


OnRead = Callable[[AnswerSets], None]
OnProgress = Callable[[Progress], None]


def train_fusion(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Train and write `request.out`: trees, card, and `importances.png` where plots were asked for.

    Args:
        on_read: hears what was read of answer selection data.
        on_progress: hears nothing: trees grow in seconds.

    Raises:
        TrainingError, TrainingDataError, SettingsError: data, settings or folders do not do.
    """
    del on_progress
    settings = configured(request)
    started = time.monotonic()
    try:
        if request.feedback is not None:
            fusion, outcome = _corrected(_voted(request.feedback, settings), settings, request.seed)
            rejects = 0
        else:
            lessons, measures, rejects = _lessons(request, settings, on_read)
            fusion = _grown(lessons, settings, request.seed)
            outcome = _measured(fusion, lessons, measures, settings, _held_out(request, settings, lessons))
    except (TrainingDataError, SettingsError):
        raise
    except DatasetError as error:
        raise TrainingDataError(str(error)) from error
    except (ValueError, FileNotFoundError, ModuleNotFoundError) as error:
        raise TrainingError(str(error)) from error
    outcome = replace(outcome, seconds=round(time.monotonic() - started, 2), rejects=rejects)
    fusion.save(request.out, card=_card(outcome, settings, request))
    if request.plots:
        gains = {name: share for name, share in outcome.importances.items() if share > 0}
        draw_bars(request.out / "importances.png", gains, label="share of the gains")
    return outcome


def epochs(request: Request) -> int:  # noqa: ARG001 # of trees there are none
    """One."""
    return 1


def configured(request: Request) -> FusionSettings:
    """Defaults, and the settings over them."""
    given = read_toml(request.config) if request.config else {}
    source = str(request.config or "defaults")
    defaults = FusionSettings(fusion=CORRECTING) if request.feedback is not None else FusionSettings()
    try:
        settings = settled(defaults, given, source=source)
    except ValueError as error:  # sizes that the trees refuse themselves
        raise SettingsError(str(error)) from None
    blanked, least = settings.fusion.blanked, settings.fusion.least
    if settings.folds < 2 or settings.depth < 2 or not 0 <= blanked < 1 or not 0 <= least <= 1:
        raise SettingsError(
            f"{source}: Expected folds and depth of 2 or more, blanked from 0 to below 1 and least from 0 to 1, but "
            f"got folds = {settings.folds}, depth = {settings.depth}, blanked = {blanked} and least = {least}; "
            "correct them."
        )
    _check_objective(settings, request, source)
    _check_votes(settings.votes, source)
    if request.base is not None or request.resume:
        parse_ranker_specs = "--base" if request.base is not None else "--resume"
        raise SettingsError(
            f"Expected no {parse_ranker_specs} for a fusion, which is trained in seconds; leave it out."
        )
    return settings


def _check_objective(settings: FusionSettings, request: Request, source: str) -> None:
    """Trees that correct an order learn shares, all others grades."""
    corrects = settings.fusion.trees.objective == "cross_entropy"
    if corrects != (request.feedback is not None):
        wanted = "cross_entropy, by which votes are learnt" if not corrects else "lambdarank or binary"
        raise SettingsError(
            f"{source}: Expected the objective {wanted}, but got {settings.fusion.trees.objective}; correct it."
        )


def _check_votes(votes: VoteSettings, source: str) -> None:
    wrong = [name for name in ("least", "agree", "per_voter", "drafts") if getattr(votes, name) < 1]
    wrong += ["unvoted"] * (not 0 < votes.unvoted <= 1)
    if wrong:
        told = ", ".join(f"votes.{name} = {getattr(votes, name)}" for name in wrong)
        raise SettingsError(f"{source}: Expected counts of 1 or more and unvoted up to 1, but got {told}; correct it.")


def _lessons(
    request: Request, settings: FusionSettings, on_read: OnRead
) -> tuple[FusionTrainingData, tuple[str, ...], int]:
    """What is learnt from, its measures, and how many places could not be read."""
    if len(request.data) == 1 and request.data[0].is_dir() and splits(request.data[0]):
        return _of_collection(request.data[0], settings, request.limit), JUDGED, 0
    data = read_answer_sets(request.data, limit=request.limit)
    on_read(data)
    sets = kept(data.sets, "both")
    if len(sets) < settings.folds:
        raise TrainingDataError(
            f"Expected at least {settings.folds} questions with right and wrong answers, but got {len(sets)}; give "
            "more, or lower `folds`."
        )
    keywords = Keywords.of(AnswerPool.of(sets).answers) if settings.keywords else None
    return _of_answers(sets, settings, keywords), ANSWERS, len(data.rejects)


def _of_answers(sets: Sequence[AnswerSet], settings: FusionSettings, keywords: Keywords | None) -> FusionTrainingData:
    encoder = resolve(settings.encoder, models=Home.open().models) if settings.encoder else None
    return of_answers(sets, models=_models(settings.models), encoder=encoder, keywords=keywords)


def _of_collection(folder: Path, settings: FusionSettings, limit: int | None) -> FusionTrainingData:
    """Of a folder that `eval liveqa` reads, its collection searched in a temporary home."""
    dataset = read_dataset(folder, limit=limit)
    flags = {"dense.encoder": settings.encoder or STARTER, "ranking.depth": settings.depth}
    judged = {document for of in dataset.qrels.values() for document in of}
    with (
        indexed([dataset.corpus], collection=dataset.name, judged=judged, flags=flags) as data,
        data.opened() as bot,
    ):
        corridor = bot.corridor()
        return of_judgements(
            [query.question for query in dataset.queries],
            dataset.qrels,
            lambda question, depth: rank(corridor, question, engine="hybrid", depth=depth).candidates,
            depth=settings.depth,
            unjudged=0.0 if settings.unjudged else math.nan,
            weight=settings.unjudged,
            models=_models(settings.models),
            keywords=settings.keywords,
        )


def _voted(home: Path, settings: FusionSettings) -> Voted:
    """What is learnt from votes; raises TrainingDataError where there are too few."""
    found = voted_in(
        home,
        depth=settings.depth,
        models=_models(settings.models),
        keywords=settings.keywords,
        settings=settings.votes,
    )
    least = max(settings.votes.least, settings.folds)
    if (missing := least - found.questions) > 0:
        raise TrainingDataError(
            f"Expected votes on at least {least} different questions, but got {found.questions}, {missing} too few; "
            "vote on more answers in the chat, or lower `votes.least` (and `folds`)."
        )
    return found


def _corrected(voted: Voted, settings: FusionSettings, seed: int) -> tuple[LearnedFusion, Outcome]:
    """Trees from all votes, and how such trees do on votes of questions that they did not see."""
    lessons, config = voted.lessons, _seeded(settings.fusion, seed)
    fusion = _grown(lessons, settings, seed, places=voted.places)
    challenger = cross_validated(
        lessons.scores,
        lessons.grades,
        weights=lessons.weights,
        folds=settings.folds,
        config=config,
        places=voted.places,
        part=voted.parts(settings.folds),
    )
    found, before = measured(voted, [challenger, voted.present])
    alone = {"the present ranking": before, **dict(sorted(stages(voted).items(), key=lambda item: -item[1]))}
    return fusion, Outcome(
        questions=lessons.questions,
        candidates=len(lessons.candidates),
        held_out=0,
        fusion={MEASURE: round(found, 6)},
        stages={name: {MEASURE: round(value, 6)} for name, value in alone.items()},
        importances=fusion.importances(),
        votes=compared(voted, challenger, settings=settings.votes, seed=seed),
    )


def _models(parse_ranker_specs: str) -> tuple[NeuralRanker, ...]:
    try:
        return open_rankers(parse_ranker_specs)
    except RankerError as error:
        raise SettingsError(f"models: {error}") from error


def _held_out(request: Request, settings: FusionSettings, lessons: FusionTrainingData) -> FusionTrainingData | None:
    """Of the path that `--dev` names; None for a share: then figures come by cross-validation."""
    path = Path(request.dev)
    if not path.exists():
        return None
    return _of_answers(kept(read_answer_sets([path]).sets, "both"), settings, lessons.keywords)


def _grown(
    lessons: FusionTrainingData, settings: FusionSettings, seed: int, *, places: RankPrior | None = None
) -> LearnedFusion:
    config = _seeded(settings.fusion, seed)
    folders = tuple(str(each.folder.resolve()) for each in parse_ranker_specs(settings.models))
    return LearnedFusion.fit(
        lessons.scores,
        lessons.grades,
        weights=lessons.weights,
        config=config,
        keywords=lessons.keywords,
        origin=Origin(folders, settings.encoder),
        places=places,
    )


def _seeded(config: FusionConfig, seed: int) -> FusionConfig:
    return replace(config, trees=replace(config.trees, seed=config.trees.seed + seed))


def _measured(
    fusion: LearnedFusion,
    lessons: FusionTrainingData,
    measures: tuple[str, ...],
    settings: FusionSettings,
    held: FusionTrainingData | None,
) -> Outcome:
    """On held-out questions, or by cross-validation where there are none."""
    judged = held or lessons
    scores = (
        fusion.score(held.scores)
        if held is not None
        else cross_validated(
            lessons.scores, lessons.grades, weights=lessons.weights, folds=settings.folds, config=fusion.config
        )
    )
    alone = {name: _means(judged.measured(each, measures)) for name, each in single_feature_scores(judged)}
    return Outcome(
        questions=lessons.questions,
        candidates=len(lessons.candidates),
        held_out=held.questions if held is not None else 0,
        fusion=_means(judged.measured(scores, measures)),
        stages=dict(sorted(alone.items(), key=lambda item: -item[1][measures[0]])),
        importances=fusion.importances(),
    )


def _means(scores: Mapping[str, Score]) -> dict[str, float]:
    return {name: round(score.mean, 6) for name, score in scores.items()}


def _card(outcome: Outcome, settings: FusionSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    rows = {f"the fusion, {outcome.how}": outcome.fusion, **outcome.stages}
    measures = list(outcome.fusion)
    lines = "\n".join(
        f"| {name} | {' | '.join(f'{row[measure]:.3f}' for measure in measures)} |" for name, row in rows.items()
    )
    gains = "\n".join(f"| {name} | {share:.3f} |" for name, share in outcome.importances.items())
    return f"""# Fusion trained with qa-bot

| | |
| --- | --- |
| data | {names_of(request.data) or "votes"} |
| questions, candidates | {outcome.questions:,}, {outcome.candidates:,} |
| seed | {request.seed} |

| | {" | ".join(measures)} |
| --- |{" --- |" * len(measures)}
{lines}

| stage | share of the gains |
| --- | --- |
{gains}
{_verdict(outcome)}
The licence follows from that of the data.

## Settings

```json
{json.dumps(asdict(settings) | {"models": names_of(s.folder for s in parse_ranker_specs(settings.models))}, indent=2)}
```
"""


def _verdict(outcome: Outcome) -> str:
    """Of a fusion from votes: how it compares with the ranking that was in force."""
    if (told := outcome.votes) is None:
        return ""
    judged = "better" if told.better else f"not better: {'; '.join(told.shortcomings)}"
    return f"\n{told.text()[0].upper()}{told.text()[1:]}.\nSo it was {judged}.\n"
