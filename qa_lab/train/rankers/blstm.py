"""`train blstm`: from labelled answers to the stacked LSTM joined with keyword features (Wang (2018), ch. 6.3).

The trees are grown on pools of networks that did not see the pairs: the questions are cut into parts, and the pools of
a part come from a network trained on the others. The network that is saved is trained on all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.networks.checkpoints import note_reads
from qa_core.training.loop import Training, seed_everything
from qa_core.types import FloatArray
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.data.answer_sets import Figures, read_answer_sets, split_mixed
from qa_lab.data.word_vectors import vectors_beyond, words_of
from qa_lab.train.rankers.blstm_report import BLSTMOutcome, card
from qa_lab.train.rankers.blstm_settings import BLSTMSettings, settings
from qa_lab.train.settings import device_of
from qa_lab.train.training_run import TrainingRun
from qa_lab.train.verb import Job, TrainVerb
from rankers.answer_selection.blstm import PAPER, POOLS, BLSTMScorer, optimiser, parameters
from rankers.answer_selection.blstm import train_blstm as train_network
from rankers.answer_selection.keyword_features import COSINE, Keywords
from rankers.answer_selection.stacked import Inputs, StackedRanker, folds, network_pools
from rankers.gbdt import BoostedTrees
from rankers.training.answer_pool import AnswerPool, check_mixed

FOLD = "fold-{}"
"""Folders of the networks that compute pools for the trees, during a run."""


def _train(job: Job[BLSTMSettings]) -> BLSTMOutcome:
    config = job.settings
    data = job.read(read_answer_sets)
    pool, dev = map(AnswerPool.of, split_mixed(data, job.request.dev))
    check_mixed(pool)
    stage = _Stages(job, pool, dev)
    stage.begin()
    seed_everything(job.request.seed)
    inputs = Inputs(Keywords.of(pool.answers), None, StaticEncoder.load(ENCODER).encode if _cosine(config) else None)
    network, training, pools = None, None, None
    if config.use != "keywords":
        pools = stage.pools() if config.use == "stacked" else None
        network, training = stage.network(pool, stage.run)
        inputs = replace(inputs, network=network)
    ranker = _joined(job, pool, inputs, pools) if config.use != "network" else None
    seconds, pairs = job.seconds, dev.pairs()
    outcome = BLSTMOutcome(
        questions=len(pool.questions),
        pairs=len(pool),
        held_out=len(dev.questions),
        rejected=len(data.rejects),
        parameters=parameters(network) if network is not None else 0,
        seconds=seconds,
        bm25=Figures.of(dev, inputs.keywords.score(pairs)),
        network=Figures.of(dev, network.score(pairs)) if network is not None else None,
        joined=Figures.of(dev, ranker.score(pairs)) if ranker is not None else None,
        importances=ranker.importances() if ranker is not None else {},
    )
    model = ranker or network
    assert model is not None, "one of them is always trained"
    model.save(job.request.out, card=card(outcome, config, job.request))
    note_reads(job.request.out, {"question": config.question, "document": "text"})
    stage.run.finish_with(
        training.history if training else [], plots=job.request.plots and bool(training), measure="MAP"
    )
    stage.remove_folds()
    return outcome


BLSTM = TrainVerb(_train, settings, lambda config, _: config.training.pointwise.epochs, "MAP")


@dataclass
class _Stages:
    """The networks of a run: one for each part of the questions, and the one that is saved."""

    job: Job[BLSTMSettings]
    pool: AnswerPool
    dev: AnswerPool
    saved: list[TrainingRun] = field(default_factory=list)  # stages to resume

    def __post_init__(self) -> None:
        config, out = self.job.settings, self.job.request.out
        identity = self.job.identity(pairs=len(self.pool), held_out=len(self.dev))
        parts = config.parts if config.use == "stacked" else 0
        self.run = TrainingRun(out, identity)
        self.folds = [TrainingRun(out / FOLD.format(part), identity) for part in range(parts)]

    def begin(self) -> None:
        """Begin the run, or find the stages that were saved."""
        if not self.job.request.resume:
            self.run.begin()
            return
        self.saved = [run for run in (self.run, *self.folds) if run.saved]
        for run in self.saved or [self.run]:
            run.check()

    def pools(self) -> FloatArray:
        """Pools (N, 3) of all training pairs, each from a network that did not see its question."""
        part = np.array(folds(self.pool.questions, len(self.folds)))[self.pool.question]  # (N,)
        pairs = self.pool.pairs()
        pools = np.zeros((len(pairs), len(POOLS)), dtype=np.float32)
        for number, run in enumerate(self.folds):
            rows = np.flatnonzero(part == number)
            if len(rows):
                network, _ = self.network(_among(self.pool, part != number), run)
                pools[rows] = network_pools(network, [pairs[row] for row in rows.tolist()])
        return pools

    def network(self, pool: AnswerPool, run: TrainingRun) -> tuple[BLSTMScorer, Training]:
        """Trained on a pool and saved as it goes; a saved stage is resumed, a finished one loaded."""
        check_mixed(pool)
        config, seed = self.job.settings, self.job.request.seed
        seed_everything(seed)
        scorer = BLSTMScorer.of(self._texts, config.network, pretrained=self._vectors, minimum=config.minimum)
        scorer.model.to(device_of(config.device))
        training = Training(scorer.model, optimiser(scorer, config.training), seed=seed)
        if run in self.saved:
            run.start(training, resume=True)
        elif run is not self.run:
            run.begin()
        self.job.drive(run, training, train_network(training, scorer, pool, config.training, held_out=self.dev))
        scorer.model.eval()
        return scorer, training

    def remove_folds(self) -> None:
        for run in self.folds:
            run.remove()

    @property
    def _texts(self) -> tuple[str, ...]:
        """All texts, so that the networks of the parts share one vocabulary."""
        return (*self.pool.questions, *self.pool.answers)

    @cached_property
    def _vectors(self) -> WordVectors | None:
        name = self.job.settings.pretrained
        return vectors_beyond(name, words_of(self._texts), limit=PAPER.vocabulary) if name else None


def _cosine(config: BLSTMSettings) -> bool:
    return config.use != "network" and COSINE in config.names


def _joined(job: Job[BLSTMSettings], pool: AnswerPool, inputs: Inputs, pools: FloatArray | None) -> StackedRanker:
    config = job.settings
    features = inputs.table(pool.pairs(), [name for name in config.names if name not in POOLS])
    table = features if pools is None else np.hstack([pools, features])
    trees = replace(config.trees, seed=config.trees.seed + job.request.seed)
    boosted = BoostedTrees.fit(table, pool.label, names=config.names, groups=pool.question, config=trees)
    fingerprint = StaticEncoder.load(ENCODER).fingerprint if _cosine(config) else ""
    return StackedRanker(inputs, boosted, fingerprint)


def _among(pool: AnswerPool, chosen: NDArray[np.bool_]) -> AnswerPool:
    return AnswerPool(pool.questions, pool.answers, pool.question[chosen], pool.answer[chosen], pool.label[chosen])
