"""`train dense`: from pairs and settings to an encoder that `use`, `eval` and `[dense] encoder` take."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.training.resume import load_training
from qa_lab.train.card import Card, card_text
from qa_lab.train.data.pairs import Pairs, read_pairs, split
from qa_lab.train.data.start_vectors import vectors_of
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.request import Request
from qa_lab.train.settings import device_of, read_toml, settled
from qa_lab.train.training_run import TrainingRun, drive
from retrievers.training.encoders.static_tower import StaticConfig, StaticTower
from retrievers.training.encoders.trainable_encoders import Tower, counted
from retrievers.training.encoders.transformer_tower import TransformerConfig, TransformerTower
from retrievers.training.encoders.word_tower import CPU, PAPER, WordConfig, WordTower
from retrievers.training.examples import Examples, Pair
from retrievers.training.search import Quality
from retrievers.training.slam import SlamConfig, measured, optimiser, train_slam, with_hard_negatives

log = logging.getLogger(__name__)

Model = Literal["static", "mean", "bilstm", "transformer"]
_SLAM = {
    "static": SlamConfig(learning_rate=1e-3, epochs=15),
    "mean": SlamConfig(learning_rate=5e-3),
    "bilstm": SlamConfig(learning_rate=1e-3, clip=5.0),
    "transformer": SlamConfig(learning_rate=2e-5, epochs=5, clip=1.0),
}
_PRESETS = {"cpu": CPU, "paper": PAPER}


@dataclass(frozen=True, slots=True)
class DenseConfig:
    """What `--config` may hold."""

    model: Literal["static", "mean", "bilstm", "transformer"] = "static"
    preset: Literal["cpu", "paper"] = "cpu"  # sizes of mean and bilstm where [words] does not say
    pretrained: str = ""  # E_pre of mean and bilstm: `starter`, a static encoder's folder, or a file of word vectors
    device: Literal["auto", "cpu", "cuda"] = "auto"
    slam: SlamConfig = field(default_factory=SlamConfig)
    words: WordConfig = CPU
    static: StaticConfig = field(default_factory=StaticConfig)
    transformer: TransformerConfig = field(default_factory=TransformerConfig)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it, on held-out questions."""

    pairs: int
    held_out: int
    before: Quality
    after: Quality
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON, with the names of ir-measures."""
        return {
            "pairs": self.pairs,
            "held_out": self.held_out,
            "rejected": self.rejects,
            "before": {"Success@1": self.before.success, "RR": self.before.rr},
            "after": {"Success@1": self.after.success, "RR": self.after.rr},
        }

    def text(self, out: Path) -> str:
        """Figures before and after, and the command that puts the encoder to use."""
        return (
            f"{self.pairs:,} pairs for training, {self.held_out:,} held out\n"
            f"before: S@1 {self.before.success:.3f}, MRR {self.before.rr:.3f}\n"
            f"after:  S@1 {self.after.success:.3f}, MRR {self.after.rr:.3f}\n"
            f"use it: qa-bot use {out}\n"
        )


OnRead = Callable[[Pairs], None]
OnProgress = Callable[[Progress], None]


def train_dense(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Train and write `request.out`: the encoder, its card, `curve.csv`, and `curve.png` where it was asked for.

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
    except (ValueError, FloatingPointError, ModuleNotFoundError) as error:
        raise TrainingError(str(error)) from error


def _trained(request: Request, config: DenseConfig, on_read: OnRead, on_progress: OnProgress) -> Outcome:
    data = read_pairs(request.data, limit=request.limit)
    on_read(data)
    examples, held_out = _examples(data.pairs, request)
    _warn_small(examples, config.slam)
    seed_everything(request.seed)
    tower = build(config, examples, base=request.base)
    tower.model.to(device_of(config.device))
    before = measured(tower, held_out)
    examples = with_hard_negatives(tower, examples, config.slam)
    training = Training(tower.model, optimiser(tower, config.slam), seed=request.seed)
    run = TrainingRun(request.out, identity(config, examples, request))
    if request.resume:
        run.check()
        load_training(run.state, training)
    else:
        run.begin()
    drive(run, training, train_slam(training, tower, examples, config.slam, held_out=held_out), on_progress)
    outcome = Outcome(len(examples), len(held_out), before, measured(tower, held_out), len(data.rejects))
    _save(tower, config, request, outcome, training)
    run.finish(training, plots=request.plots)
    return outcome


def epochs(request: Request) -> int:
    """At most, for a progress bar."""
    return configured(request).slam.epochs


def configured(request: Request) -> DenseConfig:
    """Defaults of the model that the settings name, or that the base is, and the settings over them."""
    given = read_toml(request.config) if request.config else {}
    source = str(request.config or "defaults")
    guess = settled(DenseConfig(model=_model_of(request.base)), given, source=source)
    defaults = DenseConfig(model=guess.model, slam=_SLAM[guess.model], words=_PRESETS[guess.preset])
    config = settled(defaults, given, source=source)
    _check(config, request)
    return config


def build(config: DenseConfig, examples: Examples, *, base: Path | None) -> Tower:
    """The encoder to train; global generators draw its first weights."""
    texts = (*examples.questions, *examples.answers)
    if config.model == "transformer":
        assert base is not None, "checked with the settings"
        return TransformerTower.of(base, config.transformer)
    if config.model == "static":
        return StaticTower.of(base or ENCODER, texts, config.static)
    if base is not None:
        return WordTower.load(base)
    pretrained = vectors_of(config.pretrained, list(counted(texts))) if config.pretrained else None
    return WordTower.of(config.model, texts, config.words, pretrained=pretrained)


def identity(config: DenseConfig, examples: Examples, request: Request) -> dict[str, object]:
    """What has to be the same for a saved run to go on."""
    base = str(request.base.resolve()) if request.base else ""
    return {"config": asdict(config), "pairs": len(examples), "seed": request.seed, "base": base}


def _model_of(base: Path | None) -> Model:
    if base is None:
        return "static"
    if (base / "modules.json").is_file():
        return "transformer"
    kind = json.loads((base / "config.json").read_text("utf-8")).get("kind") if (base / "config.json").is_file() else ""
    kinds: dict[object, Model] = {"static": "static", "MeanTextConfig": "mean", "BiLSTMTextConfig": "bilstm"}
    if kind not in kinds:
        raise TrainingDataError(
            f"Expected an encoder to start from in {base}, but got {kind or 'none'!r}; name a folder that "
            "`train dense` wrote or one in sentence-transformers layout, or leave --base out."
        )
    return kinds[kind]


def _check(config: DenseConfig, request: Request) -> None:
    if config.model == "transformer" and request.base is None:
        raise SettingsError("Expected --base DIR, a transformer to start from, but got none; name its folder.")
    if request.base is not None and config.model != (kind := _model_of(request.base)):
        raise SettingsError(
            f"Expected a {config.model} encoder to start from, as {request.config} says, but got a {kind} one in "
            f"{request.base}; name another folder or leave `model` out."
        )
    slam = config.slam
    wrong = [name for name in ("batch", "epochs", "patience") if getattr(slam, name) < 1]
    wrong += [name for name in ("learning_rate", "scale") if not getattr(slam, name) > 0]
    if wrong:
        told = ", ".join(f"slam.{name} = {getattr(slam, name)}" for name in wrong)
        raise SettingsError(f"Expected positive numbers, but got {told}; correct {request.config}.")


def _examples(pairs: Sequence[Pair], request: Request) -> tuple[Examples, Examples]:
    try:
        share = float(request.dev)
    except ValueError:
        return Examples.of(pairs), Examples.of(read_pairs([Path(request.dev)]).pairs)
    if not 0 < share < 1:
        raise TrainingDataError(f"Expected a share between 0 and 1, or a path, for --dev, but got {request.dev}.")
    kept, held_out = split(pairs, share)
    try:
        return Examples.of(kept), Examples.of(held_out)
    except ValueError as error:
        raise TrainingDataError(
            f"{error} Of {len(pairs)} pairs {len(kept)} are for training and {len(held_out)} are held out; with few "
            "pairs, name development data with --dev PATH or a larger share."
        ) from None


def _warn_small(examples: Examples, slam: SlamConfig) -> None:
    if slam.batch > len(examples):
        log.warning("Expected at least a batch of %d pairs, but got %d; all are one batch.", slam.batch, len(examples))


def _save(tower: Tower, config: DenseConfig, request: Request, outcome: Outcome, training: Training) -> None:
    best = training.best
    card = Card(
        model=config.model,
        base=request.base.name if request.base else (STARTER if config.model == "static" else "none"),
        data=tuple(path.name for path in request.data),
        pairs=outcome.pairs,
        held_out=outcome.held_out,
        seed=request.seed,
        epochs=best.epoch if best else training.epoch,
        before=outcome.before,
        after=outcome.after,
        settings=_used(config),
    )
    made_with = {"settings": _used(config), "seed": request.seed, "pairs": outcome.pairs, "held_out": outcome.after.rr}
    tower.save(request.out, card=card_text(card), made_with=made_with)


def _used(config: DenseConfig) -> dict[str, object]:
    """The settings that had a say."""
    told = asdict(config)
    part = {"static": "static", "transformer": "transformer"}.get(config.model, "words")
    return {"model": config.model, "slam": told["slam"], part: told[part], "pretrained": config.pretrained}
