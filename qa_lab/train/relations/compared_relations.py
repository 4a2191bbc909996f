"""`train relations` with `model = "bilstm"`, "bicnn", "ampcnn" or "hr-bilstm": networks of Wang (2018), table 4.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from kg_index.relations.compared.compared_scorer import ComparedScorer
from kg_index.relations.compared.pair_network import Kind
from kg_index.relations.pools import PoolQuestion
from kg_index.training.compared_training import fit, training_of, word_counts
from qa_bot.answering.graph.relation_encoders import display_names
from qa_bot.home.encoders import resolve
from qa_bot.home.folder import Home
from qa_core.training.loop import seed_everything
from qa_lab.train.card import card_text
from qa_lab.train.relations.relation_accuracy import accuracy
from qa_lab.train.relations.relation_settings import RelationSettings
from qa_lab.train.request import Request
from qa_lab.train.verb import Job, Outcome, best_epoch, trained_parameters

COMPARED: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class ComparedOutcome(Outcome):
    """Result on held-out questions."""

    questions: int
    held_out: int
    relations: int  # of the pools
    parameters: int
    epochs: int  # to the weights that were kept
    accuracy: float
    seconds: float

    def text(self, out: Path) -> str:
        return (
            f"{self.questions:,} questions for training, {self.held_out:,} held out; {self.relations:,} relations\n"
            f"accuracy {self.accuracy:.3f} after {self.epochs} epochs\n"
            f"measure it: qa-bot eval relations --relations NAMES.txt --model {out}\n"
        )


def train_compared(
    job: Job[RelationSettings],
    kind: Kind,
    train: Sequence[PoolQuestion],
    held_out: Sequence[PoolQuestion],
    names: Sequence[str],
) -> ComparedOutcome:
    """Train and write `request.out`.

    Args:
        names: all relations; the words of those that no question asks for are known, too.
    """
    request, config = job.request, job.settings.compared
    encoder = resolve(job.settings.encoder, models=Home.open().models)
    seed_everything(request.seed)
    pooled = dict.fromkeys(name for question in train for name in question.pool)
    scorer = ComparedScorer.of(kind, word_counts(train, names), pooled, encoder.encode, hidden=config.hidden)
    training = training_of(scorer, config, seed=request.seed)
    reports = fit(training, scorer, train, config, evaluate=lambda trained: accuracy(trained, held_out))
    run = job.fit(training, reports, questions=len(train), held_out=len(held_out))
    outcome = ComparedOutcome(
        questions=len(train),
        held_out=len(held_out),
        relations=len(pooled),
        parameters=trained_parameters(scorer.network),
        epochs=best_epoch(training),
        accuracy=accuracy(scorer, held_out),
        seconds=job.seconds,
    )
    scorer.save(request.out, card=_card(outcome, kind, job.settings, request))
    job.finish(run, training)
    return outcome


def _card(outcome: ComparedOutcome, kind: Kind, config: RelationSettings, request: Request) -> str:
    encoder = display_names(config.encoder)
    facts = {
        "network": kind,
        "reads the vectors of": "letter trigrams of its own" if kind == "bicnn" else encoder,
        "data": request.data_names,
        "questions for training, held out": f"{outcome.questions:,}, {outcome.held_out:,}",
        "relations of the pools": f"{outcome.relations:,}",
        "trained parameters": f"{outcome.parameters:,}",
        "seed": request.seed,
        "epochs": outcome.epochs,
        "accuracy on held-out questions": f"{outcome.accuracy:.3f}",
    }
    text = "The licence follows from that of the data and of the encoder; see there."
    title = "Compared network of relation detection trained with qa-bot"
    return card_text(title, facts, text, asdict(config) | {"encoder": encoder})
