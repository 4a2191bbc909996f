"""Models of `train annotate`: each is trained unless its folder exists, opened, and measured."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.encoders.sentence_layout import is_transformer
from qa_core.measures.metrics import Score
from qa_core.training.loop import Training, seed_everything
from qa_core.training.pair_classifier import LabelledPairs, PairClassifier, train_pairs
from qa_core.training.pair_classifier import optimiser as pair_optimiser
from qa_core.types import FloatArray, IntArray
from qa_lab.errors import SettingsError
from qa_lab.train.card import card_text
from qa_lab.train.request import Request
from qa_lab.train.retrieval.annotation_data import Matching
from qa_lab.train.retrieval.annotation_settings import BASE, AnnotateConfig, stages
from qa_lab.train.settings import device_of
from qa_lab.train.training_run import CURVE, TrainingRun, drive
from qa_lab.train.verb import Job, OnProgress
from retrievers.engines.local.dense_writer import build
from retrievers.training.annotation import Retrieved, Search, candidates, squared_distances
from retrievers.training.bi_encoder import optimiser, train_bi_encoder
from retrievers.training.encoders.static_tower import StaticTower
from retrievers.training.encoders.trainable_encoders import Tower, vectors
from retrievers.training.encoders.transformer_tower import TransformerTower
from retrievers.training.encoders.word_tower import WordTower
from retrievers.training.examples import Examples, Pair

log = logging.getLogger(__name__)

PAGE = "comparison.md"
LETTERS = 8
"""Characters of an answer that are read for each token that counts; long answers would take most of the time."""


@dataclass(frozen=True, slots=True)
class Task:
    """A job and its data, which all steps share."""

    job: Job[AnnotateConfig]
    data: Matching

    @property
    def request(self) -> Request:
        return self.job.request

    @property
    def config(self) -> AnnotateConfig:
        return self.job.settings

    @property
    def out(self) -> Path:
        return self.request.out

    @property
    def identity(self) -> dict[str, object]:
        """What must be equal for a saved run to be resumed."""
        sizes = {"queries": len(self.data.texts), "answers": len(self.data.examples.answers)}
        return self.job.identity(**sizes, base=self.request.base_path, dev=self.request.dev)

    @property
    def letters(self) -> int:
        return LETTERS * max(self.config.static.max_tokens, self.config.transformer.max_tokens)

    def texts(self, queries: Iterable[int]) -> dict[int, str]:
        return {query: self.data.texts[query] for query in queries}

    def pairs(self, matches: Iterable[Retrieved]) -> list[Pair]:
        return [Pair(self.data.texts[match.query], self.data.examples.answers[match.answer]) for match in matches]

    def known_pairs(self, queries: Iterable[int]) -> list[Pair]:
        texts, answers, right = self.data.texts, self.data.examples.answers, self.data.right
        return [Pair(texts[query], answers[answer]) for query in queries for answer in sorted(right[query])]


@dataclass(frozen=True, slots=True)
class Hits:
    """Test queries whose first result is right, and the distances of the first results."""

    accuracy: Score
    distances: tuple[float, ...]  # squared, of vectors of unit length

    @property
    def right(self) -> list[bool]:
        return [value == 1 for value in self.accuracy.per_query.values()]


def bi_encoder(task: Task, name: str, pairs: Sequence[Pair], dev: Sequence[Pair]) -> Path:
    """The folder of a bi-encoder, trained unless it exists. Raises ValueError if all pairs have one answer."""
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
    """The folder of a cross-encoder, trained unless it exists."""
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
    """Exact search of the whole collection with the bi-encoder in `folder`."""
    tower = _tower(folder, task.config)
    tower.model.to(device_of(task.config.device))
    answers = [answer[: task.letters] for answer in task.data.examples.answers]
    with tempfile.TemporaryDirectory() as scratch:
        index = build(Path(scratch), vectors(tower, answers, side="answer"), kind="exact")

    def search(queries: Sequence[str], k: int) -> tuple[FloatArray, IntArray]:
        return index.search(vectors(tower, queries, side="question"), k, exact=True)

    return search


def hits(task: Task, search: Search) -> Hits:
    """Hits of the test queries; a query without results is wrong, at an infinite distance."""
    first = {match.query: match for match in candidates(search, task.texts(task.data.test), 1)}
    right = {query: query in first and first[query].answer in task.data.right[query] for query in task.data.test}
    closeness = [first[query].closeness if query in first else -float("inf") for query in task.data.test]
    distances = squared_distances(np.array(closeness, dtype=np.float32))
    return Hits(Score.of({str(query): float(hit) for query, hit in right.items()}), tuple(distances.tolist()))


def opened(task: Task, folder: Path) -> PairClassifier:
    """A trained cross-encoder on its device."""
    classifier = PairClassifier.load(folder)
    classifier.model.to(device_of(task.config.device))
    return classifier


def folder_of(name: str, request: Request) -> Path:
    """The folder of the encoder that a setting names. Raises SettingsError if it does not exist."""
    if name == STARTER:
        return ENCODER
    if name == BASE:
        assert request.base is not None, "checked with the settings"
        if not is_transformer(request.base):
            raise SettingsError(
                f"Expected a transformer to start bi-encoders from, in sentence-transformers or Hugging Face layout, "
                f"but {request.base} has neither modules.json nor a config.json with 'model_type'; set start = "
                f"'{STARTER}', or name such a folder."
            )
        return request.base
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise SettingsError(
            f"Expected `{STARTER}`, `{BASE}` or the folder of an encoder, but got {name!r}; correct the settings."
        )
    return folder


def _tower(folder: Path, config: AnnotateConfig, *, texts: Sequence[str] = ()) -> Tower:
    """The encoder in a folder; a static one gets a row for each frequent word of the texts."""
    if is_transformer(folder):
        return TransformerTower.of(folder, config.transformer)
    if (folder / "vocabulary.txt").is_file():
        return WordTower.load(folder)
    return StaticTower.of(folder, texts, config.static)


def _held_out(name: str, dev: Sequence[Pair]) -> Examples | None:
    try:
        return Examples.of(dev)
    except ValueError:
        log.warning("Expected development pairs for %s, but got %d; the last weights are kept.", name, len(dev))
        return None


def _done(folder: Path) -> bool:
    return (folder / CURVE).is_file() and not TrainingRun(folder, {}).state.exists()


def _run(task: Task, name: str, training: Training) -> TrainingRun:
    """The run of one model, resumed if it was interrupted."""
    run = TrainingRun(task.out / name, {**task.identity, "model": name})
    run.start(training, resume=run.saved)
    return run


def _counted_on(task: Task, name: str) -> OnProgress:
    """Reports progress with epochs counted over all models."""
    before = 0
    for stage, epochs in stages(task.config):
        if stage == name:
            break
        before += epochs
    return lambda progress: task.job.on_progress(replace(progress, epoch=before + progress.epoch))


def _card(task: Task, title: str, pairs: int, training: Training, used: dict[str, object]) -> str:
    best = training.best
    epochs = f"{best.epoch} of {training.epoch}, development loss {best.dev:.4f}" if best else f"{training.epoch}"
    facts = {
        "data": task.request.data_names,
        "training pairs": f"{pairs:,}",
        "seed": task.request.seed,
        "epochs": epochs,
    }
    text = f"""`{PAGE}` beside its folder compares the model with the others. The licence follows from that of the
data and of the model it started from; see there."""
    return card_text(f"{title}, of an annotation with qa-bot", facts, text, used)
