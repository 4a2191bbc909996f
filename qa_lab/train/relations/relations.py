"""`train relations`: from questions with pools of relations to a scorer of relations (thesis, ch. 4.3.5, supervised).

A small network over the vectors of a frozen encoder; relations that no question asks for are scored by their words.
With `model = "transformer"` one is tuned beside it (`tuned_relations.py`). Where no names of relations are given, the
data is a table of mined templates (`mined_relations.py`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kg_index.relations.pools import PoolQuestion, read_pools, read_relations
from kg_index.relations.relation_head import RelationHead
from kg_index.relations.relation_scorers import CosineScorer, cached
from kg_index.training.head_training import fit_head, labelled, training_of
from qa_bot.answering.graph.relation_encoders import display_names, open_encoders
from qa_bot.documents.ingest.records import Notice, Reject
from qa_bot.home.encoders import EncoderError
from qa_bot.home.folder import Home
from qa_core.training.loop import Progress, seed_everything
from qa_core.training.resume import load_training
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.relations.mined_relations import MinedOutcome, train_mined
from qa_lab.train.relations.relation_accuracy import accuracy
from qa_lab.train.relations.relation_settings import RelationSettings, configured, epochs
from qa_lab.train.relations.tuned_relations import TunedOutcome, train_tuned
from qa_lab.train.request import Request
from qa_lab.train.training_run import TrainingRun, drive

__all__ = ["MEASURE", "Outcome", "Pools", "accuracy", "configured", "epochs", "train_relations"]

MEASURE = "accuracy"


@dataclass(frozen=True, slots=True)
class Pools:
    """What was read; a malformed line stops the reading."""

    pairs: tuple[PoolQuestion, ...]
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()
    repeated: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run, on held-out questions."""

    questions: int
    held_out: int
    relations: int  # with a row of their own
    parameters: int
    epochs: int  # to the weights that were kept
    cosine: float  # accuracy before training
    accuracy: float
    seconds: float

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)

    def text(self, out: Path) -> str:
        """Figures, and where the scorer is."""
        return (
            f"{self.questions:,} questions for training, {self.held_out:,} held out; {self.relations:,} relations\n"
            f"accuracy {self.accuracy:.3f} after {self.epochs} epochs, {self.cosine:.3f} before\n"
            f"measure it: qa-bot eval relations --relations NAMES.txt --model {out}\n"
        )


OnRead = Callable[[Pools], None]
OnProgress = Callable[[Progress], None]


def train_relations(
    request: Request, *, on_read: Callable[[Any], None] = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome | MinedOutcome | TunedOutcome:
    """Train and write `request.out`: the scorer, its card, `curve.csv`, and `curve.png` where it was asked for.

    Args:
        on_read: hears what was read, before training begins.
        on_progress: hears of every progress.

    Raises:
        TrainingError, TrainingDataError, SettingsError, RunError, EncoderError: data, settings or folders do not do.
    """
    settings = configured(request)
    try:
        if request.relations is None:
            return train_mined(request, settings, on_read=on_read, on_progress=on_progress)
        return _trained(request, settings, on_read, on_progress)
    except (TrainingDataError, SettingsError, RunError, EncoderError):
        raise
    except (ValueError, FloatingPointError, ModuleNotFoundError) as error:
        raise TrainingError(str(error)) from error


def _trained(
    request: Request, settings: RelationSettings, on_read: OnRead, on_progress: OnProgress
) -> Outcome | TunedOutcome:
    started = time.monotonic()
    assert request.relations is not None, "mined templates go another way"
    names = read_relations(request.relations)
    pools = Pools(tuple(each for path in request.data for each in read_pools(path, names))[: request.limit])
    on_read(pools)
    train, held_out = _parts(pools.pairs, names, request)
    if settings.model == "transformer":
        return train_tuned(request, settings, train, held_out, on_progress)
    encoder = open_encoders(settings.encoder, models=Home.open().models)
    encode = cached(encoder.encode)
    seed_everything(request.seed)
    head = RelationHead.of(
        encode,
        (name for each in train for name in each.pool),
        hidden=settings.hidden,
        context=settings.context,
        encoder=settings.encoder,
        fingerprint=encoder.fingerprint,
    )
    training = training_of(head, settings.training, seed=request.seed)
    identity = {"config": asdict(settings), "questions": len(train), "held_out": len(held_out), "seed": request.seed}
    run = TrainingRun(request.out, identity)
    if request.resume:
        run.check()
        load_training(run.state, training)
    else:
        run.begin()
    progress = fit_head(
        head,
        labelled(train),
        settings.training,
        seed=request.seed,
        training=training,
        evaluate=lambda trained: accuracy(trained, held_out),
    )
    drive(run, training, progress, on_progress)
    outcome = Outcome(
        len(train),
        len(held_out),
        len(head.relations),
        sum(weight.numel() for weight in head.network.parameters()),
        training.best.epoch if training.best else training.epoch,
        accuracy(CosineScorer(encode), held_out),
        accuracy(head, held_out),
        time.monotonic() - started,
    )
    head.save(request.out, card=_card(outcome, settings, request))
    run.finish(training, plots=request.plots, measure=MEASURE)
    return outcome


def _parts(
    questions: Sequence[PoolQuestion], names: Sequence[str], request: Request
) -> tuple[list[PoolQuestion], list[PoolQuestion]]:
    """For training and to stop by; a share is taken by a hash of templates, so that no wording is in both."""
    try:
        share = float(request.dev)
    except ValueError:
        train, held_out = list(questions), read_pools(Path(request.dev), names)
    else:
        if not 0 < share < 1:
            raise TrainingDataError(f"Expected a share between 0 and 1, or a path, for --dev, but got {request.dev}.")
        train, held_out = [], []
        for each in questions:
            place = int.from_bytes(blake2b(each.template.encode(), digest_size=8).digest(), "big") / 2**64
            (held_out if place < share else train).append(each)
    if not train or not held_out:
        raise TrainingDataError(
            f"Expected questions for training and to hold out, but got {len(train)} and {len(held_out)}; give more."
        )
    return train, held_out


def _card(outcome: Outcome, settings: RelationSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    told = asdict(settings) | {"encoder": display_names(settings.encoder)}
    return f"""# Relation scorer trained with qa-bot

| | |
| --- | --- |
| reads the vectors of | {told["encoder"]} |
| data | {", ".join(path.name for path in request.data)} |
| questions for training, held out | {outcome.questions:,}, {outcome.held_out:,} |
| relations with a row of their own | {outcome.relations:,} |
| trained parameters | {outcome.parameters:,} |
| seed | {request.seed} |
| epochs | {outcome.epochs} |
| accuracy on held-out questions, before and after | {outcome.cosine:.3f}, {outcome.accuracy:.3f} |

The licence follows from that of the data and of the encoder; see there.

## Settings

```json
{json.dumps(told, indent=2)}
```
"""
