"""`train phrases`: from a paraphrase database and word vectors to a model that scores pairs of phrases."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.training.resume import load_training
from qa_core.types import IntArray
from qa_lab.train.data.phrase_pairs import PhrasePairs, read_phrase_pairs
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError
from qa_lab.train.phrases.phrase_development import check_parts, measure_name, measured, with_development
from qa_lab.train.phrases.phrase_preparation import Phrased, Preparation, prepared
from qa_lab.train.phrases.phrase_words import only, start_vectors
from qa_lab.train.request import Request
from qa_lab.train.settings import read_toml, settled
from qa_lab.train.training_run import TrainingRun, drive
from retrievers.training.phrases.phrase_model import PhraseModel
from retrievers.training.phrases.phrase_training import PhraseConfig, adagrad, train_network
from retrievers.training.phrases.tree_batching import Numbered

log = logging.getLogger(__name__)

TEST = 0.1
_SIZES = ("batch", "epochs", "patience")
_RATES = ("word_rate", "composition_rate", "word_regularisation", "composition_regularisation")


class PhraseTrainingError(ValueError):
    """A run that cannot be; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class PhrasesConfig:
    """What `--config` may hold."""

    vocabulary: int = 50_000  # words, the first ones of the vectors
    norm: float = 1.0  # mean length the word vectors are scaled to, which the learning rates suppose; 0 leaves it
    noise: float = 0.01  # uniform, around the halves of identities that W begins with
    test: float = TEST  # share of the pairs kept for `eval phrases`
    phrases: PhraseConfig = field(default_factory=PhraseConfig)
    preparation: Preparation = field(default_factory=Preparation)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it, on development pairs."""

    pairs: int
    held_out: int
    words: int
    measure: str  # AUC of built pairs, Spearman of scored ones
    addition: float  # of the initial vectors
    before: float
    after: float
    epochs: int
    left_out: Mapping[str, int]
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "pairs": self.pairs,
            "held_out": self.held_out,
            "words": self.words,
            "rejected": self.rejects,
            "left_out": dict(self.left_out),
            "addition": {self.measure: _figure(self.addition)},
            "before": {self.measure: _figure(self.before)},
            "after": {self.measure: _figure(self.after)},
        }

    def text(self, out: Path) -> str:
        """What is read at the end."""
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items())
        return (
            f"Trained on {self.pairs:,} pairs of phrases ({self.words:,} words), {self.held_out:,} pairs held out.\n"
            + (f"Left out: {left_out}.\n" if left_out else "")
            + f"{self.measure} of the held-out pairs: {self.after:.3f}, before training {self.before:.3f}, by addition "
            f"of the initial vectors {self.addition:.3f}.\n"
            f"The model is in {out}. Measure it with: qa-bot eval phrases --data … --model {out}"
        )


OnRead = Callable[[PhrasePairs], None]
OnProgress = Callable[[Progress], None]


def train_phrases(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Train and write `request.out`: the model, its card, `curve.csv`, and `curve.png` where it was asked for.

    Args:
        on_read: hears what was read, rejects included, before training begins.
        on_progress: hears of every progress.

    Raises:
        PhraseTrainingError, TrainingDataError, SettingsError, RunError: data, settings or folders do not do.
    """
    config = configured(request)
    try:
        return _trained(request, config, on_read, on_progress)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError) as error:
        raise PhraseTrainingError(str(error)) from error


def epochs(request: Request) -> int:
    """At most, for a progress bar."""
    return configured(request).phrases.epochs


def configured(request: Request) -> PhrasesConfig:
    """The settings over their defaults. Raises SettingsError."""
    given = read_toml(request.config) if request.config else {}
    config = settled(PhrasesConfig(), given, source=str(request.config or "defaults"))
    _check(config, request)
    return config


def _trained(request: Request, config: PhrasesConfig, on_read: OnRead, on_progress: OnProgress) -> Outcome:
    data = read_phrase_pairs(request.data, limit=request.limit)
    on_read(data)
    vectors = start_vectors(request.base or ENCODER, limit=config.vocabulary, norm=config.norm)
    ready = prepared(data.pairs, config.preparation, known=vectors.__contains__)
    split, dev = with_development(ready.pairs, request.dev, test=config.test)
    check_parts(split, dev, ready.left_out, dev=request.dev)
    seed_everything(request.seed)
    # no other words would ever move, and every step passes over all that are there
    used = only(vectors, {token for pair in (*split.train, *dev) for phrase in pair.key for token in phrase})
    model = PhraseModel.of(used, config.phrases.composition, noise=config.noise)
    addition, before = measured(PhraseModel.of(used, "addition"), dev).mean, measured(model, dev).mean
    phrases, pairs = numbered(model, split.train)
    training = Training(model.network, adagrad(model.network, config.phrases), seed=request.seed)
    run = TrainingRun(request.out, _identity(config, len(pairs), request))
    if request.resume:
        run.check()
        load_training(run.state, training)
    else:
        run.begin()
    reports = train_network(training, phrases, pairs, config.phrases, evaluate=lambda _: measured(model, dev).mean)
    drive(run, training, reports, on_progress)
    left_out = dict(ready.left_out) | ({"with a phrase set aside": split.seen} if split.seen else {})
    outcome = Outcome(
        pairs=len(pairs),
        held_out=len(dev),
        words=len(vectors),
        measure=measure_name(dev),
        addition=addition,
        before=before,
        after=measured(model, dev).mean,
        epochs=training.best.epoch if training.best else training.epoch,
        left_out=left_out,
        rejects=len(data.rejects),
    )
    if outcome.after < before:
        log.warning(
            "Expected training to help, but got %s %.3f after it and %.3f before; lower the rates or regularise more.",
            outcome.measure,
            outcome.after,
            before,
        )
    model.widened(vectors).save(request.out, card=card_text(outcome, config, request))
    run.finish(training, plots=request.plots, measure=outcome.measure)
    return outcome


def numbered(model: PhraseModel, pairs: Sequence[Phrased]) -> tuple[list[Numbered], IntArray]:
    """Distinct phrases, and the pairs (P, 2) as their numbers; all words have vectors."""
    places: dict[tuple[object, ...], int] = {}
    phrases: list[Numbered] = []
    rows = []
    for pair in pairs:
        for tree in (pair.left, pair.right):
            key = (tree.tokens, tree.merges)
            if key not in places:
                phrase = model.numbered(tree)
                assert phrase is not None, tree
                places[key] = len(phrases)
                phrases.append(phrase)
        rows.append([places[tree.tokens, tree.merges] for tree in (pair.left, pair.right)])
    return phrases, np.array(rows, dtype=np.int64).reshape(-1, 2)


def _check(config: PhrasesConfig, request: Request) -> None:
    phrases = config.phrases
    wrong = [f"phrases.{name} = {value}" for name in _SIZES if (value := getattr(phrases, name)) < 1]
    wrong += [f"phrases.{name} = {value}" for name in _RATES if not (value := getattr(phrases, name)) >= 0]
    wrong += [f"vocabulary = {config.vocabulary}"] if config.vocabulary < 1 else []
    wrong += [f"test = {config.test}"] if not 0 <= config.test < 1 else []
    if wrong:
        raise SettingsError(
            "Expected sizes of 1 or more, rates of 0 or more and a test share below 1, but got "
            f"{', '.join(wrong)}; correct {request.config}."
        )


def _identity(config: PhrasesConfig, pairs: int, request: Request) -> dict[str, object]:
    """What has to be the same for a saved run to go on."""
    base = str(request.base.resolve()) if request.base else ""
    return {"config": asdict(config), "pairs": pairs, "seed": request.seed, "base": base, "dev": request.dev}


def card_text(outcome: Outcome, config: PhrasesConfig, request: Request) -> str:
    """Markdown: data, seed, settings and figures."""
    return f"""# Phrase model trained with qa-bot

| | |
| --- | --- |
| composition | {config.phrases.composition} |
| started from | {request.base.name if request.base else STARTER} |
| data | {", ".join(path.name for path in request.data)} |
| pairs for training, held out | {outcome.pairs:,}, {outcome.held_out:,} |
| words | {outcome.words:,} |
| seed | {request.seed} |
| epochs | {outcome.epochs} |

On the held-out pairs, {outcome.measure} of the cosine:

| addition of the initial vectors | before training | after |
| --- | --- | --- |
| {outcome.addition:.3f} | {outcome.before:.3f} | {outcome.after:.3f} |

The licence follows from that of the data and of the vectors it started from; see there.

## Settings

```json
{json.dumps(asdict(config), indent=2)}
```
"""


def _figure(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None
