"""`train expansion`: from question–answer pairs to a model that generates answers, for `retrieval.expander`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_core.text.analysis import terms
from qa_core.training.likelihood_training import LikelihoodConfig, optimiser, perplexity
from qa_core.training.loop import Training, seed_everything
from qa_lab.data.pairs import read_pairs, split
from qa_lab.data.splitting import dev_share
from qa_lab.data.word_vectors import vectors_of, words_of
from qa_lab.errors import SettingsError, TrainingDataError
from qa_lab.train.card import card_text, table
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, device_of, in_table, load_settings
from qa_lab.train.verb import Job, Outcome, TrainVerb, best_epoch, trained_parameters
from retrievers.engines.index import KeywordQuery
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter
from retrievers.expansion import TermWeights
from retrievers.query_expander import ExpansionConfig, QueryExpander
from retrievers.training.examples import Examples, Pair
from retrievers.training.query_expansion import PAPER, SMALL, ExpanderConfig, expanded, expander_of, train_expander
from retrievers.training.search import Quality

SEARCHED = 1_000
"""Held-out questions that are searched with and without expansion, at most."""
DEPTH = 1_000
"""Answers of each search; a right answer that is not among them counts 0."""


@dataclass(frozen=True, slots=True)
class ExpansionSettings:
    """Keys of `--config`."""

    preset: Literal["cpu", "paper"] = "cpu"  # default sizes
    pretrained: str = ""  # E_pre: `starter`, a static encoder's folder or a file of word vectors
    minimum: int = 2  # occurrences of a word in the training texts
    max_question: int = 32  # words read
    max_answer: int = 16
    device: Literal["auto", "cpu", "cuda"] = "auto"
    network: Seq2SeqConfig = SMALL.network
    training: LikelihoodConfig = field(default_factory=LikelihoodConfig)
    expansion: ExpansionConfig = field(default_factory=ExpansionConfig)

    @property
    def model(self) -> ExpanderConfig:
        return ExpanderConfig(
            self.network, self.minimum, self.max_question, self.max_answer, self.training, self.expansion
        )


@dataclass(frozen=True)
class ExpansionOutcome(Outcome):
    """Result on held-out questions, by BM25 among their answers."""

    pairs: int
    held_out: int
    rejected: int
    parameters: int
    seconds: float
    perplexity: float
    before: Quality
    after: Quality

    def text(self, out: Path) -> str:
        return (
            f"{self.pairs:,} pairs for training, {self.held_out:,} held out; perplexity {self.perplexity:.1f}\n"
            f"without expansion: {self.before}\n"
            f"with expansion:    {self.after}\n"
            f"use it: qa-bot config set retrieval.expander {out}; qa-bot config set retrieval.expansion nmt\n"
        )


def settings(request: Request) -> ExpansionSettings:
    """The preset that the settings name, and the settings over it."""
    config = load_settings(request.config, ExpansionSettings(), preset=_defaults)
    if request.base is not None:
        raise SettingsError(f"Expected no base to start from, but got {request.base}; name vectors by `pretrained`.")
    if not 0 <= config.expansion.weight <= 1:
        raise SettingsError(
            f"Expected expansion.weight between 0 and 1, but got {config.expansion.weight}; correct it."
        )
    names = (
        *in_table("training", "batch", "epochs", "patience", "learning_rate"),
        *in_table("expansion", "beam", "length", "terms"),
        *("minimum", "max_question", "max_answer"),
    )
    check_positive(config, *names, source=request.config)
    return config


def _defaults(config: ExpansionSettings) -> ExpansionSettings:
    if config.preset == "cpu":
        return ExpansionSettings()
    return ExpansionSettings(
        preset="paper", max_question=PAPER.max_question, max_answer=PAPER.max_answer, network=PAPER.network
    )


def _train(job: Job[ExpansionSettings]) -> ExpansionOutcome:
    request, config = job.request, job.settings
    data = job.read(read_pairs)
    examples, held_out = _parts(data.examples, request.dev)
    seed_everything(request.seed)
    pretrained = None
    if config.pretrained:
        pretrained = vectors_of(config.pretrained, words_of([*examples.questions, *examples.answers]))
    translator = expander_of(examples, config.model, pretrained=pretrained)
    translator.model.to(device_of(config.device))
    training = Training(translator.model, optimiser(translator, config.training), seed=request.seed)
    reports = train_expander(training, translator, examples, config.model, held_out=held_out)
    run = job.fit(training, reports, pairs=len(examples), held_out=len(held_out))
    translator.model.cpu().eval()
    seconds = job.seconds
    before, after = _measured(
        held_out,
        (
            lambda texts: [tuple((term, 1.0) for term in terms(text)) for text in texts],
            lambda texts: expanded(translator, texts, config.expansion),
        ),
        seed=request.seed,
    )
    outcome = ExpansionOutcome(
        pairs=len(examples),
        held_out=len(held_out),
        rejected=len(data.rejects),
        parameters=trained_parameters(translator.model),
        seconds=seconds,
        perplexity=perplexity(translator, held_out.texts()),
        before=before,
        after=after,
    )
    card = _card(outcome, config, request, best_epoch(training))
    QueryExpander(translator, config.expansion).save(request.out, card=card)
    job.finish(run, training)
    return outcome


EXPANSION = TrainVerb(_train, settings, lambda config, _: config.training.epochs, "perplexity")


def _parts(pairs: Sequence[Pair], dev: str) -> tuple[Examples, Examples]:
    """Training and held-out pairs."""
    share = dev_share(dev)
    train, held_out = (pairs, read_pairs([Path(dev)]).examples) if share is None else split(pairs, share)
    try:
        return Examples.of(train), Examples.of(held_out)
    except ValueError as error:
        raise TrainingDataError(
            f"{error} {len(train)} pairs are for training and {len(held_out)} are held out; with few pairs, name "
            "development data with --dev PATH or a larger share."
        ) from None


def _measured(
    held_out: Examples, queries: Sequence[Callable[[Sequence[str]], list[TermWeights]]], *, seed: int
) -> list[Quality]:
    """BM25 with each way to make queries of questions, among the held-out answers."""
    right = held_out.right()
    chosen = sorted(np.random.default_rng(seed).permutation(len(held_out.questions))[:SEARCHED].tolist())
    texts = [held_out.questions[number] for number in chosen]
    with tempfile.TemporaryDirectory(prefix="qa-bot-expansion-") as folder:
        path = Path(folder) / "keyword"
        with KeywordWriter(path) as writer:
            writer.add(Entry(number, number, "", text) for number, text in enumerate(held_out.answers))
        index = KeywordIndex(path)
        return [
            _quality(
                [index.search(KeywordQuery(query), DEPTH).passages.tolist() for query in make(texts)], chosen, right
            )
            for make in queries
        ]


def _quality(ranked: Sequence[Sequence[int]], questions: Sequence[int], right: Sequence[frozenset[int]]) -> Quality:
    """S@1 and MRR of ranked answers of these questions."""
    ranks = [
        next((rank for rank, answer in enumerate(answers, 1) if answer in right[question]), 0)
        for question, answers in zip(questions, ranked, strict=True)
    ]
    return Quality(
        float(np.mean([rank == 1 for rank in ranks])), float(np.mean([1 / rank if rank else 0.0 for rank in ranks]))
    )


def _card(outcome: ExpansionOutcome, config: ExpansionSettings, request: Request, epochs: int) -> str:
    facts = {
        "data": request.data_names,
        "pairs for training, held out": f"{outcome.pairs:,}, {outcome.held_out:,}",
        "trained parameters": f"{outcome.parameters:,}",
        "seed": request.seed,
        "epochs": epochs,
        "seconds": f"{outcome.seconds:,.0f}",
        "perplexity of held-out answers": f"{outcome.perplexity:.1f}",
    }
    qualities = {"without expansion": outcome.before, "with expansion": outcome.after}
    text = f"""On held-out questions, by BM25 among the held-out answers:

{table(("", "S@1", "MRR"), [(name, f"{q.success:.3f}", f"{q.rr:.3f}") for name, q in qualities.items()])}

The licence follows from that of the data and of the word vectors; see there."""
    return card_text("Query expander, trained with qa-bot", facts, text, asdict(config))
