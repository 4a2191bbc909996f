"""The systems of Wang (2018, tables 3.1 and 3.2): keywords, expansions, trained encoders, and fusions.

`hybrid` is the in-vocabulary rule over BM25 and the last trained row before it, `fused` is their reciprocal rank
fusion. `starter` and `starter-slam` are the shipped static encoder before and after training; the other trained rows
are BiLSTMs, whose E_pre comes from the starter encoder instead of fastText.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.text.analysis import terms, words
from qa_core.training.likelihood_training import optimiser as likelihood_optimiser
from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.evaluate.community.task import Ranked, Task, sampled
from retrievers.engines.index import KeywordQuery
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter
from retrievers.expansion import TermWeights, rm3
from retrievers.fusion import ScoredDocuments, in_vocabulary_rule, reciprocal_rank
from retrievers.training import query_expansion
from retrievers.training.encoders.static_tower import StaticConfig, StaticTower
from retrievers.training.encoders.trainable_encoders import counted, vectors
from retrievers.training.encoders.word_tower import CPU, WordConfig, WordTower
from retrievers.training.examples import Examples
from retrievers.training.query_expansion import expanded, expander_of, train_expander
from retrievers.training.search import nearest
from retrievers.training.slam import SlamConfig, optimiser, train_slam

DEPTH = 1000
FEEDBACK = 10  # documents that RM3 takes as relevant
UNIT = 2000  # pairs in a step

TRAINED = {
    "triplet": SlamConfig(loss="triplet", batch=21, triplet_negative="one"),
    "softmax-20": SlamConfig(loss="softmax", batch=21, negatives=20),
    "slam-20": SlamConfig(batch=21),
    "slam-200": SlamConfig(batch=201),
    "slam-2000": SlamConfig(batch=2001),
}
STATIC = {"starter": None, "starter-slam": SlamConfig(batch=2001)}
FUSED = ("hybrid", "fused")
ROWS = ("bm25", "rm3", "nmt", *TRAINED, *STATIC, *FUSED)

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Options:
    """Sizes of the trained rows."""

    steps: int = 300  # of each trained row
    equal: Literal["steps", "pairs"] = "steps"  # pairs: `UNIT` per step, small batches in more steps
    hidden: int = CPU.hidden  # of the BiLSTM, per direction
    tokens: int = CPU.max_tokens  # words of a text that are read
    rate: float = 1e-3  # learning rate of the towers
    pretrained: Literal["starter", "none"] = "starter"  # E_pre
    seed: int = 0
    device: str = "cpu"  # a name of torch
    words: WordConfig = CPU  # other sizes of the BiLSTM
    expansion: query_expansion.ExpanderConfig = query_expansion.SMALL


class Bench:
    """Resources that rows share, created on demand."""

    def __init__(self, task: Task, options: Options, folder: Path) -> None:
        self.task, self.options, self.folder = task, options, folder
        self.tower: WordTower | StaticTower | None = None  # of the last dense row
        self.dense: Ranked = []
        self.dense_name = ""

    @cached_property
    def index(self) -> KeywordIndex:
        path = self.folder / "keyword"
        with KeywordWriter(path) as writer:
            writer.add(Entry(number, number, "", text) for number, text in enumerate(self.task.test.answers))
        return KeywordIndex(path)

    @cached_property
    def keyword(self) -> Ranked:
        return self.search([tuple((term, 1.0) for term in terms(text)) for text in self.task.questions])

    @cached_property
    def pretrained(self) -> WordVectors | None:
        if self.options.pretrained == "none":
            return None
        known = list(counted((*self.task.train.questions, *self.task.train.answers)))
        return WordVectors(tuple(known), StaticEncoder.load(ENCODER).encode(known))

    def search(self, queries: Sequence[TermWeights]) -> Ranked:
        return [self.index.search(KeywordQuery(query), DEPTH).passages.tolist() for query in queries]

    def training_data(self, batch: int = UNIT) -> tuple[Examples, int]:
        """Examples and epochs for a row with batches of this size, closest to the pairs that it should see."""
        train, steps = self.task.train, self.options.steps
        count = steps * (batch if self.options.equal == "steps" else UNIT)
        if count >= len(train):
            return train, round(count / len(train))
        return Examples.of(sampled(self.task.pairs, count, self.options.seed)), 1


def by_feedback(bench: Bench) -> Ranked:
    answers = [terms(text) for text in bench.task.test.answers]
    queries = []
    for question in bench.task.questions:
        query = terms(question)
        first = bench.index.search(KeywordQuery(tuple((term, 1.0) for term in query)), FEEDBACK)
        scored = zip(first.passages.tolist(), first.scores.tolist(), strict=True)
        queries.append(rm3(query, [(answers[row], score) for row, score in scored]))
    return bench.search(queries)


def by_translation(bench: Bench, on_progress: OnProgress) -> Ranked:
    """Questions expanded by an encoder-decoder that translates them into answers."""
    small = bench.options.expansion
    examples, epochs = bench.training_data(small.training.batch)
    config = replace(small, training=replace(small.training, epochs=epochs))
    seed_everything(bench.options.seed)
    translator = expander_of(bench.task.train, config)
    translator.model.to(bench.options.device)
    training = Training(translator.model, likelihood_optimiser(translator, config.training), seed=bench.options.seed)
    for progress in train_expander(training, translator, examples, config, held_out=bench.task.dev):
        on_progress(progress)
    return bench.search(expanded(translator, bench.task.questions, config.expansion))


def by_vectors(bench: Bench, config: SlamConfig, on_progress: OnProgress) -> Ranked:
    """Exact search by a trained BiLSTM; all BiLSTMs start from the same weights."""
    options, task = bench.options, bench.task
    seed_everything(options.seed)
    texts = (*task.train.questions, *task.train.answers)
    shape = replace(options.words, hidden=options.hidden, output=2 * options.hidden, max_tokens=options.tokens)
    return by_tower(WordTower.of("bilstm", texts, shape, pretrained=bench.pretrained), config, bench, on_progress)


def by_static(bench: Bench, config: SlamConfig | None, on_progress: OnProgress) -> Ranked:
    """Exact search by the starter encoder."""
    seed_everything(bench.options.seed)
    texts = (*bench.task.train.questions, *bench.task.train.answers)
    shape = StaticConfig(max_tokens=bench.options.tokens)
    return by_tower(StaticTower.of(ENCODER, texts, shape), config, bench, on_progress)


def by_tower(
    tower: WordTower | StaticTower, config: SlamConfig | None, bench: Bench, on_progress: OnProgress
) -> Ranked:
    """Exact search by a tower, trained if there is a configuration."""
    options, task = bench.options, bench.task
    tower.model.to(options.device)
    if config is not None:
        examples, epochs = bench.training_data(config.batch)
        config = replace(config, epochs=epochs, patience=epochs, learning_rate=options.rate, clip=5.0)
        training = Training(tower.model, optimiser(tower, config), seed=options.seed)
        for progress in train_slam(training, tower, examples, config, held_out=task.dev):
            on_progress(progress)
    bench.tower = tower
    queries = vectors(tower, task.questions, side="question")
    return nearest(queries, vectors(tower, task.test.answers, side="answer"), DEPTH)


def by_both(name: str, bench: Bench) -> Ranked:
    """The fusion of BM25 and the last dense row."""
    ranked = []
    known = in_vocabulary(bench)
    for number, *lists in zip(bench.task.queries, bench.dense, bench.keyword, strict=True):
        dense, keyword = (ScoredDocuments.of(rows, -np.arange(len(rows))) for rows in lists)
        if name == "hybrid":
            fused = in_vocabulary_rule(dense, keyword, DEPTH, in_vocabulary=number in known)
        else:
            fused = reciprocal_rank([dense, keyword])
        ranked.append(fused.documents[:DEPTH].tolist())
    return ranked


def in_vocabulary(bench: Bench) -> set[int]:
    """Questions whose words the tower knows."""
    assert bench.tower is not None
    known = set(bench.tower.known)
    pairs = zip(bench.task.queries, bench.task.questions, strict=True)
    return {number for number, text in pairs if known.issuperset(words(text))}


def ranked_by(name: str, bench: Bench, on_progress: OnProgress) -> Ranked:
    match name:
        case "bm25":
            return bench.keyword
        case "rm3":
            return by_feedback(bench)
        case "nmt":
            return by_translation(bench, on_progress)
        case "hybrid" | "fused":
            return by_both(name, bench)
    if name in STATIC:
        bench.dense = by_static(bench, STATIC[name], on_progress)
    else:
        bench.dense = by_vectors(bench, TRAINED[name], on_progress)
    bench.dense_name = name
    return bench.dense
