"""`train relations` from mined templates alone, without labels (Wang (2018), ch. 4.3.5).

Trains either Wang's network over vectors of words, in phases, or a head over vectors of questions, with labels from
the cosine of question and relation and the counts of mined relations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.relation_head import RelationHead
from kg_index.relations.relation_network import RelationDetector
from kg_index.relations.relation_scorers import KEYWORDS, CosineScorer, Encode, WeightedSumScorer, cached
from kg_index.relations.template_text import NO_PATH
from kg_index.relations.templates import TemplateTable
from kg_index.training.head_training import Labelled, fit_head, training_of
from kg_index.training.relation_training import RelationTraining, adjust_prior, shortened, train_phases
from kg_index.training.self_training import Siblings, mined_pools, pseudo_labelled
from qa_bot.answering.graph.relation_encoders import display_names, open_encoders
from qa_bot.home.encoders import resolve
from qa_bot.home.folder import Home
from qa_core.training.loop import Progress, seed_everything
from qa_lab.data.reading import TrainingData
from qa_lab.errors import RunError, TrainingDataError
from qa_lab.train.card import card_text
from qa_lab.train.relations.graph_mining import TEMPLATES
from qa_lab.train.relations.relation_settings import PHASES, RelationSettings
from qa_lab.train.request import Request
from qa_lab.train.settings import device_of
from qa_lab.train.training_run import TrainingRun
from qa_lab.train.verb import Job, Outcome


@dataclass(frozen=True)
class MinedOutcome(Outcome):
    """Result of a run without annotated questions, which nothing measures."""

    templates: int
    mappings: int
    relations: int  # that the scorer knows
    parameters: int
    epochs: int
    seconds: float

    def text(self, out: Path) -> str:
        return (
            f"{self.templates:,} templates with {self.mappings:,} mappings to {self.relations:,} relations\n"
            f"measure it: qa-bot eval relations --data POOLS --relations NAMES.txt --model {out}\n"
        )


def train_mined(job: Job[RelationSettings]) -> MinedOutcome:
    """Train and write the scorer, its card and `curve.csv`.

    Raises TrainingDataError for a table that is malformed or has no relations, RunError for a folder that cannot be
    used.
    """
    mined = job.settings.mined
    data = job.read(read_templates)
    table = shortened(data.examples, steps=mined.steps, words=mined.words)
    if not len(table):
        raise TrainingDataError(
            f"Expected templates with relations in {job.request.data[0]}, but got none; mine more pairs."
        )
    return _network(job, table) if job.settings.model == "network" else _head(job, table)


def read_templates(paths: Sequence[Path], *, limit: int | None = None) -> TrainingData[TemplateTable]:  # noqa: ARG001
    """Tables, or folders as `kg mine` writes them, merged; a malformed line is an error, and there is no limit."""
    files = [path / TEMPLATES if path.is_dir() else path for path in paths]
    try:
        table = TemplateTable.load(*files)
    except (ValueError, OSError) as error:
        raise TrainingDataError(
            f"{error} Name mined templates, or name relations by --relations NAMES.txt for questions with pools."
        ) from error
    return TrainingData(table, len(table.relation), ("template with a relation", "templates with a relation"))


def _head(job: Job[RelationSettings], table: TemplateTable) -> MinedOutcome:
    request, config = job.request, job.settings
    encoder = open_encoders(config.encoder, models=Home.open().models)
    encode = cached(encoder.encode)
    seed_everything(request.seed)
    # without rows, so that relations differ by their words only, whether they were mined or not
    head = RelationHead.of(encode, (), hidden=config.hidden, encoder=config.encoder, fingerprint=encoder.fingerprint)
    training = training_of(head, config.self_training, seed=request.seed)
    run = job.begin(training, mappings=len(table.relation))
    examples = _pseudo_labelled(table, encode, config, request.seed)
    job.drive(run, training, fit_head(head, examples, config.self_training, seed=request.seed, training=training))
    outcome = MinedOutcome(
        templates=len(table),
        mappings=len(table.relation),
        relations=len(table.relations) - (NO_PATH in table.relations),
        parameters=sum(weight.numel() for weight in head.network.parameters()),
        epochs=config.self_training.epochs,
        seconds=job.seconds,
    )
    head.save(request.out, card=_card(outcome, config, request))
    job.finish(run, training)
    return outcome


def _pseudo_labelled(table: TemplateTable, encode: Encode, settings: RelationSettings, seed: int) -> list[Labelled]:
    """Templates with a path, shared out among their relations by what cosine and keywords say."""
    pools = list(mined_pools(table, Siblings(table.relations, seed=seed), rng=np.random.default_rng(seed)))
    teacher = WeightedSumScorer([(CosineScorer(encode), 1.0), (KeywordMatcher(), KEYWORDS)])
    if not pools:
        raise TrainingDataError(
            "Expected templates with several relations to choose from, but got none; mine more pairs."
        )
    return pseudo_labelled(teacher, pools, alpha=settings.mined.alpha)


def _network(job: Job[RelationSettings], table: TemplateTable) -> MinedOutcome:
    request, mined = job.request, job.settings.mined
    if request.resume:
        raise RunError("Expected no --resume for the network over mined templates, whose phases run in one go.")
    device = device_of(mined.device)
    run = TrainingRun(request.out, {})
    run.begin()
    encoder = resolve(job.settings.encoder, models=Home.open().models)
    config = RelationTraining(mined.epochs, mined.batch, mined.learning_rate, mined.alpha, mined.silent)

    def new(counts: Mapping[str, int], relations: Sequence[str]) -> RelationDetector:
        detector = RelationDetector.of(counts, relations, encoder.encode, hidden=mined.hidden)
        detector.network.to(device)
        return detector

    history: list[Progress] = []
    overlap, phases = KeywordMatcher(plain=mined.plain_words).overlap, PHASES[mined.weights]
    for _, detector, progress in train_phases(table, new, overlap, config, seed=request.seed, phases=phases):
        job.on_progress(progress)
        history.append(progress)
        trained = detector
    outcome = MinedOutcome(
        templates=len(table),
        mappings=len(table.relation),
        relations=len(trained.relations),
        parameters=sum(weight.numel() for weight in trained.network.parameters()),
        epochs=mined.epochs * len(phases),
        seconds=job.seconds,
    )
    if mined.even:
        trained = adjust_prior(trained, [*table.templates()], share=mined.even)
    trained.save(request.out, card=_card(outcome, job.settings, request))
    run.finish_with(history, plots=False, measure=job.measure)
    return outcome


def _card(outcome: MinedOutcome, config: RelationSettings, request: Request) -> str:
    encoder = display_names(config.encoder)
    facts = {
        "reads the vectors of": encoder,
        "data": request.data_names,
        "templates, mappings": f"{outcome.templates:,}, {outcome.mappings:,}",
        "relations that it knows": f"{outcome.relations:,}",
        "trained parameters": f"{outcome.parameters:,}",
        "seed": request.seed,
        "epochs": outcome.epochs,
    }
    text = "The licence follows from that of the mined pairs, of the graph and of the encoder; see there."
    title = "Relation scorer trained with qa-bot on mined templates"
    return card_text(title, facts, text, asdict(config) | {"encoder": encoder})
