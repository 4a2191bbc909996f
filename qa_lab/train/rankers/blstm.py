"""`train blstm`: from questions with labelled answers to the stacked LSTM joined with keyword features (thesis, 6.3).

The trees are grown on pools of networks that did not see the pairs: the questions are cut in parts, and the pools of
a part come from a network trained on the others. The network that is kept is trained on all of them.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.measures.plots import write_curve
from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.training.resume import load_training
from qa_core.types import FloatArray
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.train.data.answer_sets import AnswerSets, Figures, parted_mixed
from qa_lab.train.data.start_vectors import vectors_beyond, words_of
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.rankers.blstm_report import Outcome, card
from qa_lab.train.rankers.blstm_settings import BLSTMSettings, configured
from qa_lab.train.request import Request
from qa_lab.train.settings import device_of
from qa_lab.train.training_run import IDENTITY, TrainingRun, drive
from rankers.answer_selection.blstm import (
    PAPER,
    POOLS,
    BLSTMScorer,
    optimiser,
    parameters,
)
from rankers.answer_selection.blstm import train_blstm as train_network
from rankers.answer_selection.keyword_features import COSINE, Keywords
from rankers.answer_selection.stacked import Inputs, StackedRanker, folds, network_pools
from rankers.gbdt import BoostedTrees
from rankers.training.answer_pool import AnswerPool, AnswerSet, check_mixed

FOLD = "fold-{}"
"""Folders of the networks that pools for the trees come from, while a run is going on."""


OnRead = Callable[[AnswerSets], None]
OnProgress = Callable[[Progress], None]


def train_blstm(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Train and write `request.out`: the ranker, its card, `curve.csv`, and `curve.png` where it was asked for.

    Args:
        on_read: hears what was read, rejects included, before training begins.
        on_progress: hears of every progress, that of the parts' networks too.

    Raises:
        TrainingError, TrainingDataError, SettingsError, RunError: data, settings or folders do not do.
    """
    settings = configured(request)
    try:
        return _Trainer(request, settings, *parted_mixed(request, on_read)).outcome(on_progress)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError, ModuleNotFoundError) as error:
        raise TrainingError(str(error)) from error


def epochs(request: Request) -> int:
    """Of a network, at most."""
    return configured(request).training.pointwise.epochs


class _Trainer:
    """A run: what it was asked for, and its data."""

    def __init__(
        self,
        request: Request,
        settings: BLSTMSettings,
        sets: Sequence[AnswerSet],
        dev: Sequence[AnswerSet],
        rejects: int,
    ) -> None:
        self.request, self.settings, self.rejects = request, settings, rejects
        self.pool, self.dev = AnswerPool.of(sets), AnswerPool.of(dev)
        check_mixed(self.pool)
        self.questions, self.held_out = len(self.pool.questions), len(self.dev.questions)
        identity = {
            "config": asdict(settings),
            "pairs": len(self.pool),
            "held_out": len(self.dev),
            "seed": request.seed,
        }
        self.run = TrainingRun(request.out, identity)
        self.parts = [
            TrainingRun(request.out / FOLD.format(part), identity)
            for part in range(settings.parts if settings.use == "stacked" else 0)
        ]

    def outcome(self, on_progress: OnProgress) -> Outcome:
        begun = self._begun()
        started = time.monotonic()
        seed_everything(self.request.seed)
        inputs = Inputs(Keywords.of(self.pool.answers), None, self._encoder() if self._cosine else None)
        network, training, pools = None, None, None
        if self.settings.use != "keywords":
            pools = self._pools(begun, on_progress) if self.settings.use == "stacked" else None
            network, training = self._network(self.pool, self.run, begun, on_progress)
            inputs = replace(inputs, network=network)
        ranker = self._joined(inputs, pools) if self.settings.use != "network" else None
        outcome = self._measured(inputs, network, ranker, time.monotonic() - started)
        self._save(network, ranker, outcome)
        self._finish(training)
        return outcome

    @property
    def _texts(self) -> tuple[str, ...]:
        """All of them, so that the networks of the parts have one vocabulary."""
        return (*self.pool.questions, *self.pool.answers)

    @cached_property
    def _vectors(self) -> WordVectors | None:
        name = self.settings.pretrained
        return vectors_beyond(name, words_of(self._texts), limit=PAPER.vocabulary) if name else None

    @property
    def _cosine(self) -> bool:
        return self.settings.use != "network" and COSINE in self.settings.names

    def _encoder(self) -> Callable[[Sequence[str]], FloatArray]:
        return StaticEncoder.load(ENCODER).encode

    def _begun(self) -> list[TrainingRun]:
        """The saved stages to go on with; in a new run there are none."""
        if not self.request.resume:
            self.run.begin()
            return []
        begun = [run for run in (self.run, *self.parts) if (run.state / IDENTITY).is_file()]
        for run in begun or [self.run]:
            run.check()
        return begun

    def _pools(self, begun: Sequence[TrainingRun], on_progress: OnProgress) -> FloatArray:
        """(N, 3) of all training pairs, each from a network that did not see its question."""
        part = np.array(folds(self.pool.questions, self.settings.parts))[self.pool.question]  # (N,)
        pairs = self.pool.pairs()
        found = np.zeros((len(pairs), len(POOLS)), dtype=np.float32)
        for number, run in enumerate(self.parts):
            own = np.flatnonzero(part == number)
            if not len(own):
                continue
            network, _ = self._network(_among(self.pool, part != number), run, begun, on_progress)
            found[own] = network_pools(network, [pairs[place] for place in own.tolist()])
        return found

    def _network(
        self, pool: AnswerPool, run: TrainingRun, begun: Sequence[TrainingRun], on_progress: OnProgress
    ) -> tuple[BLSTMScorer, Training]:
        """Trained on a pool, saved as it goes; a saved one goes on, and one that was done is as it was left."""
        check_mixed(pool)
        seed_everything(self.request.seed)
        config, minimum = self.settings.network, self.settings.minimum
        scorer = BLSTMScorer.of(self._texts, config, pretrained=self._vectors, minimum=minimum)
        scorer.model.to(device_of(self.settings.device))
        training = Training(scorer.model, optimiser(scorer, self.settings.training), seed=self.request.seed)
        if run in begun:
            load_training(run.state, training)
        elif run is not self.run:
            run.begin()
        drive(
            run, training, train_network(training, scorer, pool, self.settings.training, held_out=self.dev), on_progress
        )
        scorer.model.eval()
        return scorer, training

    def _joined(self, inputs: Inputs, pools: FloatArray | None) -> StackedRanker:
        names = self.settings.names
        own = inputs.table(self.pool.pairs(), [name for name in names if name not in POOLS])
        table = own if pools is None else np.hstack([pools, own])
        trees = replace(self.settings.trees, seed=self.settings.trees.seed + self.request.seed)
        grown = BoostedTrees.fit(table, self.pool.label, names=names, groups=self.pool.question, config=trees)
        fingerprint = StaticEncoder.load(ENCODER).fingerprint if self._cosine else ""
        return StackedRanker(inputs, grown, fingerprint)

    def _measured(
        self, inputs: Inputs, network: BLSTMScorer | None, ranker: StackedRanker | None, seconds: float
    ) -> Outcome:
        pairs = self.dev.pairs()
        return Outcome(
            self.questions,
            len(self.pool),
            self.held_out,
            Figures.of(self.dev, inputs.keywords.score(pairs)),
            Figures.of(self.dev, network.score(pairs)) if network is not None else None,
            Figures.of(self.dev, ranker.score(pairs)) if ranker is not None else None,
            ranker.importances() if ranker is not None else {},
            parameters(network) if network is not None else 0,
            seconds,
            self.rejects,
        )

    def _save(self, network: BLSTMScorer | None, ranker: StackedRanker | None, outcome: Outcome) -> None:
        made = ranker or network
        assert made is not None, "one of them is always made"
        made.save(self.request.out, card=card(outcome, self.settings, self.request))

    def _finish(self, training: Training | None) -> None:
        if training is not None:
            self.run.finish(training, plots=self.request.plots, measure="MAP")
        else:
            write_curve(self.request.out / "curve.csv", [])
            shutil.rmtree(self.run.state, ignore_errors=True)
        for part in self.parts:
            shutil.rmtree(part.out, ignore_errors=True)


def _among(pool: AnswerPool, chosen: NDArray[np.bool_]) -> AnswerPool:
    return AnswerPool(pool.questions, pool.answers, pool.question[chosen], pool.answer[chosen], pool.label[chosen])
