"""`train similar`: from questions that ask the same to an encoder that `use`, `eval` and `[dense] encoder` take.

Several paths of `--data` are several tasks: each is a data set with questions of its own, all share the encoder.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import torch

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.measures.plots import write_curve
from qa_core.networks.losses import Affine
from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.training.resume import load_training
from qa_core.training.static_table import extended_rows
from qa_core.vectors.word_vectors import WordVectors, read_vectors
from qa_lab.train.data.question_pairs import QuestionPairs, read_question_pairs
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.request import Request
from qa_lab.train.settings import read_toml, settled
from qa_lab.train.training_run import IDENTITY, TrainingRun, drive
from retrievers.training.dual_encoder import (
    MEASURED,
    DualConfig,
    DualEncoder,
    Task,
    largest,
    mean_tower,
    optimiser,
    precision,
    train_dual,
)
from retrievers.training.encoders.static_tower import StaticConfig, StaticTower
from retrievers.training.encoders.trainable_encoders import Tower, counted
from retrievers.training.encoders.word_tower import WordConfig, WordTower
from retrievers.training.questions import QuestionSet, texts_of

log = logging.getLogger(__name__)

HELD_OUT, KEPT_ASIDE = "development", "test"
"""Salts: which questions are held out to stop by, and which are kept aside to measure with afterwards."""
PRETRAINING = "pretraining"

Model = Literal["mean", "bilstm", "static"]


@dataclass(frozen=True, slots=True)
class SimilarConfig:
    """What `--config` may hold."""

    model: Literal["mean", "bilstm", "static"] = "mean"  # bilstm only as a base that was trained before
    test: float = 0.0  # share of the questions kept aside for `eval similar --held-out` of the same share
    dual: DualConfig = field(default_factory=DualConfig)
    words: WordConfig = field(default_factory=lambda: WordConfig(minimum=1))
    static: StaticConfig = field(default_factory=lambda: StaticConfig(dropout=0.0))


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """One task; in-batch P@1 of its held-out pairs, and the affine map it learned."""

    name: str
    pairs: int
    held_out: int
    before: float
    after: float
    alpha: float
    beta: float

    def as_dict(self) -> dict[str, object]:
        told: dict[str, object] = {"task": self.name, "pairs": self.pairs, "held_out": self.held_out}
        return told | {"before": {"P@1": self.before}, "after": {"P@1": self.after}}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    tasks: tuple[TaskOutcome, ...]
    steps: int  # to the weights that were kept, those of pre-training included
    epochs: int
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON; P@1 is that of batches."""
        return {
            "pairs": sum(task.pairs for task in self.tasks),
            "held_out": sum(task.held_out for task in self.tasks),
            "rejected": self.rejects,
            "steps": self.steps,
            "epochs": self.epochs,
            "tasks": [task.as_dict() for task in self.tasks],
        }

    def text(self, out: Path) -> str:
        """Figures before and after, and the command that puts the encoder to use."""
        lines = [
            f"{task.name}: {task.pairs:,} pairs for training, {task.held_out:,} held out; "
            f"in-batch P@1 {task.before:.3f} before, {task.after:.3f} after"
            for task in self.tasks
        ]
        return "\n".join([*lines, f"best after {self.steps:,} steps", f"use it: qa-bot use {out}"]) + "\n"


OnRead = Callable[[QuestionPairs], None]
OnProgress = Callable[[Progress], None]


def train_similar(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Train and write `request.out`: the encoder, its card, `curve.csv`, and `curve.png` where it was asked for.

    Args:
        on_read: hears what was read of each task, rejects included, before training begins.
        on_progress: hears of every progress.

    Raises:
        TrainingError, TrainingDataError, SettingsError, RunError: data, settings or folders do not do.
    """
    config = configured(request)
    try:
        return _trained(request, config, on_read, on_progress)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError, ModuleNotFoundError) as error:
        raise TrainingError(str(error)) from error


def configured(request: Request) -> SimilarConfig:
    """Defaults of the model that the settings name, or that the base is, and the settings over them."""
    given = read_toml(request.config) if request.config else {}
    source = str(request.config or "defaults")
    config = settled(SimilarConfig(model=_model_of(request.base)), given, source=source)
    _check(config, request, source)
    return config


def epochs(request: Request) -> int:
    """Of a stage, at most."""
    return configured(request).dual.epochs


def build(config: SimilarConfig, texts: Sequence[str], *, base: Path | None) -> Tower:
    """The encoder to train; global generators draw its first weights."""
    base = _located(base)
    if config.model == "static":
        return StaticTower.of(base or ENCODER, texts, config.static)
    if base is None:
        return mean_tower(texts, config.words)
    if base.is_file():
        return mean_tower(texts, config.words, pretrained=read_vectors(base, limit=config.words.vocabulary))
    if _model_of(base) == "static":
        return mean_tower(texts, config.words, pretrained=_word_rows(base, texts))
    return WordTower.load(base)


def _trained(request: Request, config: SimilarConfig, on_read: OnRead, on_progress: OnProgress) -> Outcome:
    tasks, held_out, rejects = _tasks(request, config, on_read)
    _warn_small(tasks, config.dual)
    seed_everything(request.seed)
    tower = build(config, texts_of(task.questions for task in tasks), base=request.base)
    tower.model.to(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    before = [precision(tower, [each]) for each in held_out]
    model = DualEncoder(tower.model, tasks=len(tasks), alpha=config.dual.alpha)
    model.to(next(tower.model.parameters()).device)
    stages = _stages(model, tower, tasks, held_out, config, request, on_progress)
    after = [precision(tower, [each]) for each in held_out]
    best = stages[-1].best
    outcome = Outcome(
        tuple(_task_outcomes(tasks, held_out, before, after, model)),
        sum(map(_kept_step, stages)),
        best.epoch if best else stages[-1].epoch,
        rejects,
    )
    tower.save(request.out, card=_card(outcome, config, request), made_with={"settings": _used(config)})
    TrainingRun(request.out, {}).finish(stages[-1], plots=request.plots, measure="P@1")
    shutil.rmtree(request.out / PRETRAINING, ignore_errors=True)
    return outcome


def _stages(
    model: DualEncoder,
    tower: Tower,
    tasks: Sequence[Task],
    held_out: Sequence[QuestionSet],
    config: SimilarConfig,
    request: Request,
    on_progress: OnProgress,
) -> list[Training]:
    """Pre-training, where there are several tasks, and training, each saved as it goes.

    The first one's state stays until both are done: a run that was cut between them goes on from its end.
    """
    identity = _identity(tasks, config, request)
    run = TrainingRun(request.out, identity)
    first = TrainingRun(request.out / PRETRAINING, identity)
    begun = [each for each in (run, first) if request.resume and (each.state / IDENTITY).is_file()]
    if not request.resume:
        run.begin()
    elif not begun:
        run.check()

    def stage(own: TrainingRun, held_out: Sequence[QuestionSet], only: int | None) -> Training:
        training = Training(model, optimiser(model, config.dual), seed=request.seed)
        if own in begun:
            own.check()
            load_training(own.state, training)
        elif own is first:
            own.begin()
        drive(own, training, train_dual(training, tower, tasks, config.dual, held_out=held_out, only=only), on_progress)
        return training

    if not config.dual.pretrain or len(tasks) == 1:
        return [stage(run, held_out, None)]
    most = largest(tasks)
    pretrained = stage(first, held_out[most : most + 1] if len(held_out) == len(tasks) else held_out, most)
    write_curve(request.out / f"{PRETRAINING}.csv", pretrained.history)
    return [pretrained, stage(run, held_out, None)]


def _tasks(request: Request, config: SimilarConfig, on_read: OnRead) -> tuple[list[Task], list[QuestionSet], int]:
    """The tasks, what is held out (of each task, or one set for all that was named), and how much was rejected."""
    tasks: list[Task] = []
    held_out: list[QuestionSet] = []
    rejects = 0
    share = _share(request.dev)
    for path in request.data:
        found = read_question_pairs([path], limit=request.limit)
        on_read(found)
        rejects += len(found.rejects)
        questions, held = _parts(found.questions, config.test, share or 0.0)
        if not len(questions) or (share and not len(held)):
            raise TrainingDataError(
                f"Expected similar pairs for training and to hold out in {path}, but got {len(questions)} and "
                f"{len(held)}; give more, or name development data with --dev PATH."
            )
        tasks.append(Task(path.name, questions))
        held_out.append(held)
    return tasks, held_out if share else [read_question_pairs([Path(request.dev)]).questions], rejects


def _parts(questions: QuestionSet, test: float, development: float) -> tuple[QuestionSet, QuestionSet]:
    """For training and to stop by; what is kept aside to measure with is in neither."""
    return questions.split(test, salt=KEPT_ASIDE)[0].split(development, salt=HELD_OUT)


def _share(dev: str) -> float | None:
    """The share that `--dev` names; None for a path."""
    try:
        share = float(dev)
    except ValueError:
        return None
    if not 0 < share < 1:
        raise TrainingDataError(f"Expected a share between 0 and 1, or a path, for --dev, but got {dev}.")
    return share


def _model_of(base: Path | None) -> Model:
    """What a base is; vectors in a file, and none at all, are a mean's."""
    base = _located(base)
    if base is None or base.is_file():
        return "mean"
    path = base / "config.json"
    kind = json.loads(path.read_text(encoding="utf-8")).get("kind") if path.is_file() else None
    kinds: Mapping[object, Model] = {"static": "static", "MeanTextConfig": "mean", "BiLSTMTextConfig": "bilstm"}
    if kind not in kinds:
        raise TrainingDataError(
            f"Expected word vectors or an encoder over words to start from in {base}, but got {kind or 'none'!r}; "
            f"name a file of vectors, a folder that `train` wrote, or `{STARTER}`."
        )
    return kinds[kind]


def _located(base: Path | None) -> Path | None:
    return ENCODER if base is not None and str(base) == STARTER and not base.exists() else base


def _word_rows(folder: Path, texts: Sequence[str]) -> WordVectors:
    """Rows of a static encoder for the words of the texts, so that the mean says at first what the encoder says."""
    encoder = StaticEncoder.load(folder)
    words = list(counted(texts))
    return WordVectors(tuple(words), extended_rows(encoder, words)[len(encoder.table) :])


def _check(config: SimilarConfig, request: Request, source: str) -> None:
    kind = _model_of(request.base)
    if config.model != kind and not (config.model == "mean" and kind == "static"):
        raise SettingsError(
            f"Expected a {config.model} encoder to start from, as {source} says, but got a {kind} one in "
            f"{request.base or 'no base'}; name another base or leave `model` out."
        )
    dual = config.dual
    wrong = [
        f"dual.{name} = {getattr(dual, name)}" for name in ("batch", "epochs", "patience") if getattr(dual, name) < 1
    ]
    wrong += [
        f"dual.{name} = {getattr(dual, name)}" for name in ("learning_rate", "alpha") if not getattr(dual, name) > 0
    ]
    if wrong:
        raise SettingsError(f"Expected positive numbers, but got {', '.join(wrong)}; correct {source}.")
    if not 0 <= config.test < 1:
        raise SettingsError(f"Expected a share of the questions from 0 to below 1, but got test = {config.test}.")


def _identity(tasks: Sequence[Task], config: SimilarConfig, request: Request) -> dict[str, object]:
    """What has to be the same for a saved run to go on."""
    base = str(request.base.resolve()) if request.base else ""
    pairs = {f"{place}: {task.name}": len(task.questions) for place, task in enumerate(tasks)}
    return {"config": asdict(config), "pairs": pairs, "seed": request.seed, "base": base, "dev": request.dev}


def _warn_small(tasks: Sequence[Task], dual: DualConfig) -> None:
    for task in tasks:
        if dual.batch > len(task.questions):
            told = (dual.batch, task.name, len(task.questions))
            log.warning("Expected at least a batch of %d pairs, but %s has %d; all of them are one batch.", *told)


def _task_outcomes(
    tasks: Sequence[Task],
    held_out: Sequence[QuestionSet],
    before: Sequence[float],
    after: Sequence[float],
    model: DualEncoder,
) -> Iterator[TaskOutcome]:
    for place, (task, affine) in enumerate(zip(tasks, model.affines, strict=True)):
        assert isinstance(affine, Affine)
        own = place if len(held_out) == len(tasks) else 0  # else one set was named for all
        figures = (len(held_out[own]), before[own], after[own])
        yield TaskOutcome(task.name, len(task.questions), *figures, affine.alpha.item(), affine.beta.item())


def _kept_step(training: Training) -> int:
    """Steps to the weights that were kept."""
    best = training.best
    ends = (progress.step for progress in training.history if best and progress.dev is not None and progress.best)
    return max(ends, default=training.step)


def _used(config: SimilarConfig) -> dict[str, object]:
    """The settings that had a say."""
    told = asdict(config)
    part = "static" if config.model == "static" else "words"
    return {"model": config.model, "test": config.test, "dual": told["dual"], part: told[part]}


def _card(outcome: Outcome, config: SimilarConfig, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    base = STARTER if _located(request.base) == ENCODER else request.base.name if request.base else "random"
    rows = "\n".join(
        f"| {task.name} | {task.pairs:,} | {task.held_out:,} | {task.before:.3f} | {task.after:.3f} "
        f"| {task.alpha:.3g}, {task.beta:.3g} |"
        for task in outcome.tasks
    )
    return f"""# Dual encoder for similar questions, trained with qa-bot

| | |
| --- | --- |
| model | {config.model} |
| started from | {base} |
| seed | {request.seed} |
| steps, epochs of the last stage | {outcome.steps:,}, {outcome.epochs} |

In-batch P@1 of the held-out pairs, in batches of {MEASURED:,} at most:

| task | pairs for training | held out | before | after | α, β |
| --- | --- | --- | --- | --- | --- |
{rows}

The licence follows from that of the data and of what it started from; see there.

## Settings

```json
{json.dumps(_used(config), indent=2)}
```
"""
