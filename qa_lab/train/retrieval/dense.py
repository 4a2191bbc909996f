"""`train dense`: from pairs and settings to an encoder that `use`, `eval` and `[dense] encoder` take."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.encoders.sentence_layout import is_transformer
from qa_core.training.loop import Training, seed_everything
from qa_lab.data.pairs import read_pairs, split
from qa_lab.data.splitting import dev_share
from qa_lab.data.word_vectors import vectors_of
from qa_lab.errors import SettingsError, TrainingDataError
from qa_lab.train.card import card_text, table
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, device_of, in_table, load_settings
from qa_lab.train.verb import Job, Outcome, TrainVerb, best_epoch
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
    """Keys of `--config`."""

    model: Literal["static", "mean", "bilstm", "transformer"] = "static"
    preset: Literal["cpu", "paper"] = "cpu"  # default sizes of mean and bilstm; paper: also the losses of Wang (2018)
    pretrained: str = ""  # E_pre of mean and bilstm: `starter`, a static encoder's folder, or a file of word vectors
    device: Literal["auto", "cpu", "cuda"] = "auto"
    slam: SlamConfig = field(default_factory=SlamConfig)
    words: WordConfig = CPU
    static: StaticConfig = field(default_factory=StaticConfig)
    transformer: TransformerConfig = field(default_factory=TransformerConfig)


@dataclass(frozen=True)
class DenseOutcome(Outcome):
    """Result on held-out questions, by exact search among their answers."""

    pairs: int
    held_out: int
    rejected: int
    before: Quality
    after: Quality

    def text(self, out: Path) -> str:
        return (
            f"{self.pairs:,} pairs for training, {self.held_out:,} held out\n"
            f"before: {self.before}\n"
            f"after:  {self.after}\n"
            f"use it: qa-bot use {out}\n"
        )


def settings(request: Request) -> DenseConfig:
    """Defaults of the model that the settings name or that the base is, and the settings over them."""
    config = load_settings(
        request.config,
        DenseConfig(model=_model_of(request.base)),
        preset=lambda c: DenseConfig(model=c.model, slam=_slam(c), words=_PRESETS[c.preset]),
    )
    if config.model == "transformer" and request.base is None:
        raise SettingsError("Expected --base DIR, a transformer to start from, but got none; name its folder.")
    if request.base is not None and config.model != (kind := _model_of(request.base)):
        raise SettingsError(
            f"Expected a {config.model} encoder to start from, as {request.config} says, but got a {kind} one in "
            f"{request.base}; name another folder or leave `model` out."
        )
    slam = in_table("slam", "batch", "epochs", "patience", "learning_rate", "scale")
    check_positive(config, *slam, source=request.config)
    return config


def _slam(config: DenseConfig) -> SlamConfig:
    """Defaults of training for the model and the preset."""
    return replace(_SLAM[config.model], triplet_negative="one" if config.preset == "paper" else "hardest")


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


def _train(job: Job[DenseConfig]) -> DenseOutcome:
    request, config = job.request, job.settings
    data = job.read(read_pairs)
    examples, held_out = _examples(data.examples, request.dev)
    if config.slam.batch > len(examples):
        log.warning(
            "Expected at least a batch of %d pairs, but got %d; all are one batch.", config.slam.batch, len(examples)
        )
    seed_everything(request.seed)
    tower = build(config, examples, base=request.base)
    tower.model.to(device_of(config.device))
    before = measured(tower, held_out)
    examples = with_hard_negatives(tower, examples, config.slam)
    training = Training(tower.model, optimiser(tower, config.slam), seed=request.seed)
    reports = train_slam(training, tower, examples, config.slam, held_out=held_out)
    run = job.fit(training, reports, pairs=len(examples), base=request.base_path)
    outcome = DenseOutcome(len(examples), len(held_out), len(data.rejects), before, measured(tower, held_out))
    made_with = {"settings": _used(config), "seed": request.seed, "pairs": outcome.pairs, "held_out": outcome.after.rr}
    tower.save(request.out, card=_card(outcome, config, request, best_epoch(training)), made_with=made_with)
    job.finish(run, training)
    return outcome


DENSE = TrainVerb(_train, settings, lambda config, _: config.slam.epochs, "MRR")


def _model_of(base: Path | None) -> Model:
    if base is None:
        return "static"
    if is_transformer(base):
        return "transformer"
    kind = json.loads((base / "config.json").read_text("utf-8")).get("kind") if (base / "config.json").is_file() else ""
    kinds: dict[object, Model] = {"static": "static", "MeanTextConfig": "mean", "BiLSTMTextConfig": "bilstm"}
    if kind not in kinds:
        raise TrainingDataError(
            f"Expected an encoder to start from in {base}, but got {kind or 'none'!r}; name a folder that "
            "`train dense` wrote or one in sentence-transformers layout, or leave --base out."
        )
    return kinds[kind]


def _examples(pairs: Sequence[Pair], dev: str) -> tuple[Examples, Examples]:
    share = dev_share(dev)
    if share is None:
        return Examples.of(pairs), Examples.of(read_pairs([Path(dev)]).examples)
    train, held_out = split(pairs, share)
    try:
        return Examples.of(train), Examples.of(held_out)
    except ValueError as error:
        raise TrainingDataError(
            f"{error} Of {len(pairs)} pairs {len(train)} are for training and {len(held_out)} are held out; with few "
            "pairs, name development data with --dev PATH or a larger share."
        ) from None


def _used(config: DenseConfig) -> dict[str, object]:
    """The settings that affected the result."""
    values = asdict(config)
    part = {"static": "static", "transformer": "transformer"}.get(config.model, "words")
    return {"model": config.model, "slam": values["slam"], part: values[part], "pretrained": config.pretrained}


def _card(outcome: DenseOutcome, config: DenseConfig, request: Request, epochs: int) -> str:
    facts = {
        "model": config.model,
        "started from": request.base.name if request.base else (STARTER if config.model == "static" else "none"),
        "data": request.data_names,
        "pairs for training, held out": f"{outcome.pairs:,}, {outcome.held_out:,}",
        "seed": request.seed,
        "epochs": epochs,
    }
    qualities = {"before": outcome.before, "after": outcome.after}
    text = f"""On the held-out questions, by exact search among the held-out answers:

{table(("", "S@1", "MRR"), [(name, f"{q.success:.3f}", f"{q.rr:.3f}") for name, q in qualities.items()])}

The licence follows from that of the data and of the model it started from; see there."""
    return card_text("Dense encoder trained with qa-bot", facts, text, _used(config))
