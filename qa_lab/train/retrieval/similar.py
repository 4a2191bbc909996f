"""`train similar`: from questions that ask the same to an encoder that `use`, `eval` and `[dense] encoder` take.

Each path of `--data` is a task: a data set with separate questions. All tasks share the encoder.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.measures.plots import write_curve
from qa_core.networks.losses import Affine
from qa_core.training.loop import Training, seed_everything
from qa_core.training.static_table import extended_rows
from qa_core.vectors.word_vectors import WordVectors, read_vectors
from qa_lab.data.paraphrase_pairs import held_out as hold_out
from qa_lab.data.paraphrase_pairs import kept_aside
from qa_lab.data.question_pairs import read_question_pairs
from qa_lab.data.splitting import dev_share
from qa_lab.errors import SettingsError, TrainingDataError
from qa_lab.train.card import card_text, table
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, device_of, in_table, load_settings
from qa_lab.train.training_run import TrainingRun
from qa_lab.train.verb import Job, Outcome, TrainVerb, best_epoch
from retrievers.training.dual_encoder import (
    MEASURED,
    PAPER,
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

PRETRAINING = "pretraining"

Model = Literal["mean", "bilstm", "static"]


@dataclass(frozen=True, slots=True)
class SimilarConfig:
    """Keys of `--config`."""

    model: Literal["mean", "bilstm", "static"] = "mean"  # bilstm only with a trained one as base
    preset: Literal["default", "paper"] = "default"  # default training; paper: that of Gillick et al. (2018)
    test: float = 0.0  # share of the questions kept aside for `eval similar --held-out` of the same share
    dual: DualConfig = field(default_factory=DualConfig)
    words: WordConfig = field(default_factory=lambda: WordConfig(minimum=1))
    static: StaticConfig = field(default_factory=lambda: StaticConfig(dropout=0.0))


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """One task: in-batch P@1 of its held-out pairs, and the affine map it learned."""

    name: str
    pairs: int
    held_out: int
    before: float
    after: float
    alpha: float
    beta: float

    def as_dict(self) -> dict[str, object]:
        sizes: dict[str, object] = {"task": self.name, "pairs": self.pairs, "held_out": self.held_out}
        return sizes | {"before": {"P@1": self.before}, "after": {"P@1": self.after}}


@dataclass(frozen=True)
class SimilarOutcome(Outcome):
    """Result on held-out questions."""

    tasks: tuple[TaskOutcome, ...]
    steps: int  # to the weights that were kept, including pre-training
    epochs: int
    rejected: int

    def as_dict(self) -> dict[str, object]:
        return {
            "pairs": sum(task.pairs for task in self.tasks),
            "held_out": sum(task.held_out for task in self.tasks),
            "rejected": self.rejected,
            "steps": self.steps,
            "epochs": self.epochs,
            "tasks": [task.as_dict() for task in self.tasks],
        }

    def text(self, out: Path) -> str:
        lines = [
            f"{task.name}: {task.pairs:,} pairs for training, {task.held_out:,} held out; "
            f"in-batch P@1 {task.before:.3f} before, {task.after:.3f} after"
            for task in self.tasks
        ]
        return "\n".join([*lines, f"best after {self.steps:,} steps", f"use it: qa-bot use {out}"]) + "\n"


def settings(request: Request) -> SimilarConfig:
    """Defaults of the model that the base is, and the settings over them."""
    kind = _model_of(request.base)
    config = load_settings(
        request.config,
        SimilarConfig(model=kind),
        preset=lambda c: SimilarConfig(model=kind, dual=PAPER if c.preset == "paper" else DualConfig()),
    )
    if config.model != kind and not (config.model == "mean" and kind == "static"):
        raise SettingsError(
            f"Expected a {config.model} encoder to start from, as {request.config} says, but got a {kind} one in "
            f"{request.base or 'no base'}; name another base or leave `model` out."
        )
    dual = in_table("dual", "batch", "epochs", "patience", "learning_rate", "alpha")
    check_positive(config, *dual, source=request.config)
    if not 0 <= config.test < 1:
        raise SettingsError(f"Expected a share of the questions from 0 to below 1, but got test = {config.test}.")
    return config


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


def _train(job: Job[SimilarConfig]) -> SimilarOutcome:
    request, config = job.request, job.settings
    tasks, held_out, rejected = _tasks(job)
    seed_everything(request.seed)
    tower = build(config, texts_of(task.questions for task in tasks), base=request.base)
    tower.model.to(device_of())
    before = [precision(tower, [questions]) for questions in held_out]
    model = DualEncoder(tower.model, tasks=len(tasks), alpha=config.dual.alpha)
    model.to(next(tower.model.parameters()).device)
    stages = _stages(job, model, tower, tasks, held_out)
    after = [precision(tower, [questions]) for questions in held_out]
    outcome = SimilarOutcome(
        tuple(_task_outcomes(tasks, held_out, before, after, model)),
        sum(map(_best_step, stages)),
        best_epoch(stages[-1]),
        rejected,
    )
    tower.save(request.out, card=_card(outcome, config, request), made_with={"settings": _used(config)})
    job.finish(TrainingRun(request.out, {}), stages[-1])
    TrainingRun(request.out / PRETRAINING, {}).remove()
    return outcome


SIMILAR = TrainVerb(_train, settings, lambda config, _: config.dual.epochs, "P@1")


def _stages(
    job: Job[SimilarConfig],
    model: DualEncoder,
    tower: Tower,
    tasks: Sequence[Task],
    held_out: Sequence[QuestionSet],
) -> list[Training]:
    """Pre-training on the largest of several tasks, and training on all, each saved as it goes.

    The state of pre-training is kept until both are done, so that a run can be resumed between them.
    """
    request, dual = job.request, job.settings.dual
    sizes = {f"{number}: {task.name}": len(task.questions) for number, task in enumerate(tasks)}
    identity = job.identity(pairs=sizes, base=request.base_path, dev=request.dev)
    run, first = TrainingRun(request.out, identity), TrainingRun(request.out / PRETRAINING, identity)
    saved = [stage for stage in (run, first) if request.resume and stage.saved]
    if not request.resume:
        run.begin()
    elif not saved:
        run.check()

    def train(stage: TrainingRun, held_out: Sequence[QuestionSet], only: int | None) -> Training:
        training = Training(model, optimiser(model, dual), seed=request.seed)
        if stage in saved:
            stage.start(training, resume=True)
        elif stage is first:
            stage.begin()
        job.drive(stage, training, train_dual(training, tower, tasks, dual, held_out=held_out, only=only))
        return training

    if not dual.pretrain or len(tasks) == 1:
        return [train(run, held_out, None)]
    most = largest(tasks)
    pretrained = train(first, held_out[most : most + 1] if len(held_out) == len(tasks) else held_out, most)
    write_curve(request.out / f"{PRETRAINING}.csv", pretrained.history)
    return [pretrained, train(run, held_out, None)]


def _tasks(job: Job[SimilarConfig]) -> tuple[list[Task], list[QuestionSet], int]:
    """The tasks, the questions held out of each (or one set for all that --dev names), and the number of rejects."""
    request, config = job.request, job.settings
    tasks: list[Task] = []
    held_out: list[QuestionSet] = []
    rejected = 0
    share = dev_share(request.dev)
    for path in request.data:
        data = read_question_pairs([path], limit=request.limit)
        job.on_read(data)
        rejected += len(data.rejects)
        questions, held = hold_out(kept_aside(data.examples, config.test)[0], share or 0.0)
        if not len(questions) or (share and not len(held)):
            raise TrainingDataError(
                f"Expected similar pairs for training and to hold out in {path}, but got {len(questions)} and "
                f"{len(held)}; give more, or name development data with --dev PATH."
            )
        if (batch := config.dual.batch) > len(questions):
            message = "Expected at least a batch of %d pairs, but %s has %d; all of them are one batch."
            log.warning(message, batch, path.name, len(questions))
        tasks.append(Task(path.name, questions))
        held_out.append(held)
    return tasks, held_out if share else [read_question_pairs([Path(request.dev)]).examples], rejected


def _model_of(base: Path | None) -> Model:
    """The model that a base is; a file of vectors, or no base, starts a mean."""
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
    """Rows of a static encoder for the words of the texts, so that the mean starts with the encoder's vectors."""
    encoder = StaticEncoder.load(folder)
    words = list(counted(texts))
    return WordVectors(tuple(words), extended_rows(encoder, words)[len(encoder.table) :])


def _task_outcomes(
    tasks: Sequence[Task],
    held_out: Sequence[QuestionSet],
    before: Sequence[float],
    after: Sequence[float],
    model: DualEncoder,
) -> Iterator[TaskOutcome]:
    for index, (task, affine) in enumerate(zip(tasks, model.affines, strict=True)):
        assert isinstance(affine, Affine)
        dev = index if len(held_out) == len(tasks) else 0  # else one set serves all
        figures = (len(held_out[dev]), before[dev], after[dev])
        yield TaskOutcome(task.name, len(task.questions), *figures, affine.alpha.item(), affine.beta.item())


def _best_step(training: Training) -> int:
    """Steps to the weights that were kept."""
    best = training.best
    ends = (progress.step for progress in training.history if best and progress.dev is not None and progress.best)
    return max(ends, default=training.step)


def _used(config: SimilarConfig) -> dict[str, object]:
    """The settings that affected the result."""
    values = asdict(config)
    part = "static" if config.model == "static" else "words"
    return {"model": config.model, "test": config.test, "dual": values["dual"], part: values[part]}


def _card(outcome: SimilarOutcome, config: SimilarConfig, request: Request) -> str:
    base = request.base.name if request.base else "random"
    facts = {
        "model": config.model,
        "started from": STARTER if _located(request.base) == ENCODER else base,
        "seed": request.seed,
        "steps, epochs of the last stage": f"{outcome.steps:,}, {outcome.epochs}",
    }
    rows = [
        (t.name, f"{t.pairs:,}", f"{t.held_out:,}", f"{t.before:.3f}", f"{t.after:.3f}", f"{t.alpha:.3g}, {t.beta:.3g}")
        for t in outcome.tasks
    ]
    text = f"""In-batch P@1 of the held-out pairs, in batches of {MEASURED:,} at most:

{table(("task", "pairs for training", "held out", "before", "after", "α, β"), rows)}

The licence follows from that of the data and of the model it started from; see there."""
    return card_text("Dual encoder for similar questions, trained with qa-bot", facts, text, _used(config))
