"""`train hyperqa`: from questions with labelled answers to HyperQA, CosineQA, or one of the models compared with them.

With a teacher, a trained ranker, its scores replace the labels.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from qa_core.training.loop import Progress, Training, reproducible, seed_everything
from qa_core.types import FloatArray
from qa_core.vectors.word_vectors import read_vectors
from qa_lab.data.answer_sets import Figures, read_answer_sets, split_mixed
from qa_lab.data.word_vectors import located
from qa_lab.errors import SettingsError
from qa_lab.train.card import card_text, table
from qa_lab.train.rankers.distillation import (
    check_answer_pairs,
    open_teacher,
    spread,
    standardise,
    teacher_folder,
    teacher_scores,
)
from qa_lab.train.rankers.hyperqa_readouts import write_readouts
from qa_lab.train.rankers.hyperqa_settings import POINTWISE, HyperSettings, settings
from qa_lab.train.request import Request
from qa_lab.train.training_run import TrainingRun
from qa_lab.train.verb import Job, Outcome, TrainVerb, best_epoch
from rankers.answer_selection import compared, hyperqa, siamese_cosine
from rankers.answer_selection.compared import ComparedRanker
from rankers.answer_selection.frozen_words import FrozenWords, PieceWords, TableWords
from rankers.answer_selection.hyperqa import HyperQA, HyperShape
from rankers.answer_selection.siamese_cosine import PeerShape, SiameseCosineRanker
from rankers.compared.shape import ComparedShape
from rankers.neural import PairScorer
from rankers.training.answer_pool import AnswerPool, check_mixed
from rankers.training.distillation import train_distilled
from rankers.training.pair_training import PointwiseConfig, train_pairwise, train_pointwise

Scorer = HyperQA | SiameseCosineRanker | ComparedRanker


@dataclass(frozen=True)
class HyperOutcome(Outcome):
    """Result on held-out questions."""

    model: str
    questions: int
    pairs: int
    held_out: int  # questions
    before: Figures
    after: Figures
    parameters: int
    epochs: int  # to the weights that were kept
    seconds_per_epoch: float
    pairs_per_second: float  # scored, including the reading of their texts
    rejected: int
    teacher: Figures | None = None

    def as_dict(self) -> dict[str, object]:
        values = Outcome.as_dict(self)
        if self.teacher is None:
            del values["teacher"]
        return values

    def text(self, out: Path) -> str:
        teacher = f"teacher: {self.teacher}\n" if self.teacher else ""
        return (
            f"{self.pairs:,} pairs of {self.questions:,} questions, {self.held_out:,} questions held out\n"
            f"before: {self.before}\n"
            f"after:  {self.after} ({self.epochs} epochs)\n{teacher}"
            f"{self.parameters:,} parameters, {self.pairs_per_second:,.0f} pairs scored a second\n"
            f"written to {out}\n"
        )


def _train(job: Job[HyperSettings]) -> HyperOutcome:
    with reproducible(job.settings.threads):
        return _trained(job)


def _trained(job: Job[HyperSettings]) -> HyperOutcome:
    request, config = job.request, job.settings
    teacher = open_teacher(config.teacher) if config.teacher else None
    data = job.read(read_answer_sets)
    pool, dev = map(AnswerPool.of, split_mixed(data, request.dev))
    if teacher is None:
        check_mixed(pool)
    else:
        check_answer_pairs(pool, config.distil)
    seed_everything(request.seed)
    scorer = _scorer(config, request.base)
    before, _ = _measured(scorer, dev)
    training = Training(scorer.model, _optimiser(scorer, config), seed=request.seed)
    folder = str(teacher_folder(config.teacher).resolve()) if config.teacher else ""
    run = job.begin(training, pairs=len(pool), held_out=len(dev), base=request.base_path, teacher=folder)
    scores = _teacher_scores(job, run, training, teacher, pool, dev) if teacher is not None else None
    started, done = time.monotonic(), training.epoch
    job.drive(run, training, _reports(config, training, scorer, pool, dev, scores))
    seconds = (time.monotonic() - started) / max(1, training.epoch - done)
    scorer.model.eval()
    after, rate = _measured(scorer, dev)
    outcome = HyperOutcome(
        model=config.model,
        questions=len(pool.questions),
        pairs=len(pool),
        held_out=len(dev.questions),
        before=before,
        after=after,
        parameters=scorer.parameters,
        epochs=best_epoch(training),
        seconds_per_epoch=seconds,
        pairs_per_second=rate,
        rejected=len(data.rejects),
        teacher=Figures.of(dev, scores[len(pool) :]) if scores is not None else None,
    )
    scorer.save(request.out, card=_card(outcome, config, request))
    if request.plots and isinstance(scorer, HyperQA):
        write_readouts(request.out, scorer, dev, seed=request.seed)
    job.finish(run, training)
    return outcome


HYPERQA = TrainVerb(_train, settings, lambda config, _: config.epochs, "MAP")


def _teacher_scores(
    job: Job[HyperSettings],
    run: TrainingRun,
    training: Training,
    teacher: PairScorer,
    pool: AnswerPool,
    dev: AnswerPool,
) -> FloatArray:
    """Scores of the pairs for training and then of those held out; from here on the run can be resumed."""
    if not training.step:
        seed_everything(training.seed)  # as training begins, so that a run resumed here draws the same
        run.save(training)
    return teacher_scores(run, teacher, [*pool.pairs(), *dev.pairs()], job.on_progress)


def _reports(
    config: HyperSettings,
    training: Training,
    scorer: Scorer,
    pool: AnswerPool,
    dev: AnswerPool,
    scores: FloatArray | None,
) -> Iterator[Progress]:
    """Training by labels, or by a teacher's scores, whose first ones are those of the pool."""
    if scores is None and config.model in POINTWISE:
        pairs = config.pairs
        points = PointwiseConfig(pairs.batch, pairs.epochs, pairs.patience, balanced=True)
        return train_pointwise(training, scorer, pool, points, held_out=dev)
    if scores is None:
        return train_pairwise(training, scorer, pool, config.pairs, held_out=dev)
    pool_scores = scores[: len(pool)]
    targets = spread(pool_scores, *config.span) if config.span else standardise(pool_scores)
    return train_distilled(training, scorer, pool, targets, config.distil, held_out=dev)


def _scorer(config: HyperSettings, base: Path | None) -> Scorer:
    """A new scorer, or that of a base; global generators draw the first weights."""
    kind, shape = _shape(config)
    scorer: Scorer = kind.of(_words(config), shape) if base is None else kind.load(base)
    if scorer.config.shape != shape:
        raise SettingsError(f"Expected a base of the shape {shape}, but got {scorer.config.shape} in {base}.")
    return scorer


def _shape(config: HyperSettings) -> tuple[Any, HyperShape | PeerShape | ComparedShape]:
    """The class of the scorer and its sizes."""
    if config.hyperbolic:
        return HyperQA, config.hyper
    return (SiameseCosineRanker, config.peer) if config.cosine else (ComparedRanker, config.compared)


def _words(config: HyperSettings) -> FrozenWords:
    path = located(config.pretrained)
    return PieceWords.load(path) if path.is_dir() else TableWords.of(read_vectors(path, limit=config.most_words))


def _optimiser(scorer: Scorer, config: HyperSettings) -> torch.optim.Optimizer:
    if isinstance(scorer, HyperQA):
        return hyperqa.optimiser(scorer, learning_rate=config.learning_rate, l2=config.l2)
    if isinstance(scorer, ComparedRanker):
        return compared.optimiser(scorer, learning_rate=config.learning_rate, l2=config.l2)
    return siamese_cosine.optimiser(scorer, learning_rate=config.learning_rate, l2=config.l2)


def _measured(scorer: Scorer, pool: AnswerPool) -> tuple[Figures, float]:
    """Figures, and pairs scored a second."""
    pairs = pool.pairs()
    started = time.perf_counter()
    scores = scorer.score(pairs)
    return Figures.of(pool, scores), len(pairs) / max(time.perf_counter() - started, 1e-9)


def _card(outcome: HyperOutcome, config: HyperSettings, request: Request) -> str:
    teacher = {"teacher": f"{teacher_folder(config.teacher).name}, loss {config.distil.loss}"} if config.teacher else {}
    facts = {
        "model": config.model,
        "started from": request.base.name if request.base else "random weights",
        **teacher,
        "word vectors": f"{Path(config.pretrained).name}, frozen",
        "data": request.data_names,
        "questions, pairs for training": f"{outcome.questions:,}, {outcome.pairs:,}",
        "questions held out": f"{outcome.held_out:,}",
        "trained parameters": f"{outcome.parameters:,}",
        "seed": request.seed,
        "epochs": outcome.epochs,
    }
    rows = {"before": outcome.before, "after": outcome.after, "teacher": outcome.teacher}
    text = f"""On the held-out questions that have right answers and wrong ones:

{table(("", "MAP", "MRR"), [(name, f"{f.ap:.3f}", f"{f.rr:.3f}") for name, f in rows.items() if f])}

The licence follows from that of the data and of the word vectors; see there."""
    return card_text("Answer ranker trained with qa-bot", facts, text, config.used())
