"""`train encoder-decoder`: from questions and right answers to a ranker by likelihood (thesis, ch. 6.4).

Wrong answers, where the data has them, are for measuring only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from qa_core.training.likelihood_training import LikelihoodConfig, optimiser, perplexity
from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.training.resume import load_training
from qa_lab.train.data.answer_sets import AnswerSets, kept, parted
from qa_lab.train.data.start_vectors import vectors_of, words_of
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.rankers.likelihood_measures import AMONG, among, chosen, judged_figures
from qa_lab.train.request import Request
from qa_lab.train.settings import device_of, read_toml, settled
from qa_lab.train.training_run import TrainingRun, drive
from rankers.answer_selection.encoder_decoder import (
    PAPER,
    SMALL,
    EncoderDecoderConfig,
    EncoderDecoderRanker,
    train_encoder_decoder,
)
from rankers.neural import TextPair
from rankers.training.answer_pool import AnswerSet

MEASURED = 500
"""Held-out pairs that are ranked at most."""
_PRESETS = {"cpu": SMALL, "paper": PAPER}


@dataclass(frozen=True, slots=True)
class EncoderDecoderSettings:
    """What `--config` may hold."""

    preset: Literal["cpu", "paper"] = "cpu"  # sizes where [model] does not say
    pretrained: str = ""  # E_pre: `starter`, a static encoder's folder or a file of word vectors
    minimum: int = 2  # times a word has to stand in the training texts
    device: Literal["auto", "cpu", "cuda"] = "auto"
    model: EncoderDecoderConfig = SMALL
    training: LikelihoodConfig = field(default_factory=LikelihoodConfig)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run, on held-out questions."""

    pairs: int
    held_out: int
    perplexity: float
    rr: float | None  # of the right answer among AMONG, by the mean log-likelihood; None where too few are held out
    success: float | None
    ap: float | None  # over questions with right and wrong answers; None without any
    judged_rr: float | None
    parameters: int
    seconds: float
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON, with the names of ir-measures."""
        told: dict[str, object] = {
            "pairs": self.pairs,
            "held_out": self.held_out,
            "rejected": self.rejects,
            "parameters": self.parameters,
            "seconds": self.seconds,
            "perplexity": self.perplexity,
        }
        if self.rr is not None:
            told[f"among {AMONG}"] = {"RR": self.rr, "P@1": self.success}
        if self.ap is not None:
            told["judged"] = {"AP": self.ap, "RR": self.judged_rr}
        return told

    def text(self, out: Path) -> str:
        """Figures, and where the ranker is."""
        judged = "" if self.ap is None else f"judged answers: MAP {self.ap:.3f}, MRR {self.judged_rr:.3f}\n"
        found = (
            "" if self.rr is None else f"; the right answer among {AMONG}: MRR {self.rr:.3f}, P@1 {self.success:.3f}"
        )
        return (
            f"{self.pairs:,} right pairs for training, {self.held_out:,} held out\n"
            f"perplexity {self.perplexity:.1f}{found}\n{judged}"
            f"written to {out}\n"
        )


OnRead = Callable[[AnswerSets], None]
OnProgress = Callable[[Progress], None]


def train_encoder_decoder_ranker(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Train and write `request.out`: the ranker, its card, `curve.csv`, and `curve.png` where it was asked for.

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
    return configured(request).training.epochs


def configured(request: Request) -> EncoderDecoderSettings:
    """The preset that the settings name, and the settings over it."""
    given = read_toml(request.config) if request.config else {}
    source = str(request.config or "defaults")
    guess = settled(EncoderDecoderSettings(), given, source=source)
    settings = settled(EncoderDecoderSettings(model=_PRESETS[guess.preset]), given, source=source)
    if request.base is not None:
        raise SettingsError(f"Expected no base to start from, but got {request.base}; name vectors by `pretrained`.")
    sizes = {
        "training.batch": settings.training.batch,
        "training.epochs": settings.training.epochs,
        "training.patience": settings.training.patience,
        "training.learning_rate": settings.training.learning_rate,
        "model.max_question": settings.model.max_question,
        "model.max_answer": settings.model.max_answer,
        "minimum": settings.minimum,
    }
    if wrong := [f"{name} = {value}" for name, value in sizes.items() if not value > 0]:
        raise SettingsError(f"{source}: Expected positive numbers, but got {', '.join(wrong)}.")
    return settings


def right_pairs(sets: Sequence[AnswerSet]) -> list[TextPair]:
    """Questions with each of their right answers."""
    return [
        (each.question, answer)
        for each in sets
        for answer, right in zip(each.answers, each.labels, strict=True)
        if right
    ]


def _trained(request: Request, settings: EncoderDecoderSettings, on_read: OnRead, on_progress: OnProgress) -> Outcome:
    started = time.monotonic()
    train, dev, rejects = parted(request, on_read)
    pairs, held_out = right_pairs(train), right_pairs(dev)
    if not pairs or not held_out:
        raise TrainingDataError(
            f"Expected right pairs for training and to hold out, but got {len(pairs)} and {len(held_out)}; give more, "
            "or name development data with --dev PATH."
        )
    seed_everything(request.seed)
    texts = [text for pair in pairs for text in pair]
    pretrained = vectors_of(settings.pretrained, words_of(texts)) if settings.pretrained else None
    ranker = EncoderDecoderRanker.of(texts, settings.model, minimum=settings.minimum, pretrained=pretrained)
    ranker.model.to(device_of(settings.device))
    training = Training(ranker.model, optimiser(ranker.translator, settings.training), seed=request.seed)
    identity = {"config": asdict(settings), "pairs": len(pairs), "held_out": len(held_out), "seed": request.seed}
    run = TrainingRun(request.out, identity)
    if request.resume:
        run.check()
        load_training(run.state, training)
    else:
        run.begin()
    drive(
        run, training, train_encoder_decoder(training, ranker, pairs, settings.training, held_out=held_out), on_progress
    )
    ranker.model.eval()
    outcome = _measured(ranker, pairs, held_out, dev, request.seed, time.monotonic() - started, rejects)
    ranker.save(request.out, card=_card(outcome, settings, request))
    run.finish(training, plots=request.plots, measure="perplexity")
    return outcome


def _measured(
    ranker: EncoderDecoderRanker,
    pairs: Sequence[TextPair],
    held_out: Sequence[TextPair],
    dev: Sequence[AnswerSet],
    seed: int,
    seconds: float,
    rejects: int,
) -> Outcome:
    rng = np.random.default_rng(seed)
    answers = len({answer for _, answer in held_out})
    rr: float | None = None
    success: float | None = None
    if answers >= 2 * AMONG:
        lists = among(held_out, rng)
        lists = [lists[place] for place in sorted(rng.permutation(len(lists))[:MEASURED].tolist())]
        rr, success = chosen(lists, lambda listed: ranker.score(listed).tolist())
    judged = kept(dev, "both")
    ap, judged_rr = judged_figures(ranker, judged) if judged else (None, None)
    return Outcome(
        len(pairs),
        len(held_out),
        perplexity(ranker.translator, ranker.columns(held_out)),
        rr,
        success,
        ap,
        judged_rr,
        sum(p.numel() for p in ranker.model.parameters() if p.requires_grad),
        seconds,
        rejects,
    )


def _card(outcome: Outcome, settings: EncoderDecoderSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    rows = []
    if outcome.ap is not None:
        rows.append(f"| judged answers | {outcome.ap:.3f} | {outcome.judged_rr:.3f} | |\n")
    if outcome.rr is not None:
        rows.append(f"| the right answer among {AMONG} | | {outcome.rr:.3f} | {outcome.success:.3f} |\n")
    return f"""# Encoder-decoder ranker, trained with qa-bot

| | |
| --- | --- |
| scores | {settings.model.direction} |
| data | {", ".join(path.name for path in request.data)} |
| right pairs for training, held out | {outcome.pairs:,}, {outcome.held_out:,} |
| trained parameters | {outcome.parameters:,} |
| seed | {request.seed} |
| seconds | {outcome.seconds:,.0f} |
| perplexity of held-out pairs | {outcome.perplexity:.1f} |

On held-out questions:

| | MAP | MRR | P@1 |
| --- | --- | --- | --- |
{"".join(rows)}
The licence follows from that of the data and of the word vectors; see there.

## Settings

```json
{json.dumps(asdict(settings), indent=2)}
```
"""
