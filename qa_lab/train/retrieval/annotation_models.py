"""The models of `train annotate`: each trained where it is not there yet, opened, and measured."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.measures.metrics import Score
from qa_core.networks.pair_classifier import LabelledPairs, PairClassifier, train_pairs
from qa_core.networks.pair_classifier import optimiser as pair_optimiser
from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.training.resume import load_training
from qa_core.types import FloatArray, IntArray
from qa_lab.train.data.annotation_data import Matching
from qa_lab.train.errors import SettingsError
from qa_lab.train.request import Request
from qa_lab.train.retrieval.annotation_settings import BASE, AnnotateConfig, stages
from qa_lab.train.settings import device_of
from qa_lab.train.training_run import CURVE, IDENTITY, TrainingRun, drive
from retrievers.engines.local.dense_writer import build
from retrievers.training.annotation import Retrieved, Search, candidates, squared_distances
from retrievers.training.bi_encoder import optimiser, train_bi_encoder
from retrievers.training.encoders.static_tower import StaticTower
from retrievers.training.encoders.trainable_encoders import Tower, vectors
from retrievers.training.encoders.transformer_tower import TransformerTower
from retrievers.training.encoders.word_tower import WordTower
from retrievers.training.examples import Examples, Pair

log = logging.getLogger(__name__)

OnProgress = Callable[[Progress], None]
PAGE = "comparison.md"
LETTERS = 8
"""Of an answer for each token that counts; to read long ones to their end takes most of the time else."""


@dataclass(frozen=True, slots=True)
class Task:
    """A run, and what all of its steps look at."""

    request: Request
    config: AnnotateConfig
    data: Matching
    on_progress: OnProgress

    @property
    def out(self) -> Path:
        return self.request.out

    @property
    def identity(self) -> dict[str, object]:
        """What has to be the same for an interrupted run to go on."""
        return {
            "config": asdict(self.config),
            "queries": len(self.data.texts),
            "answers": len(self.data.examples.answers),
            "seed": self.request.seed,
            "base": str(self.request.base.resolve()) if self.request.base else "",
            "dev": self.request.dev,
        }

    @property
    def letters(self) -> int:
        return LETTERS * max(self.config.static.max_tokens, self.config.transformer.max_tokens)

    def texts(self, queries: Iterable[int]) -> dict[int, str]:
        return {query: self.data.texts[query] for query in queries}

    def pairs(self, found: Iterable[Retrieved]) -> list[Pair]:
        return [Pair(self.data.texts[each.query], self.data.examples.answers[each.answer]) for each in found]

    def known_pairs(self, queries: Iterable[int]) -> list[Pair]:
        texts, answers, right = self.data.texts, self.data.examples.answers, self.data.right
        return [Pair(texts[query], answers[answer]) for query in queries for answer in sorted(right[query])]


@dataclass(frozen=True, slots=True)
class Hits:
    """Which test queries a bi-encoder answers rightly with what it finds first, and how far away that is."""

    accuracy: Score
    distances: tuple[float, ...]  # squared, of vectors of unit length

    @property
    def right(self) -> list[bool]:
        return [value == 1 for value in self.accuracy.per_query.values()]


def bi_encoder(task: Task, name: str, pairs: Sequence[Pair], dev: Sequence[Pair]) -> Path:
    """The folder of a bi-encoder, trained where it is not there yet. Raises ValueError where nothing can be told."""
    folder, config = task.out / name, task.config
    if _done(folder):
        return folder
    pairs, dev = ([Pair(p.question, p.answer[: task.letters]) for p in part] for part in (pairs, dev))
    examples, held_out = Examples.of(pairs), _held_out(name, dev)
    seed_everything(task.request.seed)
    tower = _tower(folder_of(config.start, task.request), config, texts=(*examples.questions, *examples.answers))
    tower.model.to(device_of(config.device))
    training = Training(tower.model, optimiser(tower, config.bi), seed=task.request.seed)
    run = _run(task, name, training)
    reports = train_bi_encoder(training, tower, examples, config.bi, held_out=held_out)
    drive(run, training, reports, _counted_on(task, name))
    used = {"start": config.start, "bi": asdict(config.bi), "seed": task.request.seed}
    tower.save(folder, card=_card(task, f"Bi-encoder {name}", len(examples), training, used), made_with=used)
    run.finish(training, plots=task.request.plots, measure="development loss")
    return folder


def cross_encoder(task: Task, name: str, examples: LabelledPairs, held_out: LabelledPairs | None) -> Path:
    """The folder of a cross-encoder, trained where it is not there yet."""
    folder, config = task.out / name, task.config
    if _done(folder):
        return folder
    assert task.request.base is not None, "checked with the settings"
    seed_everything(task.request.seed)
    classifier = PairClassifier.of(task.request.base, config.cross)
    classifier.model.to(device_of(config.device))
    training = Training(classifier.model, pair_optimiser(classifier, config.tuning), seed=task.request.seed)
    run = _run(task, name, training)
    reports = train_pairs(training, classifier, examples, config.tuning, held_out=held_out)
    drive(run, training, reports, _counted_on(task, name))
    used = {"cross": asdict(config.cross), "tuning": asdict(config.tuning), "seed": task.request.seed}
    classifier.save(folder, card=_card(task, f"Cross-encoder {name}", len(examples), training, used))
    run.finish(training, plots=task.request.plots, measure="development loss")
    return folder


def finder(task: Task, folder: Path) -> Search:
    """Search of the whole collection with the bi-encoder in `folder`, by an index that finds what is nearest."""
    tower = _tower(folder, task.config)
    tower.model.to(device_of(task.config.device))
    answers = [answer[: task.letters] for answer in task.data.examples.answers]
    with tempfile.TemporaryDirectory() as scratch:
        index = build(Path(scratch), vectors(tower, answers, side="answer"), kind="exact")

    def search(queries: Sequence[str], k: int) -> tuple[FloatArray, IntArray]:
        return index.search(vectors(tower, queries, side="question"), k, exact=True)

    return search


def hits(task: Task, search: Search) -> Hits:
    """Of the test queries; one that finds nothing at all is wrong, and farther away than any."""
    first = {each.query: each for each in candidates(search, task.texts(task.data.test), 1)}
    right = {query: query in first and first[query].answer in task.data.right[query] for query in task.data.test}
    closeness = [first[query].closeness if query in first else -float("inf") for query in task.data.test]
    distances = squared_distances(np.array(closeness, dtype=np.float32))
    return Hits(Score.of({str(query): float(hit) for query, hit in right.items()}), tuple(distances.tolist()))


def opened(task: Task, folder: Path) -> PairClassifier:
    """A trained cross-encoder where it is to run."""
    classifier = PairClassifier.load(folder)
    classifier.model.to(device_of(task.config.device))
    return classifier


def folder_of(name: str, request: Request) -> Path:
    """The encoder that a setting names. Raises SettingsError where there is none."""
    if name == STARTER:
        return ENCODER
    if name == BASE:
        assert request.base is not None, "checked with the settings"
        if not (request.base / "modules.json").is_file():
            raise SettingsError(
                f"Expected a folder in sentence-transformers layout to start bi-encoders from, but {request.base} has "
                f"no modules.json; set start = '{STARTER}', or name such a folder."
            )
        return request.base
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise SettingsError(
            f"Expected `{STARTER}`, `{BASE}` or the folder of an encoder, but got {name!r}; correct the settings."
        )
    return folder


def _tower(folder: Path, config: AnnotateConfig, *, texts: Sequence[str] = ()) -> Tower:
    """The encoder in a folder; a static one gets a row for each word that is frequent in the texts."""
    if (folder / "modules.json").is_file():
        return TransformerTower.of(folder, config.transformer)
    if (folder / "vocabulary.txt").is_file():
        return WordTower.load(folder)
    return StaticTower.of(folder, texts, config.static)


def _held_out(name: str, dev: Sequence[Pair]) -> Examples | None:
    try:
        return Examples.of(dev)
    except ValueError:
        log.warning("Expected development pairs for %s, but got %d; its last weights are kept.", name, len(dev))
        return None


def _done(folder: Path) -> bool:
    return (folder / CURVE).is_file() and not TrainingRun(folder, {}).state.exists()


def _run(task: Task, name: str, training: Training) -> TrainingRun:
    """A model's run, gone on with where it was interrupted."""
    run = TrainingRun(task.out / name, {**task.identity, "model": name})
    if (run.state / IDENTITY).is_file():
        run.check()
        load_training(run.state, training)
    else:
        run.begin()
    return run


def _counted_on(task: Task, name: str) -> OnProgress:
    """Reports whose epochs are counted through all models."""
    before = 0
    for stage, epochs in stages(task.config):
        if stage == name:
            break
        before += epochs
    return lambda progress: task.on_progress(replace(progress, epoch=before + progress.epoch))


def _card(task: Task, title: str, pairs: int, training: Training, used: dict[str, object]) -> str:
    best = training.best
    told = f"{best.epoch} of {training.epoch}, development loss {best.dev:.4f}" if best else f"{training.epoch}"
    return f"""# {title}, of an annotation with qa-bot

| | |
| --- | --- |
| data | {", ".join(path.name for path in task.request.data)} |
| training pairs | {pairs:,} |
| seed | {task.request.seed} |
| epochs | {told} |

What the model is worth stands in `{PAGE}` beside its folder. The licence follows from that of the data and of what it
started from; see there.

## Settings

```json
{json.dumps(used, indent=2)}
```
"""
