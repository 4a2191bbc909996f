"""`train entailment`: from pairs of questions, labelled to ask the same or not, to a pair scorer.

The model is dual entailment, a model that it is compared with, or a cross-encoder over the transformer of `--base`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from qa_bot.answering.models.ranker_loading import open_contextual
from qa_bot.home.encoders import STARTER
from qa_core.encoders.pair_tokens import PairConfig
from qa_core.networks.checkpoints import note_reads
from qa_core.training.loop import Training, seed_everything
from qa_core.training.pair_classifier import LabelledPairs
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.data.paraphrase_pairs import held_out, kept_aside, labelled_pairs
from qa_lab.data.question_pairs import read_question_pairs
from qa_lab.data.splitting import train_dev_split
from qa_lab.data.word_vectors import located, vectors_of, words_of
from qa_lab.errors import SettingsError, TrainingDataError
from qa_lab.train.card import card_text
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, device_of, in_table, load_settings
from qa_lab.train.verb import Job, Outcome, TrainVerb, best_epoch, trained_parameters
from rankers.paraphrase import word_pairs
from rankers.paraphrase.word_pairs import WordPairs, WordSizes
from rankers.training import paraphrase_training
from rankers.training.cross_encoder_training import CrossEncoderTuning, TrainedCrossEncoder
from rankers.training.cross_encoder_training import optimiser as cross_optimiser
from rankers.training.paraphrase_training import ParaphraseConfig, accuracy, train_paraphrase
from retrievers.training.questions import QuestionSet

CROSS_ENCODER = "cross-encoder"

Scorer = WordPairs | TrainedCrossEncoder
_CROSS = ParaphraseConfig(batch=32, epochs=3, patience=2, clip=1.0, identical=0, warm_up=0.1)


@dataclass(frozen=True, slots=True)
class EntailmentSettings:
    """Keys of `--config`."""

    model: Literal[
        "entailment", "siamese", "siamese-cnn", "multi-perspective", "multi-perspective-cnn", "decomposable", "bimpm",
        "ldc", "cross-encoder",
    ] = "entailment"  # fmt: skip
    preset: Literal["cpu", "paper"] = "cpu"  # default sizes and training
    pretrained: str = STARTER  # E_pre: `starter`, a static encoder's folder, a file of word vectors, or "" for none;
    # a transformer's folder gives its hidden states: words in context
    scale: float = 4.0  # length of E_pre's rows; GloVe's are longer than 1, too, else attention stays flat
    test: float = 0.0  # share of the questions kept aside for `eval paraphrase --held-out` of the same share
    training: ParaphraseConfig = paraphrase_training.CPU
    words: WordSizes = word_pairs.CPU
    cross: PairConfig = field(default_factory=lambda: PairConfig(max_length=64))
    tuning: CrossEncoderTuning = field(default_factory=CrossEncoderTuning)  # rates and frozen layers


@dataclass(frozen=True)
class EntailmentOutcome(Outcome):
    """Result on held-out pairs."""

    model: str
    pairs: int
    held_out: int
    parameters: int  # that were trained
    epochs: int  # to the weights that were kept
    accuracy: float
    majority: float  # accuracy of the more frequent label
    rejected: int

    def text(self, out: Path) -> str:
        return (
            f"{self.pairs:,} pairs for training, {self.held_out:,} held out; {self.parameters:,} parameters\n"
            f"accuracy {self.accuracy:.3f} after {self.epochs} epochs (the more frequent label: {self.majority:.3f})\n"
            f"measure it: qa-bot eval paraphrase --model {out}\n"
        )


def settings(request: Request) -> EntailmentSettings:
    """Defaults of the model and the preset that the settings name, and the settings over them."""
    config = load_settings(request.config, EntailmentSettings(), preset=_defaults)
    if config.model == CROSS_ENCODER and request.base is None:
        raise SettingsError("Expected --base DIR, a transformer to start from, but got none; name its folder.")
    if config.model != CROSS_ENCODER and request.base is not None:
        raise SettingsError(
            f"Expected no --base for the model {config.model}, but got {request.base}; leave it out, or set model = "
            f"'{CROSS_ENCODER}'."
        )
    training = in_table("training", "batch", "epochs", "patience", "learning_rate")
    check_positive(config, *training, "tuning.learning_rate", "scale", source=request.config)
    if not 0 <= config.test < 1:
        raise SettingsError(f"Expected a share of the questions from 0 to below 1, but got test = {config.test}.")
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


def _train(job: Job[EntailmentSettings]) -> EntailmentOutcome:
    request, config = job.request, job.settings
    data = job.read(read_question_pairs)
    pairs, dev = _parts(data.examples, config, request.dev)
    seed_everything(request.seed)
    scorer = build(config, [text for pair in pairs.pairs for text in pair], base=request.base)
    scorer.model.to(device_of())
    training = Training(scorer.model, optimiser(scorer, config), seed=request.seed)
    reports = train_paraphrase(training, scorer, pairs, config.training, held_out=dev)
    run = job.fit(training, reports, pairs=len(pairs), base=request.base_path, dev=request.dev)
    positive = float(np.mean(dev.labels))
    outcome = EntailmentOutcome(
        model=config.model,
        pairs=len(pairs),
        held_out=len(dev),
        parameters=trained_parameters(scorer.model),
        epochs=best_epoch(training),
        accuracy=accuracy(scorer, dev),
        majority=max(positive, 1 - positive),
        rejected=len(data.rejects),
    )
    scorer.model.to("cpu")
    scorer.save(request.out, card=_card(outcome, config, request))
    note_reads(request.out, {"question": "title", "document": "title"})
    job.finish(run, training)
    return outcome


ENTAILMENT = TrainVerb(_train, settings, lambda config, _: config.training.epochs, "accuracy")


def _defaults(config: EntailmentSettings) -> EntailmentSettings:
    """Of the model and the preset."""
    paper = config.preset == "paper"
    training = paraphrase_training.PAPER if paper else paraphrase_training.CPU
    return EntailmentSettings(
        training=_CROSS if config.model == CROSS_ENCODER else training,
        words=word_pairs.PAPER if paper else word_pairs.CPU,
    )


def _parts(questions: QuestionSet, config: EntailmentSettings, dev: str) -> tuple[LabelledPairs, LabelledPairs]:
    """Pairs for training and for early stopping; questions kept aside for measuring are in neither."""
    remaining = kept_aside(questions, config.test)[0]
    train, held = train_dev_split(dev, remaining, held_out, lambda path: read_question_pairs([path]).examples)
    held_count = len(held) + len(held.different)
    if not (len(train) and len(train.different) and held_count):
        raise TrainingDataError(
            f"Expected pairs that ask the same, pairs that do not, and some to hold out, but got {len(train)}, "
            f"{len(train.different)} and {held_count}; give more labelled pairs, or name development data with "
            "--dev PATH."
        )
    return labelled_pairs(train), labelled_pairs(held)


def _pretrained(config: EntailmentSettings, texts: Sequence[str]) -> WordVectors:
    """E_pre of the words of the texts: rows of equal length, reduced to the dimension if they have more."""
    vectors = vectors_of(config.pretrained, sorted(words_of(texts)))
    matrix = vectors.matrix
    size = config.words.dimension
    if min(matrix.shape) > size:  # principal components lose least
        _, axes = np.linalg.eigh(matrix.T.astype(np.float64) @ matrix)
        matrix = (matrix @ axes[:, -size:]).astype(np.float32)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    norms[norms == 0] = 1
    return WordVectors(vectors.words, (config.scale * matrix / norms).astype(np.float32))


def _used(config: EntailmentSettings) -> dict[str, object]:
    """The settings that affected the result."""
    values = asdict(config) | {"pretrained": Path(config.pretrained).name}
    parts = ("cross", "tuning") if config.model == CROSS_ENCODER else ("pretrained", "scale", "words")
    return {name: values[name] for name in ("model", "test", "training", *parts)}


def _card(outcome: EntailmentOutcome, config: EntailmentSettings, request: Request) -> str:
    facts = {
        "model": config.model,
        "started from": request.base.name if request.base else Path(config.pretrained).name or "random",
        "data": request.data_names,
        "pairs for training, held out": f"{outcome.pairs:,}, {outcome.held_out:,}",
        "trained parameters": f"{outcome.parameters:,}",
        "reads": "the title of a question, and the titles of documents",
        "seed": request.seed,
        "epochs": outcome.epochs,
        "accuracy on the held-out pairs": f"{outcome.accuracy:.3f}",
        "accuracy of the more frequent label": f"{outcome.majority:.3f}",
    }
    text = """A logit above 0 says that two questions ask the same. The licence follows from that of the data and of the
model it started from; see there."""
    return card_text("Question paraphrase model trained with qa-bot", facts, text, _used(config))
