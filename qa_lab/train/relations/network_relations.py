"""`train relations` with `model = "network"` on questions with pools: Wang (2018), ch. 4.3.5, with labels.

Its classes are the right relations of the training questions; it scores other relations 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kg_index.relations.pools import PoolQuestion
from kg_index.relations.relation_network import RelationDetector
from kg_index.relations.template_rows import TemplateCounts
from kg_index.relations.templates import TemplateTable
from kg_index.training.relation_training import RelationTraining, examples_of, fit, frequent, training_of, word_counts
from qa_bot.answering.graph.relation_encoders import display_names
from qa_bot.home.encoders import resolve
from qa_bot.home.folder import Home
from qa_core.training.loop import seed_everything
from qa_lab.train.card import card_text
from qa_lab.train.relations.relation_accuracy import accuracy
from qa_lab.train.relations.relation_settings import RelationSettings
from qa_lab.train.request import Request
from qa_lab.train.verb import Job, Outcome, best_epoch, trained_parameters

TITLE = "Relation network trained with qa-bot on questions with pools"


@dataclass(frozen=True)
class NetworkOutcome(Outcome):
    """Result on held-out questions."""

    questions: int
    held_out: int
    relations: int  # classes
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


def train_network(
    job: Job[RelationSettings], train: Sequence[PoolQuestion], held_out: Sequence[PoolQuestion]
) -> NetworkOutcome:
    """Train and write `request.out`."""
    request, network = job.request, job.settings.network
    table = labelled_table(train)
    encoder = resolve(job.settings.encoder, models=Home.open().models)
    seed_everything(request.seed)
    relations = frequent(table, len(table.relations))
    detector = RelationDetector.of(word_counts(table.templates()), relations, encoder.encode, hidden=network.hidden)
    config = RelationTraining(network.epochs, network.batch, network.learning_rate)
    training = training_of(detector, config, seed=request.seed)
    examples = examples_of(detector, table, table.count)
    reports = fit(
        detector,
        examples,
        config,
        seed=request.seed,
        training=training,
        evaluate=lambda trained: accuracy(trained, held_out),
    )
    run = job.fit(training, reports, questions=len(train), held_out=len(held_out))
    outcome = NetworkOutcome(
        questions=len(train),
        held_out=len(held_out),
        relations=len(relations),
        parameters=trained_parameters(detector.network),
        epochs=best_epoch(training),
        accuracy=accuracy(detector, held_out),
        seconds=job.seconds,
    )
    detector.save(request.out, card=network_card(outcome, job.settings, request, title=TITLE))
    job.finish(run, training)
    return outcome


def labelled_table(questions: Iterable[PoolQuestion]) -> TemplateTable:
    """How often each template asks for each relation."""
    counts = TemplateCounts()
    for question in questions:
        counts.add(question.template, question.gold)
    return TemplateTable.of(counts.rows())


def network_card(
    outcome: NetworkOutcome,
    config: RelationSettings,
    request: Request,
    *,
    title: str,
    network: str = "",
    reads: str = "",
) -> str:
    """The card of a network that was trained on questions with pools.

    Args:
        network: its kind, if there are several.
        reads: what it reads; by default the vectors of the encoder.
    """
    encoder = display_names(config.encoder)
    facts = {
        **({"network": network} if network else {}),
        "reads the vectors of": reads or encoder,
        "data": request.data_names,
        "questions for training, held out": f"{outcome.questions:,}, {outcome.held_out:,}",
        "relations that it knows": f"{outcome.relations:,}",
        "trained parameters": f"{outcome.parameters:,}",
        "seed": request.seed,
        "epochs": outcome.epochs,
        "accuracy on held-out questions": f"{outcome.accuracy:.3f}",
    }
    text = "The licence follows from that of the data and of the encoder; see there."
    return card_text(title, facts, text, asdict(config) | {"encoder": encoder})
