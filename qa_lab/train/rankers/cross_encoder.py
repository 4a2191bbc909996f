"""`train cross-encoder`: from questions with labelled answers and a transformer to a ranker, served by onnxruntime."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch

from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.networks.checkpoints import CONFIG
from qa_core.networks.pair_tokens import PairConfig
from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.training.resume import load_training
from qa_lab.train.data.answer_sets import AnswerSets, parted_mixed
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.request import Request
from qa_lab.train.settings import read_toml, settled
from qa_lab.train.training_run import TrainingRun, drive
from rankers.training.answer_pool import AnswerPool, AnswerSet
from rankers.training.cross_encoder_training import (
    CrossEncoderTuning,
    TrainedCrossEncoder,
    optimiser,
    tune_cross_encoder,
)
from rankers.training.pair_training import mean_average_precision
from retrievers.training.search import nearest

MEASURE = "MAP"


@dataclass(frozen=True, slots=True)
class CrossEncoderSettings:
    """What `--config` may hold."""

    cross: PairConfig = field(default_factory=lambda: PairConfig(max_length=128))
    tuning: CrossEncoderTuning = field(default_factory=CrossEncoderTuning)
    mined: int = 0  # of each question, answers of others that the starter encoder finds nearest, as wrong ones
    graph: bool = True  # write the graph that serves without torch
    int8: bool = True  # and the quantised one


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it, on held-out questions that have right answers and wrong ones."""

    questions: int
    pairs: int
    held_out: int  # questions
    epochs: int  # to the weights that were kept
    before: float
    after: float
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON, with the names of ir-measures."""
        return {
            "questions": self.questions,
            "pairs": self.pairs,
            "held_out": self.held_out,
            "epochs": self.epochs,
            "rejected": self.rejects,
            "before": {"AP": self.before},
            "after": {"AP": self.after},
        }

    def text(self, out: Path) -> str:
        """Figures before and after, and how to measure it."""
        return (
            f"{self.pairs:,} pairs of {self.questions:,} questions for training, {self.held_out:,} questions held out\n"
            f"MAP {self.before:.3f} before, {self.after:.3f} after {self.epochs} epochs\n"
            f"measure it: qa-bot eval answers --model {out}\n"
        )


OnRead = Callable[[AnswerSets], None]
OnProgress = Callable[[Progress], None]


def train_cross_encoder(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Train and write `request.out`: weights, graphs, card, `curve.csv`, and `curve.png` where it was asked for.

    Args:
        on_read: hears what was read, rejects included, before training begins.
        on_progress: hears of every progress.

    Raises:
        TrainingError, TrainingDataError, SettingsError, RunError: data, settings or folders do not do.
    """
    config = configured(request)
    try:
        return _trained(request, config, on_read, on_progress)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError, FileNotFoundError, ModuleNotFoundError) as error:
        raise TrainingError(str(error)) from error


def epochs(request: Request) -> int:
    """At most, for a progress bar."""
    return configured(request).tuning.epochs


def configured(request: Request) -> CrossEncoderSettings:
    """Defaults, and the settings over them."""
    given = read_toml(request.config) if request.config else {}
    config = settled(CrossEncoderSettings(), given, source=str(request.config or "defaults"))
    if request.base is None:
        raise SettingsError("Expected --base DIR, a transformer to start from, but got none; name its folder.")
    tuning = config.tuning
    wrong = [name for name in ("batch", "epochs", "patience") if getattr(tuning, name) < 1]
    wrong += [name for name in ("learning_rate", "head_rate") if not getattr(tuning, name) > 0]
    if wrong:
        told = ", ".join(f"tuning.{name} = {getattr(tuning, name)}" for name in wrong)
        raise SettingsError(f"Expected positive numbers, but got {told}; correct {request.config}.")
    return config


def opened(base: Path, config: PairConfig) -> TrainedCrossEncoder:
    """A cross-encoder that was trained before, or a new one over a transformer; torch draws its first weights."""
    path = base / CONFIG
    head = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if head.get("kind") == PairConfig.__name__:
        return TrainedCrossEncoder.load(base)
    return TrainedCrossEncoder.of(base, config)


def mined(sets: Sequence[AnswerSet], count: int) -> list[AnswerSet]:
    """The questions with `count` wrong answers more: those of other questions that are nearest by the starter encoder.

    What a question has for an answer already, right or wrong, is not taken again.
    """
    answers = list(dict.fromkeys(answer for each in sets for answer in each.answers))
    encoder = StaticEncoder.load(ENCODER)
    asked = encoder.encode([each.question for each in sets])
    most = count + max(len(each.answers) for each in sets)
    found = nearest(asked, encoder.encode(answers, side="answer"), most)
    more = []
    for each, places in zip(sets, found, strict=True):
        own = set(each.answers)
        new = tuple(answers[place] for place in places if answers[place] not in own)[:count]
        more.append(AnswerSet(each.question, each.answers + new, each.labels + (False,) * len(new), each.id))
    return more


def _trained(request: Request, config: CrossEncoderSettings, on_read: OnRead, on_progress: OnProgress) -> Outcome:
    sets, held, rejects = parted_mixed(request, on_read)
    if config.mined:
        sets = mined(sets, config.mined)
    pool, dev = AnswerPool.of(sets), AnswerPool.of(held)
    seed_everything(request.seed)
    assert request.base is not None, "checked with the settings"
    scorer = opened(request.base, config.cross)
    scorer.model.to(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    training = Training(scorer.model, optimiser(scorer, config.tuning), seed=request.seed)
    run = TrainingRun(request.out, _identity(config, pool, request))
    if request.resume:
        run.check()
        load_training(run.state, training)
    else:
        run.begin()
    before = mean_average_precision(scorer, dev)
    drive(run, training, tune_cross_encoder(training, scorer, pool, config.tuning, held_out=dev), on_progress)
    best = training.best
    outcome = Outcome(
        questions=len(pool.questions),
        pairs=len(pool),
        held_out=len(held),
        epochs=best.epoch if best else training.epoch,
        before=before,
        after=mean_average_precision(scorer, dev),
        rejects=rejects,
    )
    scorer.model.to("cpu")
    scorer.save(request.out, card=_card(outcome, config, request), graph=config.graph, int8=config.int8)
    run.finish(training, plots=request.plots, measure=MEASURE)
    return outcome


def _identity(config: CrossEncoderSettings, pool: AnswerPool, request: Request) -> dict[str, object]:
    """What has to be the same for a saved run to go on."""
    assert request.base is not None, "checked with the settings"
    return {
        "config": asdict(config),
        "pairs": len(pool),
        "seed": request.seed,
        "base": str(request.base.resolve()),
        "dev": request.dev,
    }


def _card(outcome: Outcome, config: CrossEncoderSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    return f"""# Cross-encoder trained with qa-bot

| | |
| --- | --- |
| started from | {request.base.name if request.base else ""} |
| data | {", ".join(path.name for path in request.data)} |
| questions and pairs for training | {outcome.questions:,}, {outcome.pairs:,} |
| questions held out, with right and wrong answers | {outcome.held_out:,} |
| seed | {request.seed} |
| epochs | {outcome.epochs} |
| MAP on the held-out questions before, after | {outcome.before:.3f}, {outcome.after:.3f} |

The licence follows from that of the data and of what it started from; see there.

## Settings

```json
{json.dumps(asdict(config), indent=2)}
```
"""
