"""`train relations`: trains a relation scorer on questions with pools of relations (Wang (2018), ch. 4.3.5).

The scorer is a small network over the vectors of a frozen encoder; relations without training questions are scored by
their words. With `model = "network"`, it is Wang's network over the vectors of words (`network_relations.py`), with
`model = "transformer"`, a transformer is tuned too (`tuned_relations.py`), with `model = "hr-bilstm"` and others, a
network that Wang compares with (`compared_relations.py`). Without names of relations, the data are mined templates
(`mined_relations.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kg_index.relations.pools import PoolQuestion, read_pools, read_relations
from kg_index.relations.relation_head import RelationHead
from kg_index.relations.relation_scorers import CosineScorer, cached
from kg_index.training.head_training import fit_head, labelled, training_of
from qa_bot.answering.graph.relation_encoders import display_names, open_encoders
from qa_bot.home.folder import Home
from qa_core.training.loop import seed_everything
from qa_lab.data.reading import TrainingData
from qa_lab.data.splitting import split_by_hash, train_dev_split
from qa_lab.errors import TrainingDataError
from qa_lab.train.card import card_text
from qa_lab.train.relations.compared_relations import train_compared
from qa_lab.train.relations.mined_relations import train_mined
from qa_lab.train.relations.network_relations import train_network
from qa_lab.train.relations.relation_accuracy import accuracy
from qa_lab.train.relations.relation_settings import RelationSettings, most_epochs, settings
from qa_lab.train.relations.tuned_relations import train_tuned
from qa_lab.train.request import Request
from qa_lab.train.verb import Job, Outcome, TrainVerb, best_epoch


@dataclass(frozen=True)
class RelationOutcome(Outcome):
    """Result on held-out questions."""

    questions: int
    held_out: int
    relations: int  # with a separate row
    parameters: int
    epochs: int  # to the weights that were kept
    cosine: float  # accuracy before training
    accuracy: float
    seconds: float

    def text(self, out: Path) -> str:
        return (
            f"{self.questions:,} questions for training, {self.held_out:,} held out; {self.relations:,} relations\n"
            f"accuracy {self.accuracy:.3f} after {self.epochs} epochs, {self.cosine:.3f} before\n"
            f"measure it: qa-bot eval relations --relations NAMES.txt --model {out}\n"
        )


def _train(job: Job[RelationSettings]) -> Outcome:
    request, config = job.request, job.settings
    if request.relations is None:
        return train_mined(job)
    names = read_relations(request.relations)
    pools = tuple(question for path in request.data for question in read_pools(path, names))[: request.limit]
    job.on_read(TrainingData(pools, len(pools), ("question", "questions")))
    train, held_out = _split(pools, names, request.dev)
    if config.model == "network":
        return train_network(job, train, held_out)
    if config.model == "transformer":
        return train_tuned(job, train, held_out)
    if config.model != "head":
        return train_compared(job, config.model, train, held_out, names)
    encoder = open_encoders(config.encoder, models=Home.open().models)
    encode = cached(encoder.encode)
    seed_everything(request.seed)
    head = RelationHead.of(
        encode,
        (name for question in train for name in question.pool),
        hidden=config.hidden,
        context=config.context,
        encoder=config.encoder,
        fingerprint=encoder.fingerprint,
    )
    training = training_of(head, config.training, seed=request.seed)
    reports = fit_head(
        head,
        labelled(train),
        config.training,
        seed=request.seed,
        training=training,
        evaluate=lambda trained: accuracy(trained, held_out),
    )
    run = job.fit(training, reports, questions=len(train), held_out=len(held_out))
    outcome = RelationOutcome(
        questions=len(train),
        held_out=len(held_out),
        relations=len(head.relations),
        parameters=sum(weight.numel() for weight in head.network.parameters()),
        epochs=best_epoch(training),
        cosine=accuracy(CosineScorer(encode), held_out),
        accuracy=accuracy(head, held_out),
        seconds=job.seconds,
    )
    head.save(request.out, card=_card(outcome, config, request))
    job.finish(run, training)
    return outcome


RELATIONS = TrainVerb(_train, settings, most_epochs, "accuracy")


def _split(
    questions: Sequence[PoolQuestion], names: Sequence[str], dev: str
) -> tuple[list[PoolQuestion], list[PoolQuestion]]:
    """Questions for training and for early stopping; a share is taken by a hash of templates."""
    train, held_out = train_dev_split(
        dev,
        list(questions),
        lambda all_, share: split_by_hash(all_, share, lambda question: question.template),
        lambda path: list(read_pools(path, names)),
    )
    if not train or not held_out:
        raise TrainingDataError(
            f"Expected questions for training and to hold out, but got {len(train)} and {len(held_out)}; give more."
        )
    return train, held_out


def _card(outcome: RelationOutcome, config: RelationSettings, request: Request) -> str:
    encoder = display_names(config.encoder)
    facts = {
        "reads the vectors of": encoder,
        "data": request.data_names,
        "questions for training, held out": f"{outcome.questions:,}, {outcome.held_out:,}",
        "relations with a separate row": f"{outcome.relations:,}",
        "trained parameters": f"{outcome.parameters:,}",
        "seed": request.seed,
        "epochs": outcome.epochs,
        "accuracy on held-out questions, before and after": f"{outcome.cosine:.3f}, {outcome.accuracy:.3f}",
    }
    text = "The licence follows from that of the data and of the encoder; see there."
    return card_text("Relation scorer trained with qa-bot", facts, text, asdict(config) | {"encoder": encoder})
