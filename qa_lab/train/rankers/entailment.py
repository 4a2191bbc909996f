"""`train entailment`: from pairs of questions, labelled to ask the same or not, to a pair scorer.

The model is dual entailment, a peer that it is compared with, or a cross-encoder over the transformer of `--base`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from qa_bot.answering.models.ranker_loading import open_contextual
from qa_bot.home.encoders import STARTER
from qa_core.networks.pair_classifier import LabelledPairs
from qa_core.networks.pair_tokens import PairConfig
from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.training.resume import load_training
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.train.data.paraphrase_pairs import held_out, kept_aside, labelled_pairs
from qa_lab.train.data.question_pairs import QuestionPairs, read_question_pairs
from qa_lab.train.data.start_vectors import located, vectors_of, words_of
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.request import Request
from qa_lab.train.settings import read_toml, settled
from qa_lab.train.training_run import TrainingRun, drive
from rankers.paraphrase import word_pairs
from rankers.paraphrase.word_pairs import WordPairs, WordSizes
from rankers.training import paraphrase_training
from rankers.training.cross_encoder_training import CrossEncoderTuning, TrainedCrossEncoder
from rankers.training.cross_encoder_training import optimiser as cross_optimiser
from rankers.training.paraphrase_training import ParaphraseConfig, accuracy, train_paraphrase
from retrievers.training.questions import QuestionSet

MEASURE = "accuracy"
CROSS_ENCODER = "cross-encoder"

Scorer = WordPairs | TrainedCrossEncoder
_CROSS = ParaphraseConfig(batch=32, epochs=3, patience=2, clip=1.0, identical=0, warm_up=0.1)


@dataclass(frozen=True, slots=True)
class EntailmentSettings:
    """What `--config` may hold."""

    model: Literal["entailment", "siamese", "decomposable", "cross-encoder"] = "entailment"
    preset: Literal["cpu", "paper"] = "cpu"  # sizes and training where the tables do not say
    pretrained: str = STARTER  # E_pre: `starter`, a static encoder's folder, a file of word vectors, or "" for none;
    # of a transformer's folder its hidden states: words in context
    scale: float = 4.0  # length of E_pre's rows; as GloVe's are longer than 1, or attention stays flat
    test: float = 0.0  # share of the questions kept aside for `eval paraphrase --held-out` of the same share
    training: ParaphraseConfig = paraphrase_training.CPU
    words: WordSizes = word_pairs.CPU
    cross: PairConfig = field(default_factory=lambda: PairConfig(max_length=64))
    tuning: CrossEncoderTuning = field(default_factory=CrossEncoderTuning)  # rates and frozen layers


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it, on held-out pairs."""

    model: str
    pairs: int
    held_out: int
    parameters: int  # that were trained
    epochs: int  # to the weights that were kept
    accuracy: float
    majority: float  # accuracy of the more frequent label
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        told = asdict(self)
        told["rejected"] = told.pop("rejects")
        return told

    def text(self, out: Path) -> str:
        """Figures, and where the model is."""
        return (
            f"{self.pairs:,} pairs for training, {self.held_out:,} held out; {self.parameters:,} parameters\n"
            f"accuracy {self.accuracy:.3f} after {self.epochs} epochs (the more frequent label: {self.majority:.3f})\n"
            f"measure it: qa-bot eval paraphrase --model {out}\n"
        )


OnRead = Callable[[QuestionPairs], None]
OnProgress = Callable[[Progress], None]


def train_entailment(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Train and write `request.out`: the scorer, its card, `curve.csv`, and `curve.png` where it was asked for.

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
    return configured(request).training.epochs


def configured(request: Request) -> EntailmentSettings:
    """Defaults of the model and the preset that the settings name, and the settings over them."""
    given = read_toml(request.config) if request.config else {}
    source = str(request.config or "defaults")
    guess = settled(EntailmentSettings(), given, source=source)
    paper = guess.preset == "paper"
    training = paraphrase_training.PAPER if paper else paraphrase_training.CPU
    defaults = EntailmentSettings(
        training=_CROSS if guess.model == CROSS_ENCODER else training,
        words=word_pairs.PAPER if paper else word_pairs.CPU,
    )
    config = settled(defaults, given, source=source)
    _check(config, request, source)
    return config


def build(config: EntailmentSettings, texts: Sequence[str], *, base: Path | None) -> Scorer:
    """The scorer to train; global generators draw its first weights."""
    if config.model == CROSS_ENCODER:
        assert base is not None, "checked with the settings"
        return TrainedCrossEncoder.of(base, config.cross)
    if config.pretrained and (located(config.pretrained) / "modules.json").is_file():
        encoder = open_contextual(config.pretrained)
        name = str(located(config.pretrained).resolve())
        return WordPairs.in_context(config.model, texts, config.words, encoder, name=name, scale=config.scale)
    pretrained = _pretrained(config, texts) if config.pretrained else None
    return WordPairs.of(config.model, texts, config.words, pretrained=pretrained)


def optimiser(scorer: Scorer, config: EntailmentSettings) -> torch.optim.Optimizer:
    """Adam."""
    if isinstance(scorer, TrainedCrossEncoder):
        return cross_optimiser(scorer, config.tuning)
    return torch.optim.Adam(scorer.model.parameters(), lr=config.training.learning_rate)


def _trained(request: Request, config: EntailmentSettings, on_read: OnRead, on_progress: OnProgress) -> Outcome:
    data = read_question_pairs(request.data, limit=request.limit)
    on_read(data)
    pairs, dev = _parts(data.questions, config, request)
    seed_everything(request.seed)
    scorer = build(config, [text for pair in pairs.pairs for text in pair], base=request.base)
    scorer.model.to(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    training = Training(scorer.model, optimiser(scorer, config), seed=request.seed)
    run = TrainingRun(request.out, _identity(config, pairs, request))
    if request.resume:
        run.check()
        load_training(run.state, training)
    else:
        run.begin()
    drive(run, training, train_paraphrase(training, scorer, pairs, config.training, held_out=dev), on_progress)
    outcome = Outcome(
        config.model,
        len(pairs),
        len(dev),
        sum(weight.numel() for weight in scorer.model.parameters() if weight.requires_grad),
        training.best.epoch if training.best else training.epoch,
        accuracy(scorer, dev),
        max(float(np.mean(dev.labels)), 1 - float(np.mean(dev.labels))),
        len(data.rejects),
    )
    scorer.model.to("cpu")
    scorer.save(request.out, card=_card(outcome, config, request))
    run.finish(training, plots=request.plots, measure=MEASURE)
    return outcome


def _parts(questions: QuestionSet, config: EntailmentSettings, request: Request) -> tuple[LabelledPairs, LabelledPairs]:
    """For training and to stop by; what is kept aside to measure with is in neither."""
    kept = kept_aside(questions, config.test)[0]
    try:
        share = float(request.dev)
    except ValueError:
        held = read_question_pairs([Path(request.dev)]).questions
    else:
        if not 0 < share < 1:
            raise TrainingDataError(f"Expected a share between 0 and 1, or a path, for --dev, but got {request.dev}.")
        kept, held = held_out(kept, share)
    if not (len(kept) and len(kept.different) and len(held) + len(held.different)):
        raise TrainingDataError(
            f"Expected pairs that ask the same, pairs that do not, and some to hold out, but got {len(kept)}, "
            f"{len(kept.different)} and {len(held) + len(held.different)}; give more labelled pairs, or name "
            "development data with --dev PATH."
        )
    return labelled_pairs(kept), labelled_pairs(held)


def _pretrained(config: EntailmentSettings, texts: Sequence[str]) -> WordVectors:
    """E_pre of the words of the texts: rows of one length, reduced to the dimension where they have more."""
    vectors = vectors_of(config.pretrained, sorted(words_of(texts)))
    matrix = vectors.matrix
    size = config.words.dimension
    if min(matrix.shape) > size:  # their principal components: as little as possible is lost
        _, axes = np.linalg.eigh(matrix.T.astype(np.float64) @ matrix)
        matrix = (matrix @ axes[:, -size:]).astype(np.float32)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    norms[norms == 0] = 1
    return WordVectors(vectors.words, (config.scale * matrix / norms).astype(np.float32))


def _check(config: EntailmentSettings, request: Request, source: str) -> None:
    if config.model == CROSS_ENCODER and request.base is None:
        raise SettingsError("Expected --base DIR, a transformer to start from, but got none; name its folder.")
    if config.model != CROSS_ENCODER and request.base is not None:
        raise SettingsError(
            f"Expected no --base for the model {config.model}, but got {request.base}; leave it out, or set model = "
            f"'{CROSS_ENCODER}'."
        )
    training = config.training
    numbers: dict[str, float] = {
        f"training.{name}": getattr(training, name) for name in ("batch", "epochs", "patience")
    }
    wrong = [f"{name} = {value}" for name, value in numbers.items() if value < 1]
    rates = {"training.learning_rate": training.learning_rate, "tuning.learning_rate": config.tuning.learning_rate}
    wrong += [f"{name} = {value}" for name, value in (rates | {"scale": config.scale}).items() if not value > 0]
    if wrong:
        raise SettingsError(f"Expected positive numbers, but got {', '.join(wrong)}; correct {source}.")
    if not 0 <= config.test < 1:
        raise SettingsError(f"Expected a share of the questions from 0 to below 1, but got test = {config.test}.")


def _identity(config: EntailmentSettings, pairs: LabelledPairs, request: Request) -> dict[str, object]:
    """What has to be the same for a saved run to go on."""
    base = str(request.base.resolve()) if request.base else ""
    return {
        "config": asdict(config),
        "pairs": len(pairs),
        "seed": request.seed,
        "base": base,
        "dev": request.dev,
    }


def _used(config: EntailmentSettings) -> dict[str, object]:
    """The settings that had a say."""
    told = asdict(config) | {"pretrained": Path(config.pretrained).name}
    parts = ("cross", "tuning") if config.model == CROSS_ENCODER else ("pretrained", "scale", "words")
    return {name: told[name] for name in ("model", "test", "training", *parts)}


def _card(outcome: Outcome, config: EntailmentSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    return f"""# Question paraphrase model trained with qa-bot

| | |
| --- | --- |
| model | {config.model} |
| started from | {request.base.name if request.base else Path(config.pretrained).name or "random"} |
| data | {", ".join(path.name for path in request.data)} |
| pairs for training, held out | {outcome.pairs:,}, {outcome.held_out:,} |
| trained parameters | {outcome.parameters:,} |
| seed | {request.seed} |
| epochs | {outcome.epochs} |
| accuracy on the held-out pairs | {outcome.accuracy:.3f} |
| accuracy of the more frequent label | {outcome.majority:.3f} |

A logit above 0 says that two questions ask the same. The licence follows from that of the data and of what it started
from; see there.

## Settings

```json
{json.dumps(_used(config), indent=2)}
```
"""
