"""`train hyperqa`: from questions with labelled answers to HyperQA, CosineQA, or one of their peers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch

from qa_bot.encoders import STARTER, STARTER_FOLDER
from qa_bot.training.answer_sets import AnswerSets, Figures, parted_mixed
from qa_bot.training.dense import TrainingError
from qa_bot.training.hyperqa_readouts import write_readouts
from qa_bot.training.pairs import TrainingDataError
from qa_bot.training.request import Request
from qa_bot.training.run import Run, RunError, hold
from qa_bot.training.settings import SettingsError, read_toml, settled
from qa_core.resume import load_training
from qa_core.training import Progress, Training, seed_everything
from qa_core.vectors import read_vectors
from rankers import hyperqa, peers
from rankers.frozen_words import FrozenWords, PieceWords, TableWords
from rankers.hyperqa import HyperQA, HyperShape
from rankers.pairs import PairwiseConfig, Pool, check_mixed, train_pairwise
from rankers.peers import Peer, PeerShape

Model = Literal["hyperqa", "cosineqa", "qa-bilstm", "qa-cnn", "ap-bilstm", "ap-cnn"]
Scorer = HyperQA | Peer


@dataclass(frozen=True, slots=True)
class HyperSettings:
    """What `--config` may hold."""

    model: Model = "hyperqa"
    pretrained: str = STARTER  # word vectors: a static encoder's folder, or a file of vectors
    most_words: int = 200_000  # of a file of vectors, the first so many
    learning_rate: float = 0.1
    l2: float = 1e-5
    hyper: HyperShape = field(default_factory=HyperShape)
    peer: PeerShape = field(default_factory=PeerShape)
    pairs: PairwiseConfig = field(default_factory=lambda: PairwiseConfig(drawn=6))


_COSINE = PairwiseConfig(drawn=6, margin=0.2)
_PEER = HyperSettings(learning_rate=0.01, pairs=PairwiseConfig(drawn=4, margin=0.2, epochs=15, patience=3))
DEFAULTS: Mapping[Model, HyperSettings] = {
    "hyperqa": HyperSettings(),
    "cosineqa": HyperSettings(model="cosineqa", hyper=HyperShape(distance="cosine"), pairs=_COSINE),
    "qa-bilstm": replace(_PEER, model="qa-bilstm"),
    "qa-cnn": replace(_PEER, model="qa-cnn", peer=PeerShape("cnn")),
    "ap-bilstm": replace(_PEER, model="ap-bilstm", peer=PeerShape(attentive=True)),
    "ap-cnn": replace(_PEER, model="ap-cnn", peer=PeerShape("cnn", attentive=True)),
}


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

    def as_dict(self) -> dict[str, object]:
        """For JSON, with the names of ir-measures."""
        told = asdict(self) | {"before": self.before.as_dict(), "after": self.after.as_dict()}
        return {("rejected" if name == "rejects" else name): value for name, value in told.items()}

    def text(self, out: Path) -> str:
        """Figures before and after, and where the ranker is."""
        return (
            f"{self.pairs:,} pairs of {self.questions:,} questions, {self.held_out:,} questions held out\n"
            f"before: MAP {self.before.ap:.3f}, MRR {self.before.rr:.3f}\n"
            f"after:  MAP {self.after.ap:.3f}, MRR {self.after.rr:.3f} ({self.epochs} epochs)\n"
            f"{self.parameters:,} parameters, {self.pairs_per_second:,.0f} pairs scored a second\n"
            f"written to {out}\n"
        )


Told = Callable[[AnswerSets], None]
Reported = Callable[[Progress], None]


def train_hyperqa(request: Request, *, told: Told = lambda _: None, reported: Reported = lambda _: None) -> Outcome:
    """Train and write `request.out`: the ranker, its card and `curve.csv`; with plots `curve.png` and the read-outs.

    Args:
        told: hears what was read, rejects included, before training begins.
        reported: hears of every progress.

    Raises:
        TrainingError, TrainingDataError, SettingsError, RunError: data, settings or folders do not do.
    """
    settings = configured(request)
    try:
        return _trained(request, settings, told, reported)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError, ModuleNotFoundError) as error:
        raise TrainingError(str(error)) from error


def epochs(request: Request) -> int:
    """At most, for a progress bar."""
    return configured(request).pairs.epochs


def configured(request: Request) -> HyperSettings:
    """Defaults of the model that the settings name, and the settings over them."""
    given = read_toml(request.config) if request.config else {}
    source = str(request.config or "defaults")
    guess = settled(HyperSettings(), given, source=source)
    settings = settled(DEFAULTS[guess.model], given, source=source)
    _check(settings, request, source)
    return settings


def _trained(request: Request, settings: HyperSettings, told: Told, reported: Reported) -> Outcome:
    train, held_out, rejects = parted_mixed(request, told)
    pool, dev = Pool.of(train), Pool.of(held_out)
    check_mixed(pool)
    seed_everything(request.seed)
    scorer = _scorer(settings, request.base)
    before, _ = _measured(scorer, dev)
    training = Training(scorer.model, _optimiser(scorer, settings), seed=request.seed)
    run = Run(request.out, _identity(settings, request, pool, dev))
    if request.resume:
        run.check()
        load_training(run.state, training)
    else:
        run.begin()
    started, done = time.monotonic(), training.epoch
    hold(run, training, train_pairwise(training, scorer, pool, settings.pairs, held_out=dev), reported)
    seconds = (time.monotonic() - started) / max(1, training.epoch - done)
    scorer.model.eval()
    after, rate = _measured(scorer, dev)
    kept_epoch = training.best.epoch if training.best else training.epoch
    counts = (len(pool.questions), len(pool), len(dev.questions))
    outcome = Outcome(settings.model, *counts, before, after, scorer.parameters, kept_epoch, seconds, rate, rejects)
    scorer.save(request.out, card=_card(outcome, settings, request))
    if request.plots and isinstance(scorer, HyperQA):
        write_readouts(request.out, scorer, dev, seed=request.seed)
    run.finish(training, plots=request.plots, measure="MAP")
    return outcome


def _scorer(settings: HyperSettings, base: Path | None) -> Scorer:
    """A new one, or that of a base; global generators draw the first weights."""
    hyper = settings.model in ("hyperqa", "cosineqa")
    if base is not None:
        scorer = (HyperQA if hyper else Peer).load(base)
        shape: HyperShape | PeerShape = settings.hyper if hyper else settings.peer
        if scorer.config.shape != shape:
            raise SettingsError(
                f"Expected a base of the shape that the settings say, {shape}, but got {scorer.config.shape} in {base}."
            )
        return scorer
    source = _words(settings)
    return HyperQA.of(source, settings.hyper) if hyper else Peer.of(source, settings.peer)


def _words(settings: HyperSettings) -> FrozenWords:
    path = _vectors(settings)
    if path.is_dir():
        return PieceWords.load(path)
    return TableWords.of(read_vectors(path, limit=settings.most_words))


def _vectors(settings: HyperSettings) -> Path:
    return STARTER_FOLDER if settings.pretrained == STARTER else Path(settings.pretrained).expanduser()


def _optimiser(scorer: Scorer, settings: HyperSettings) -> torch.optim.Optimizer:
    if isinstance(scorer, HyperQA):
        return hyperqa.optimiser(scorer, learning_rate=settings.learning_rate, l2=settings.l2)
    return peers.optimiser(scorer, learning_rate=settings.learning_rate, l2=settings.l2)


def _check(settings: HyperSettings, request: Request, source: str) -> None:
    pairs = settings.pairs
    numbers = {f"pairs.{name}": getattr(pairs, name) for name in ("batch", "epochs", "patience", "negatives", "drawn")}
    numbers |= {"learning_rate": settings.learning_rate, "pairs.margin": pairs.margin}
    if wrong := [f"{name} = {value}" for name, value in numbers.items() if not value > 0]:
        raise SettingsError(f"{source}: Expected positive numbers, but got {', '.join(wrong)}.")
    own = DEFAULTS[settings.model]
    fixed = {
        "hyper.distance": (settings.hyper.distance, own.hyper.distance),
        "peer.encoder": (settings.peer.encoder, own.peer.encoder),
        "peer.attentive": (settings.peer.attentive, own.peer.attentive),
    }
    if other := [f"{name} = {given!r}" for name, (given, expected) in fixed.items() if given != expected]:
        raise SettingsError(
            f"{source}: Expected what makes {settings.model}, but got {', '.join(other)}; choose another `model`."
        )
    if not _vectors(settings).exists():
        raise SettingsError(
            f"{source}: Expected word vectors in {settings.pretrained}, but there is nothing; name a file of vectors, "
            f"a static encoder's folder, or `{STARTER}`."
        )
    if request.base is not None and not request.base.is_dir():
        raise SettingsError(f"Expected a ranker to start from in {request.base}, but got no folder; check --base.")


def _measured(scorer: Scorer, pool: Pool) -> tuple[Figures, float]:
    """Figures, and pairs scored a second."""
    pairs = pool.pairs()
    started = time.perf_counter()
    scores = scorer.score(pairs)
    return Figures.of(pool, scores), len(pairs) / max(time.perf_counter() - started, 1e-9)


def _identity(settings: HyperSettings, request: Request, pool: Pool, dev: Pool) -> dict[str, Any]:
    """What has to be the same for a saved run to go on."""
    base = str(request.base.resolve()) if request.base else ""
    return {
        "config": asdict(settings),
        "pairs": len(pool),
        "held_out": len(dev),
        "seed": request.seed,
        "base": base,
    }


def _used(settings: HyperSettings) -> dict[str, object]:
    """The settings that had a say; a path is told by its name."""
    told = asdict(settings)
    del told["peer" if settings.model in ("hyperqa", "cosineqa") else "hyper"]
    return told | {"pretrained": Path(settings.pretrained).name}


def _card(outcome: Outcome, settings: HyperSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    return f"""# Answer ranker trained with qa-bot

| | |
| --- | --- |
| model | {settings.model} |
| started from | {request.base.name if request.base else "random weights"} |
| word vectors | {Path(settings.pretrained).name}, frozen |
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

The licence follows from that of the data and of the word vectors; see there.

## Settings

```json
{json.dumps(_used(settings), indent=2)}
```
"""
