"""`train relations` from mined templates alone (thesis, ch. 4.3.5): nobody has labelled anything.

The network of the thesis over the vectors of words, in its phases; or a head over the vectors of questions, taught by
the cosine of question and relation and by how often a relation was mined.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
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
from kg_index.training.relation_training import RelationTraining, evened, shortened, train_phases
from kg_index.training.self_training import Siblings, mined_pools, pseudo_labelled
from qa_bot.answering.graph.relation_encoders import display_names, open_encoders
from qa_bot.documents.ingest.records import Notice, Reject
from qa_bot.home.encoders import resolve
from qa_bot.home.folder import Home
from qa_core.measures.plots import write_curve
from qa_core.training.loop import Progress, seed_everything
from qa_core.training.resume import load_training
from qa_lab.train.errors import RunError, TrainingDataError
from qa_lab.train.relations.graph_mining import TEMPLATES
from qa_lab.train.relations.relation_settings import PHASES, RelationSettings
from qa_lab.train.request import Request
from qa_lab.train.training_run import CURVE, TrainingRun, drive

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Templates:
    """What was read; a malformed line stops the reading."""

    table: TemplateTable
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()
    repeated: int = 0

    @property
    def pairs(self) -> range:
        """A template and a relation each."""
        return range(len(self.table.relation))


@dataclass(frozen=True, slots=True)
class MinedOutcome:
    """What came of a run without annotated questions: there is nothing to measure it by."""

    templates: int
    mappings: int
    relations: int  # that it knows
    parameters: int
    epochs: int
    seconds: float

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)

    def text(self, out: Path) -> str:
        """Figures, and where the scorer is."""
        return (
            f"{self.templates:,} templates with {self.mappings:,} mappings to {self.relations:,} relations\n"
            f"measure it: qa-bot eval relations --data POOLS --relations NAMES.txt --model {out}\n"
        )


def train_mined(
    request: Request, settings: RelationSettings, *, on_read: Callable[[Templates], None], on_progress: OnProgress
) -> MinedOutcome:
    """Train and write `request.out`: the scorer, its card and `curve.csv`.

    Raises TrainingDataError for a table that is malformed or has no relations, RunError for a folder that does not do.
    """
    started = time.monotonic()
    read = read_templates(request.data)
    on_read(read)
    table = shortened(read.table, steps=settings.mined.steps, words=settings.mined.words)
    if not len(table):
        raise TrainingDataError(
            f"Expected templates with relations in {request.data[0]}, but got none; mine more pairs."
        )
    train = _network if settings.model == "network" else _head
    return train(request, settings, table, on_progress, started)


def read_templates(paths: Sequence[Path]) -> Templates:
    """Tables, or folders as `kg mine` writes them, merged."""
    files = [path / TEMPLATES if path.is_dir() else path for path in paths]
    try:
        return Templates(TemplateTable.load(*files))
    except (ValueError, OSError) as error:
        raise TrainingDataError(
            f"{error} Name mined templates, or name relations by --relations NAMES.txt for questions with pools."
        ) from error


def _head(
    request: Request, settings: RelationSettings, table: TemplateTable, on_progress: OnProgress, started: float
) -> MinedOutcome:
    encoder = open_encoders(settings.encoder, models=Home.open().models)
    encode = cached(encoder.encode)
    seed_everything(request.seed)
    head = RelationHead.of(
        encode, (), hidden=settings.hidden, encoder=settings.encoder, fingerprint=encoder.fingerprint
    )  # without rows: relations are told apart by their words, whether they were mined or not
    training = training_of(head, settings.self_training, seed=request.seed)
    run = TrainingRun(request.out, {"config": asdict(settings), "mappings": len(table.relation), "seed": request.seed})
    if request.resume:
        run.check()
        load_training(run.state, training)
    else:
        run.begin()
    examples = _pseudo_labelled(table, encode, settings, request.seed)
    drive(
        run,
        training,
        fit_head(head, examples, settings.self_training, seed=request.seed, training=training),
        on_progress,
    )
    parameters = sum(weight.numel() for weight in head.network.parameters())
    known = len(table.relations) - (NO_PATH in table.relations)
    seconds = time.monotonic() - started
    outcome = MinedOutcome(len(table), len(table.relation), known, parameters, settings.self_training.epochs, seconds)
    head.save(request.out, card=_card(outcome, settings, request))
    run.finish(training, plots=request.plots, measure="accuracy")
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


def _network(
    request: Request, settings: RelationSettings, table: TemplateTable, on_progress: OnProgress, started: float
) -> MinedOutcome:
    if request.resume:
        raise RunError("Expected no --resume for the network over mined templates, whose phases run in one go.")
    run = TrainingRun(request.out, {})
    run.begin()
    encoder, mined = resolve(settings.encoder, models=Home.open().models), settings.mined
    config = RelationTraining(mined.epochs, mined.batch, mined.learning_rate, mined.alpha, mined.silent)

    def new(counts: Mapping[str, int], relations: Sequence[str]) -> RelationDetector:
        return RelationDetector.of(counts, relations, encoder.encode, hidden=mined.hidden)

    history: list[Progress] = []
    overlap, phases = KeywordMatcher(jaccard=False).overlap, PHASES[mined.weights]
    for _, detector, progress in train_phases(table, new, overlap, config, seed=request.seed, phases=phases):
        on_progress(progress)
        history.append(progress)
        trained = detector
    outcome = MinedOutcome(
        len(table),
        len(table.relation),
        len(trained.relations),
        sum(weight.numel() for weight in trained.network.parameters()),
        mined.epochs * len(phases),
        time.monotonic() - started,
    )
    if mined.even:
        trained = evened(trained, [*table.templates()], share=mined.even)
    trained.save(request.out, card=_card(outcome, settings, request))
    write_curve(request.out / CURVE, history)
    shutil.rmtree(run.state, ignore_errors=True)
    return outcome


def _card(outcome: MinedOutcome, settings: RelationSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    told = asdict(settings) | {"encoder": display_names(settings.encoder)}
    return f"""# Relation scorer trained with qa-bot on mined templates

| | |
| --- | --- |
| reads the vectors of | {told["encoder"]} |
| data | {", ".join(path.name for path in request.data)} |
| templates, mappings | {outcome.templates:,}, {outcome.mappings:,} |
| relations that it knows | {outcome.relations:,} |
| trained parameters | {outcome.parameters:,} |
| seed | {request.seed} |
| epochs | {outcome.epochs} |

The licence follows from that of the pairs that were mined, of the graph and of the encoder; see there.

## Settings

```json
{json.dumps(told, indent=2)}
```
"""
