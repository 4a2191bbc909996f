"""`train relations` with `model = "transformer"`: tunes a transformer and fits a head over frozen vectors.

The sum of both is better than either: the head knows relations individually, the transformer by their words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kg_index.relations.pools import PoolQuestion
from kg_index.relations.relation_head import RelationHead
from kg_index.relations.relation_scorers import CosineScorer, Encode, cached
from kg_index.relations.tuned_scorer import TunedConfig, tuned_scorer
from kg_index.training.head_training import fit_head, labelled
from kg_index.training.question_tuning import QuestionNetwork, TuningData, network_vectors, tune, tuning_of
from qa_bot.answering.graph.relation_encoders import display_names, open_encoders
from qa_bot.answering.graph.relation_folders import HEAD, QUESTIONS
from qa_bot.home.encoders import locate, resolve
from qa_bot.home.folder import Home
from qa_bot.terminal.sigint import check_interrupt
from qa_core.encoders.sentence_layout import SentenceLayout
from qa_core.networks.checkpoints import save_model
from qa_core.training.loop import seed_everything
from qa_core.training.transformer_tuning import TransformerReader, load_tunable, save_tuned
from qa_core.types import IntArray
from qa_lab.errors import SettingsError
from qa_lab.train.card import card_text
from qa_lab.train.relations.relation_accuracy import accuracy, accuracy_of
from qa_lab.train.relations.relation_settings import RelationSettings
from qa_lab.train.request import Request
from qa_lab.train.verb import Job, Outcome, best_epoch, trained_parameters

_MAX_LENGTH = 64  # tokens of a question that count in training


@dataclass(frozen=True)
class TunedOutcome(Outcome):
    """Result on held-out questions."""

    questions: int
    held_out: int
    relations: int  # with a separate row in the head
    parameters: int  # that were trained
    epochs: int  # to the best weights
    cosine: float  # accuracy before training
    head: float  # of the head alone
    accuracy: float  # of the saved scorer
    seconds: float

    def text(self, out: Path) -> str:
        return (
            f"{self.questions:,} questions for training, {self.held_out:,} held out; {self.relations:,} relations\n"
            f"accuracy {self.accuracy:.3f} after {self.epochs} epochs, {self.cosine:.3f} before, head {self.head:.3f}\n"
            f"measure it: qa-bot eval relations --relations NAMES.txt --model {out}\n"
        )


@dataclass(frozen=True, slots=True)
class _Base:
    """The transformer before tuning."""

    name: str
    layout: SentenceLayout
    encode: Encode
    fingerprint: str
    reader: TransformerReader

    def rows(self, texts: Sequence[str]) -> list[IntArray]:
        return self.reader.rows(texts, side="question")


def train_tuned(
    job: Job[RelationSettings], train: Sequence[PoolQuestion], held_out: Sequence[PoolQuestion]
) -> TunedOutcome:
    """Train and write `request.out`. Raises SettingsError if no encoder is a transformer.

    A resumed run fits its head again, which gives the same head.
    """
    request, config = job.request, job.settings
    models = Home.open().models
    base = _base(config.encoder, models)
    seed_everything(request.seed)
    module = QuestionNetwork(load_tunable(base.layout), frozen=config.tuning.frozen)
    training = tuning_of(module, config.tuning, seed=request.seed)
    run = job.begin(training, questions=len(train), held_out=len(held_out))
    head = _head(config, train, models, request.seed)
    measure = _measure(head, base, held_out)
    data = TuningData.of(train, base.rows, CosineScorer(base.encode).relations)
    job.drive(run, training, tune(training, data, config.tuning, evaluate=measure))
    outcome = TunedOutcome(
        questions=len(train),
        held_out=len(held_out),
        relations=len(head.relations),
        parameters=trained_parameters(head.network, module),
        epochs=best_epoch(training),
        cosine=accuracy(CosineScorer(base.encode), held_out),
        head=accuracy(head, held_out),
        accuracy=measure(module.eval()),
        seconds=job.seconds,
    )
    _save(request.out, module, head, base, models, card=_card(outcome, config, request))
    job.finish(run, training)
    return outcome


def _base(names: str, models: Path) -> _Base:
    """The first transformer among the encoders."""
    for name in map(str.strip, names.split(",")):
        folder = locate(name, models=models)
        if (folder / "modules.json").is_file():
            short = SentenceLayout.read(folder, max_length=_MAX_LENGTH)
            encoder, reader = resolve(name, models=models), TransformerReader(short)
            return _Base(name, SentenceLayout.read(folder), cached(encoder.encode), encoder.fingerprint, reader)
    raise SettingsError(
        f"Expected a transformer in sentence-transformers layout among the encoders, but got {names!r}; name its "
        "folder, or a hub id that was fetched, by `encoder`."
    )


def _head(settings: RelationSettings, train: Sequence[PoolQuestion], models: Path, seed: int) -> RelationHead:
    """Fit a head over frozen vectors."""
    encoder = open_encoders(settings.encoder, models=models)
    seed_everything(seed)
    head = RelationHead.of(
        cached(encoder.encode),
        (name for question in train for name in question.pool),
        hidden=settings.hidden,
        context=settings.context,
        encoder=settings.encoder,
        fingerprint=encoder.fingerprint,
    )
    for _ in fit_head(head, labelled(train), settings.training, seed=seed):
        check_interrupt()
    return head


def _measure(head: RelationHead, base: _Base, questions: Sequence[PoolQuestion]) -> Callable[[QuestionNetwork], float]:
    """Accuracy of head and network together; the head's scores are computed once."""
    templates, pools = [q.template for q in questions], [q.pool for q in questions]
    head_scores = head.score(templates, pools)

    def measure(module: QuestionNetwork) -> float:
        encode = network_vectors(module, base.rows, base.layout.dimension)
        factors = {"scale": module.scale.item(), "keywords": module.keywords.item()}
        tuned_scores = tuned_scorer(encode, base.encode, **factors).score(templates, pools)
        return accuracy_of([a + b for a, b in zip(tuned_scores, head_scores, strict=True)], questions)

    return measure


def _save(out: Path, module: QuestionNetwork, head: RelationHead, base: _Base, models: Path, *, card: str) -> None:
    """Write the parts first: the folder can be opened when its own files exist."""
    save_tuned(out / QUESTIONS, module.encoder, layout=base.layout, card=card)
    head.save(out / HEAD, card=card)
    tuned = resolve(str(out / QUESTIONS), models=models).fingerprint
    config = TunedConfig(base.name, base.fingerprint, tuned)
    save_model(out, config=config, weights={"scale": module.scale, "keywords": module.keywords}, card=card)


def _card(outcome: TunedOutcome, config: RelationSettings, request: Request) -> str:
    encoder = display_names(config.encoder)
    accuracies = f"{outcome.cosine:.3f}, {outcome.head:.3f}, {outcome.accuracy:.3f}"
    facts = {
        "started from, reads the vectors of": encoder,
        "data": request.data_names,
        "questions for training, held out": f"{outcome.questions:,}, {outcome.held_out:,}",
        "relations with a separate row": f"{outcome.relations:,}",
        "trained parameters": f"{outcome.parameters:,}",
        "seed": request.seed,
        "epochs": outcome.epochs,
        "accuracy on held-out questions: cosine before, head, both together": accuracies,
    }
    text = "The licence follows from that of the data and of the encoders; see there."
    return card_text("Relation scorer trained with qa-bot", facts, text, asdict(config) | {"encoder": encoder})
