"""`train blstm`: from questions with labelled answers to the stacked LSTM joined with keyword features (thesis, 6.3).

The trees are grown on pools of networks that did not see the pairs: the questions are cut in parts, and the pools of
a part come from a network trained on the others. The network that is kept is trained on all of them.
"""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qa_bot.encoders import STARTER, STARTER_FOLDER
from qa_bot.training.answer_sets import AnswerSets, Figures, parted_mixed
from qa_bot.training.dense import TrainingError
from qa_bot.training.pairs import TrainingDataError
from qa_bot.training.request import Request
from qa_bot.training.run import IDENTITY, Run, RunError, hold
from qa_bot.training.settings import SettingsError, device_of, read_toml, settled
from qa_core.plots import write_curve
from qa_core.resume import load_training
from qa_core.static_encoder import StaticEncoder
from qa_core.text import words
from qa_core.training import Progress, Training, seed_everything
from qa_core.types import FloatArray
from qa_core.vectors import WordVectors, read_vectors
from rankers.blstm import (
    CPU,
    PAPER,
    POOLS,
    BLSTMConfig,
    BLSTMScorer,
    BLSTMTraining,
    optimiser,
    parameters,
)
from rankers.blstm import train_blstm as train_network
from rankers.gbdt import BoostedTrees, GBDTConfig
from rankers.keyword_features import COSINE, FEATURES, Keywords
from rankers.pairs import AnswerSet, Pool, check_mixed
from rankers.stacked import Inputs, StackedRanker, folds, network_pools

log = logging.getLogger(__name__)

Joined = Literal["none", "bm25", "cheap", "all"]
_PRESETS = {"cpu": CPU, "paper": PAPER}
_KEYWORDS: dict[Joined, tuple[str, ...]] = {
    "none": (),
    "bm25": ("bm25",),
    "cheap": FEATURES,
    "all": (*FEATURES, COSINE),
}
FOLD = "fold-{}"
"""Folders of the networks that pools for the trees come from, while a run is going on."""


@dataclass(frozen=True, slots=True)
class BLSTMSettings:
    """What `--config` may hold."""

    preset: Literal["cpu", "paper"] = "cpu"  # sizes where [network] does not say
    use: Literal["stacked", "network", "keywords"] = "stacked"  # both joined by trees, or one of them alone
    keywords: Literal["none", "bm25", "cheap", "all"] = "bm25"  # features beside the pools; all: and starter's cosine
    parts: int = 2  # of the questions, for the pools that trees are grown on
    pretrained: str = STARTER  # E_pre: a static encoder's folder or a file of word vectors; empty for none
    minimum: int = 1  # times a word has to stand in the training texts
    device: Literal["auto", "cpu", "cuda"] = "auto"
    network: BLSTMConfig = CPU
    training: BLSTMTraining = field(default_factory=BLSTMTraining)
    trees: GBDTConfig = field(default_factory=lambda: GBDTConfig(objective="lambdarank"))

    @property
    def names(self) -> tuple[str, ...]:
        """Features that the trees are grown on."""
        return (*(POOLS if self.use == "stacked" else ()), *_KEYWORDS[self.keywords])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    questions: int
    pairs: int
    held_out: int  # questions
    bm25: Figures
    network: Figures | None  # the mean of its steps
    joined: Figures | None
    importances: dict[str, float]
    parameters: int  # trained ones of the network
    seconds: float
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON, with the names of ir-measures."""
        rows = {"bm25": self.bm25, "network": self.network, "joined": self.joined}
        return {
            "questions": self.questions,
            "pairs": self.pairs,
            "held_out": self.held_out,
            "rejected": self.rejects,
            "parameters": self.parameters,
            "seconds": self.seconds,
            **{name: figures.as_dict() for name, figures in rows.items() if figures is not None},
            "importances": self.importances,
        }

    def text(self, out: Path) -> str:
        """Figures of each, what the trees look at, and where the ranker is."""
        rows = {"BM25": self.bm25, "network": self.network, "joined": self.joined}
        lines = [f"{name}: MAP {f.ap:.3f}, MRR {f.rr:.3f}" for name, f in rows.items() if f is not None]
        told = ", ".join(f"{name} {share:.0%}" for name, share in list(self.importances.items())[:6])
        return "\n".join(
            [
                f"{self.pairs:,} pairs of {self.questions:,} questions, {self.held_out:,} questions held out",
                *lines,
                *([f"the trees look at: {told}"] if told else []),
                f"written to {out}",
                "",
            ]
        )


Told = Callable[[AnswerSets], None]
Reported = Callable[[Progress], None]


def train_blstm(request: Request, *, told: Told = lambda _: None, reported: Reported = lambda _: None) -> Outcome:
    """Train and write `request.out`: the ranker, its card, `curve.csv`, and `curve.png` where it was asked for.

    Args:
        told: hears what was read, rejects included, before training begins.
        reported: hears of every progress, that of the parts' networks too.

    Raises:
        TrainingError, TrainingDataError, SettingsError, RunError: data, settings or folders do not do.
    """
    settings = configured(request)
    try:
        return _Trainer(request, settings, *parted_mixed(request, told)).outcome(reported)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError, ModuleNotFoundError) as error:
        raise TrainingError(str(error)) from error


def epochs(request: Request) -> int:
    """Of a network, at most."""
    return configured(request).training.pointwise.epochs


def configured(request: Request) -> BLSTMSettings:
    """The preset that the settings name, and the settings over it."""
    given = read_toml(request.config) if request.config else {}
    source = str(request.config or "defaults")
    try:
        guess = settled(BLSTMSettings(), given, source=source)
        settings = settled(BLSTMSettings(network=_PRESETS[guess.preset]), given, source=source)
    except ValueError as error:  # sizes that a part refuses itself
        raise SettingsError(str(error)) from None
    _check(settings, request, source)
    return settings


def _check(settings: BLSTMSettings, request: Request, source: str) -> None:
    if request.base is not None:
        raise SettingsError(f"Expected no base to start from, but got {request.base}; name vectors by `pretrained`.")
    if not settings.names and settings.use != "network":
        raise SettingsError(f'{source}: Expected features to join, but got keywords = "none"; name "bm25".')
    pointwise = settings.training.pointwise
    sizes = {
        "network.hidden": settings.network.hidden,
        "network.layers": settings.network.layers,
        "network.max_question": settings.network.max_question,
        "network.max_answer": settings.network.max_answer,
        "training.pointwise.batch": pointwise.batch,
        "training.pointwise.epochs": pointwise.epochs,
        "training.pointwise.patience": pointwise.patience,
        "training.learning_rate": settings.training.learning_rate,
        "minimum": settings.minimum,
        "parts": settings.parts - 1,
    }
    if wrong := [name for name, value in sizes.items() if not value > 0]:
        told = ", ".join(f"{name} = {sizes[name] + (name == 'parts')}" for name in wrong)
        raise SettingsError(f"{source}: Expected positive numbers, and at least 2 parts, but got {told}.")


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
        self.pool, self.dev = Pool.of(sets), Pool.of(dev)
        check_mixed(self.pool)
        self.questions, self.held_out = len(self.pool.questions), len(self.dev.questions)
        identity = {
            "config": asdict(settings),
            "pairs": len(self.pool),
            "held_out": len(self.dev),
            "seed": request.seed,
        }
        self.run = Run(request.out, identity)
        self.parts = [
            Run(request.out / FOLD.format(part), identity)
            for part in range(settings.parts if settings.use == "stacked" else 0)
        ]

    def outcome(self, reported: Reported) -> Outcome:
        begun = self._begun()
        started = time.monotonic()
        seed_everything(self.request.seed)
        inputs = Inputs(Keywords.of(self.pool.answers), None, self._encoder() if self._cosine else None)
        network, training, pools = None, None, None
        if self.settings.use != "keywords":
            pools = self._pools(begun, reported) if self.settings.use == "stacked" else None
            network, training = self._network(self.pool, self.run, begun, reported)
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
        return _pretrained(self.settings.pretrained, self._texts) if self.settings.pretrained else None

    @property
    def _cosine(self) -> bool:
        return self.settings.use != "network" and COSINE in self.settings.names

    def _encoder(self) -> Callable[[Sequence[str]], FloatArray]:
        return StaticEncoder.load(STARTER_FOLDER).encode

    def _begun(self) -> list[Run]:
        """The saved stages to go on with; in a new run there are none."""
        if not self.request.resume:
            self.run.begin()
            return []
        begun = [run for run in (self.run, *self.parts) if (run.state / IDENTITY).is_file()]
        for run in begun or [self.run]:
            run.check()
        return begun

    def _pools(self, begun: Sequence[Run], reported: Reported) -> FloatArray:
        """(N, 3) of all training pairs, each from a network that did not see its question."""
        part = np.array(folds(self.pool.questions, self.settings.parts))[self.pool.question]  # (N,)
        pairs = self.pool.pairs()
        found = np.zeros((len(pairs), len(POOLS)), dtype=np.float32)
        for number, run in enumerate(self.parts):
            own = np.flatnonzero(part == number)
            if not len(own):
                continue
            network, _ = self._network(_among(self.pool, part != number), run, begun, reported)
            found[own] = network_pools(network, [pairs[place] for place in own.tolist()])
        return found

    def _network(self, pool: Pool, run: Run, begun: Sequence[Run], reported: Reported) -> tuple[BLSTMScorer, Training]:
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
        hold(run, training, train_network(training, scorer, pool, self.settings.training, held_out=self.dev), reported)
        scorer.model.eval()
        return scorer, training

    def _joined(self, inputs: Inputs, pools: FloatArray | None) -> StackedRanker:
        names = self.settings.names
        own = inputs.table(self.pool.pairs(), [name for name in names if name not in POOLS])
        table = own if pools is None else np.hstack([pools, own])
        trees = replace(self.settings.trees, seed=self.settings.trees.seed + self.request.seed)
        grown = BoostedTrees.fit(table, self.pool.label, names=names, groups=self.pool.question, config=trees)
        fingerprint = StaticEncoder.load(STARTER_FOLDER).fingerprint if self._cosine else ""
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
        made.save(self.request.out, card=_card(outcome, self.settings, self.request))

    def _finish(self, training: Training | None) -> None:
        if training is not None:
            self.run.finish(training, plots=self.request.plots, measure="MAP")
        else:
            write_curve(self.request.out / "curve.csv", [])
            shutil.rmtree(self.run.state, ignore_errors=True)
        for part in self.parts:
            shutil.rmtree(part.out, ignore_errors=True)


def _among(pool: Pool, chosen: NDArray[np.bool_]) -> Pool:
    return Pool(pool.questions, pool.answers, pool.question[chosen], pool.answer[chosen], pool.label[chosen])


def _pretrained(name: str, texts: Sequence[str]) -> WordVectors:
    """Vectors of the texts' words, and of all words that are one piece to a static encoder."""
    found = dict.fromkeys(word for text in texts for word in words(text))
    path = STARTER_FOLDER if name == STARTER else Path(name).expanduser()
    if not path.is_dir():
        return read_vectors(path, limit=PAPER.vocabulary)
    encoder = StaticEncoder.load(path)
    pieces = encoder.tokeniser.tokenizer.get_vocab()
    found |= dict.fromkeys(piece for piece in sorted(pieces, key=pieces.__getitem__) if words(piece) == [piece])
    return WordVectors(tuple(found), encoder.encode(list(found)))


def _card(outcome: Outcome, settings: BLSTMSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    rows = {"BM25": outcome.bm25, "network, mean of its steps": outcome.network, "joined by trees": outcome.joined}
    figures = "\n".join(f"| {name} | {f.ap:.3f} | {f.rr:.3f} |" for name, f in rows.items() if f is not None)
    importances = "\n".join(f"| {name} | {share:.1%} |" for name, share in outcome.importances.items())
    shares = (
        f"\nShares of the trees' gains:\n\n| feature | share |\n| --- | --- |\n{importances}\n" if importances else ""
    )
    return f"""# Stacked LSTM ranker, trained with qa-bot

| | |
| --- | --- |
| made of | {settings.use} |
| data | {", ".join(path.name for path in request.data)} |
| pairs, questions | {outcome.pairs:,}, {outcome.questions:,} |
| held out (questions) | {outcome.held_out:,} |
| trained parameters of the network | {outcome.parameters:,} |
| seed | {request.seed} |
| seconds | {outcome.seconds:,.0f} |

On the held-out questions with right and wrong answers:

| | MAP | MRR |
| --- | --- | --- |
{figures}
{shares}
The licence follows from that of the data and of the word vectors; see there.

## Settings

```json
{json.dumps(asdict(settings), indent=2)}
```
"""
