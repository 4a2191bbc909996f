"""`train hyperqa`: from questions with labelled answers to HyperQA, CosineQA, or one of their peers.

With a teacher, a ranker that was trained before, its scores are learned in the place of the labels.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.training.resume import load_training
from qa_core.types import FloatArray
from qa_core.vectors.word_vectors import read_vectors
from qa_lab.train.data.answer_sets import AnswerSets, Figures, parted_mixed
from qa_lab.train.data.start_vectors import located
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.rankers.distillation import check_answer_pairs, folder_of, opened, spread, standard, teacher_scores
from qa_lab.train.rankers.hyperqa_readouts import write_readouts
from qa_lab.train.rankers.hyperqa_settings import HyperSettings, configured
from qa_lab.train.request import Request
from qa_lab.train.training_run import TrainingRun, drive
from rankers.answer_selection import hyperqa, siamese_cosine
from rankers.answer_selection.frozen_words import FrozenWords, PieceWords, TableWords
from rankers.answer_selection.hyperqa import HyperQA, HyperShape
from rankers.answer_selection.siamese_cosine import PeerShape, SiameseCosineRanker
from rankers.neural import PairScorer
from rankers.training.answer_pool import AnswerPool, check_mixed
from rankers.training.distillation import train_distilled
from rankers.training.pair_training import train_pairwise

Scorer = HyperQA | SiameseCosineRanker


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    model: str
    questions: int
    pairs: int
    held_out: int  # questions
    before: Figures
    after: Figures
    parameters: int
    epochs: int  # to the weights that were kept
    seconds_per_epoch: float
    pairs_per_second: float  # scored, their texts read too
    rejects: int
    teacher: Figures | None = None  # whose scores were learned

    def as_dict(self) -> dict[str, object]:
        """For JSON, with the names of ir-measures."""
        rows = {"before": self.before, "after": self.after, "teacher": self.teacher}
        told = asdict(self) | {name: figures and figures.as_dict() for name, figures in rows.items()}
        if self.teacher is None:
            del told["teacher"]
        return {("rejected" if name == "rejects" else name): value for name, value in told.items()}

    def text(self, out: Path) -> str:
        """Figures before and after, those of a teacher, and where the ranker is."""
        taught = f"teacher: MAP {self.teacher.ap:.3f}, MRR {self.teacher.rr:.3f}\n" if self.teacher else ""
        return (
            f"{self.pairs:,} pairs of {self.questions:,} questions, {self.held_out:,} questions held out\n"
            f"before: MAP {self.before.ap:.3f}, MRR {self.before.rr:.3f}\n"
            f"after:  MAP {self.after.ap:.3f}, MRR {self.after.rr:.3f} ({self.epochs} epochs)\n{taught}"
            f"{self.parameters:,} parameters, {self.pairs_per_second:,.0f} pairs scored a second\n"
            f"written to {out}\n"
        )


OnRead = Callable[[AnswerSets], None]
OnProgress = Callable[[Progress], None]


def train_hyperqa(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Train and write `request.out`: the ranker, its card and `curve.csv`; with plots `curve.png` and the read-outs.

    Args:
        on_read: hears what was read, rejects included, before training begins.
        on_progress: hears of every progress.

    Raises:
        TrainingError, TrainingDataError, SettingsError, RunError: data, settings or folders do not do.
    """
    settings = configured(request)
    try:
        return _trained(request, settings, on_read, on_progress)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError, ModuleNotFoundError) as error:
        raise TrainingError(str(error)) from error


def epochs(request: Request) -> int:
    """At most, for a progress bar."""
    return configured(request).epochs


def _trained(request: Request, settings: HyperSettings, on_read: OnRead, on_progress: OnProgress) -> Outcome:
    teacher = opened(settings.teacher) if settings.teacher else None
    train, held_out, rejects = parted_mixed(request, on_read)
    pool, dev = AnswerPool.of(train), AnswerPool.of(held_out)
    if teacher is None:
        check_mixed(pool)
    else:
        check_answer_pairs(pool, settings.distil)
    seed_everything(request.seed)
    scorer = _scorer(settings, request.base)
    before, _ = _measured(scorer, dev)
    training = Training(scorer.model, _optimiser(scorer, settings), seed=request.seed)
    run = TrainingRun(request.out, _identity(settings, request, pool, dev))
    if request.resume:
        run.check()
        load_training(run.state, training)
    else:
        run.begin()
    scores = _taught(run, training, teacher, pool, dev, on_progress) if teacher is not None else None
    started, done = time.monotonic(), training.epoch
    drive(run, training, _lessons(settings, training, scorer, pool, dev, scores), on_progress)
    seconds = (time.monotonic() - started) / max(1, training.epoch - done)
    scorer.model.eval()
    after, rate = _measured(scorer, dev)
    kept_epoch = training.best.epoch if training.best else training.epoch
    counts = (len(pool.questions), len(pool), len(dev.questions))
    figures = Figures.of(dev, scores[len(pool) :]) if scores is not None else None
    outcome = Outcome(
        settings.model, *counts, before, after, scorer.parameters, kept_epoch, seconds, rate, rejects, figures
    )
    scorer.save(request.out, card=_card(outcome, settings, request))
    if request.plots and isinstance(scorer, HyperQA):
        write_readouts(request.out, scorer, dev, seed=request.seed)
    run.finish(training, plots=request.plots, measure="MAP")
    return outcome


def _taught(
    run: TrainingRun,
    training: Training,
    teacher: PairScorer,
    pool: AnswerPool,
    dev: AnswerPool,
    on_progress: OnProgress,
) -> FloatArray:
    """The teacher's scores of the pairs for training and then of those held out; from here on a run can be resumed."""
    if not training.step:
        seed_everything(training.seed)  # as training begins, so that a run resumed here draws the same
        run.save(training)
    return teacher_scores(run, teacher, [*pool.pairs(), *dev.pairs()], on_progress)


def _lessons(
    settings: HyperSettings,
    training: Training,
    scorer: Scorer,
    pool: AnswerPool,
    dev: AnswerPool,
    scores: FloatArray | None,
) -> Iterator[Progress]:
    """Training by labels, or by a teacher's scores of the pool's pairs and more."""
    if scores is None:
        return train_pairwise(training, scorer, pool, settings.pairs, held_out=dev)
    own = scores[: len(pool)]
    wanted = spread(own, *settings.span) if settings.span else standard(own)
    return train_distilled(training, scorer, pool, wanted, settings.distil, held_out=dev)


def _scorer(settings: HyperSettings, base: Path | None) -> Scorer:
    """A new one, or that of a base; global generators draw the first weights."""
    hyper = settings.hyperbolic
    if base is not None:
        scorer = (HyperQA if hyper else SiameseCosineRanker).load(base)
        shape: HyperShape | PeerShape = settings.hyper if hyper else settings.peer
        if scorer.config.shape != shape:
            raise SettingsError(
                f"Expected a base of the shape that the settings say, {shape}, but got {scorer.config.shape} in {base}."
            )
        return scorer
    source = _words(settings)
    return HyperQA.of(source, settings.hyper) if hyper else SiameseCosineRanker.of(source, settings.peer)


def _words(settings: HyperSettings) -> FrozenWords:
    path = located(settings.pretrained)
    if path.is_dir():
        return PieceWords.load(path)
    return TableWords.of(read_vectors(path, limit=settings.most_words))


def _optimiser(scorer: Scorer, settings: HyperSettings) -> torch.optim.Optimizer:
    if isinstance(scorer, HyperQA):
        return hyperqa.optimiser(scorer, learning_rate=settings.learning_rate, l2=settings.l2)
    return siamese_cosine.optimiser(scorer, learning_rate=settings.learning_rate, l2=settings.l2)


def _measured(scorer: Scorer, pool: AnswerPool) -> tuple[Figures, float]:
    """Figures, and pairs scored a second."""
    pairs = pool.pairs()
    started = time.perf_counter()
    scores = scorer.score(pairs)
    return Figures.of(pool, scores), len(pairs) / max(time.perf_counter() - started, 1e-9)


def _identity(settings: HyperSettings, request: Request, pool: AnswerPool, dev: AnswerPool) -> dict[str, Any]:
    """What has to be the same for a saved run to go on."""
    return {
        "config": asdict(settings),
        "pairs": len(pool),
        "held_out": len(dev),
        "seed": request.seed,
        "base": str(request.base.resolve()) if request.base else "",
        "teacher": str(folder_of(settings.teacher).resolve()) if settings.teacher else "",
    }


def _card(outcome: Outcome, settings: HyperSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    teacher = outcome.teacher
    by = f"| teacher | {folder_of(settings.teacher).name}, loss {settings.distil.loss} |\n" if teacher else ""
    taught = f"| teacher | {teacher.ap:.3f} | {teacher.rr:.3f} |\n" if teacher else ""
    return f"""# Answer ranker trained with qa-bot

| | |
| --- | --- |
| model | {settings.model} |
| started from | {request.base.name if request.base else "random weights"} |
{by}| word vectors | {Path(settings.pretrained).name}, frozen |
| data | {", ".join(path.name for path in request.data)} |
| questions, pairs for training | {outcome.questions:,}, {outcome.pairs:,} |
| questions held out | {outcome.held_out:,} |
| trained parameters | {outcome.parameters:,} |
| seed | {request.seed} |
| epochs | {outcome.epochs} |

On the held-out questions that have right answers and wrong ones:

| | MAP | MRR |
| --- | --- | --- |
| before | {outcome.before.ap:.3f} | {outcome.before.rr:.3f} |
| after | {outcome.after.ap:.3f} | {outcome.after.rr:.3f} |
{taught}
The licence follows from that of the data and of the word vectors; see there.

## Settings

```json
{json.dumps(settings.used(), indent=2)}
```
"""
