"""`train relations` with `model = "bilstm"`, "bicnn", "ampcnn" or "hr-bilstm": networks of Wang (2018), table 4.2."""

from __future__ import annotations

from collections.abc import Sequence

from kg_index.relations.compared.compared_scorer import ComparedScorer
from kg_index.relations.compared.pair_network import Kind
from kg_index.relations.pools import PoolQuestion
from kg_index.training.compared_training import fit, training_of, word_counts
from qa_bot.home.encoders import resolve
from qa_bot.home.folder import Home
from qa_core.training.loop import seed_everything
from qa_lab.train.relations.network_relations import NetworkOutcome, network_card
from qa_lab.train.relations.relation_accuracy import accuracy
from qa_lab.train.relations.relation_settings import RelationSettings
from qa_lab.train.verb import Job, best_epoch, trained_parameters

TITLE = "Compared network of relation detection trained with qa-bot"


def train_compared(
    job: Job[RelationSettings],
    kind: Kind,
    train: Sequence[PoolQuestion],
    held_out: Sequence[PoolQuestion],
    names: Sequence[str],
) -> NetworkOutcome:
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
    outcome = NetworkOutcome(
        questions=len(train),
        held_out=len(held_out),
        relations=len(pooled),
        parameters=trained_parameters(scorer.network),
        epochs=best_epoch(training),
        accuracy=accuracy(scorer, held_out),
        seconds=job.seconds,
    )
    reads = "letter trigrams" if kind == "bicnn" else ""
    card = network_card(outcome, job.settings, request, title=TITLE, network=kind, reads=reads)
    scorer.save(request.out, card=card)
    job.finish(run, training)
    return outcome
