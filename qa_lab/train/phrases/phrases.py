"""`train phrases`: from a paraphrase database and word vectors to a model that scores pairs of phrases."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.training.loop import Training, seed_everything
from qa_core.types import IntArray
from qa_lab.data.phrases.phrase_pairs import read_phrase_pairs
from qa_lab.data.phrases.phrase_preparation import SEEN, TEST, Phrased, Preparation, prepared
from qa_lab.data.phrases.phrase_words import only, start_vectors
from qa_lab.errors import SettingsError
from qa_lab.train.card import card_text, table
from qa_lab.train.phrases.phrase_development import check_parts, measure_name, measured, with_development
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, in_table, load_settings, source_of
from qa_lab.train.verb import Job, Outcome, TrainVerb, best_epoch
from retrievers.training.phrases.phrase_model import PhraseModel
from retrievers.training.phrases.phrase_training import PhraseConfig, adagrad, train_network
from retrievers.training.phrases.tree_batching import Numbered

log = logging.getLogger(__name__)

_RATES = ("word_rate", "composition_rate", "word_regularisation", "composition_regularisation")


@dataclass(frozen=True, slots=True)
class PhrasesConfig:
    """Keys of `--config`."""

    vocabulary: int = 50_000  # words, the first ones of the vectors
    norm: float = 1.0  # mean length of the scaled word vectors, which the learning rates assume; 0 leaves it
    noise: float = 0.01  # uniform, added to the halves of identities that W begins with
    test: float = TEST
    phrases: PhraseConfig = field(default_factory=PhraseConfig)
    preparation: Preparation = field(default_factory=Preparation)


@dataclass(frozen=True)
class PhrasesOutcome(Outcome):
    """Result on development pairs."""

    pairs: int
    held_out: int
    words: int
    rejected: int
    left_out: Mapping[str, int]
    measure: str  # AUC of built pairs, Spearman of scored ones
    addition: float  # of the initial vectors
    before: float
    after: float
    epochs: int

    def as_dict(self) -> dict[str, object]:
        figures = {"addition": self.addition, "before": self.before, "after": self.after}
        return {
            "pairs": self.pairs,
            "held_out": self.held_out,
            "words": self.words,
            "rejected": self.rejected,
            "left_out": dict(self.left_out),
            **{name: {self.measure: round(v, 6) if math.isfinite(v) else None} for name, v in figures.items()},
        }

    def text(self, out: Path) -> str:
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items())
        return (
            f"Trained on {self.pairs:,} pairs of phrases ({self.words:,} words), {self.held_out:,} pairs held out.\n"
            + (f"Left out: {left_out}.\n" if left_out else "")
            + f"{self.measure} of the held-out pairs: {self.after:.3f}, before training {self.before:.3f}, by addition "
            f"of the initial vectors {self.addition:.3f}.\n"
            f"The model is in {out}. Measure it with: qa-bot eval phrases --data … --model {out}"
        )


def settings(request: Request) -> PhrasesConfig:
    """The settings over their defaults."""
    config = load_settings(request.config, PhrasesConfig())
    phrases, source = config.phrases, source_of(request.config)
    check_positive(config, *in_table("phrases", "batch", "epochs", "patience"), "vocabulary", source=request.config)
    wrong = [f"phrases.{name} = {value}" for name in _RATES if not (value := getattr(phrases, name)) >= 0]
    wrong += [f"test = {config.test}"] if not 0 <= config.test < 1 else []
    if wrong:
        raise SettingsError(
            f"{source}: Expected rates of 0 or more and a test share below 1, but got {', '.join(wrong)}; correct them."
        )
    return config


def _train(job: Job[PhrasesConfig]) -> PhrasesOutcome:
    request, config = job.request, job.settings
    data = job.read(read_phrase_pairs)
    vectors = start_vectors(request.base or ENCODER, limit=config.vocabulary, norm=config.norm)
    ready = prepared(data.examples, config.preparation, known=vectors.__contains__)
    split, dev = with_development(ready.pairs, request.dev, test=config.test)
    check_parts(split, dev, ready.left_out, dev=request.dev)
    seed_everything(request.seed)
    # other words would never change, but every step would pass over them
    used = only(vectors, {token for pair in (*split.train, *dev) for phrase in pair.key for token in phrase})
    model = PhraseModel.of(used, config.phrases.composition, noise=config.noise)
    addition, before = measured(PhraseModel.of(used, "addition"), dev).mean, measured(model, dev).mean
    phrases, pairs = numbered(model, split.train)
    training = Training(model.network, adagrad(model.network, config.phrases), seed=request.seed)
    reports = train_network(training, phrases, pairs, config.phrases, evaluate=lambda _: measured(model, dev).mean)
    run = job.fit(training, reports, pairs=len(pairs), base=request.base_path, dev=request.dev)
    outcome = PhrasesOutcome(
        pairs=len(pairs),
        held_out=len(dev),
        words=len(vectors),
        rejected=len(data.rejects),
        left_out=dict(ready.left_out) | ({SEEN: split.seen} if split.seen else {}),
        measure=measure_name(dev),
        addition=addition,
        before=before,
        after=measured(model, dev).mean,
        epochs=best_epoch(training),
    )
    if outcome.after < before:
        log.warning(
            "Expected training to help, but got %s %.3f after it and %.3f before; lower the rates or regularise more.",
            outcome.measure,
            outcome.after,
            before,
        )
    model.widened(vectors).save(request.out, card=_card(outcome, config, request))
    run.finish(training, plots=request.plots, measure=outcome.measure)
    return outcome


PHRASES = TrainVerb(_train, settings, lambda config, _: config.phrases.epochs, "AUC")


def numbered(model: PhraseModel, pairs: Sequence[Phrased]) -> tuple[list[Numbered], IntArray]:
    """Distinct phrases, and the pairs (P, 2) as their numbers; all words have vectors."""
    numbers: dict[tuple[object, ...], int] = {}
    phrases: list[Numbered] = []
    rows = []
    for pair in pairs:
        for tree in (pair.left, pair.right):
            key = (tree.tokens, tree.merges)
            if key not in numbers:
                phrase = model.numbered(tree)
                assert phrase is not None, tree
                numbers[key] = len(phrases)
                phrases.append(phrase)
        rows.append([numbers[tree.tokens, tree.merges] for tree in (pair.left, pair.right)])
    return phrases, np.array(rows, dtype=np.int64).reshape(-1, 2)


def _card(outcome: PhrasesOutcome, config: PhrasesConfig, request: Request) -> str:
    facts = {
        "composition": config.phrases.composition,
        "started from": request.base.name if request.base else STARTER,
        "data": request.data_names,
        "pairs for training, held out": f"{outcome.pairs:,}, {outcome.held_out:,}",
        "words": f"{outcome.words:,}",
        "seed": request.seed,
        "epochs": outcome.epochs,
    }
    figures = [f"{value:.3f}" for value in (outcome.addition, outcome.before, outcome.after)]
    text = f"""On the held-out pairs, {outcome.measure} of the cosine:

{table(("addition of the initial vectors", "before training", "after"), [figures])}

The licence follows from that of the data and of the vectors it started from; see there."""
    return card_text("Phrase model trained with qa-bot", facts, text, asdict(config))
