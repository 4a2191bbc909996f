"""Community retrieval as in Wang (2018, tables 3.1 and 3.2): search for the answers of held-out questions.

    python benchmarks/community_retrieval.py --data DIR [--limit PAIRS] [--steps N] [--rows NAME,…] [--json]

`hybrid` is the in-vocabulary rule over BM25 and the last trained row before it, `fused` is their reciprocal rank
fusion. `starter` and `starter-slam` are the shipped static encoder before and after training; the other trained rows
are BiLSTMs.

A hash of the question holds out a tenth for the test and a fiftieth to select the best epoch. The candidates are the
distinct answers of the test questions. All trained rows take `--steps` steps; a row with |T| negatives has batches of
|T| + 1. With `--equal pairs`, all rows see as many pairs as in batches of 2,000, small batches in more steps. E_pre
comes from the starter encoder instead of fastText. Only a temporary folder is written.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from community_report import MEASURES, Line, by_parts, row_json, table

from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.measures.metrics import Score, evaluate
from qa_core.measures.runs import run_of
from qa_core.text.analysis import terms, words
from qa_core.training.likelihood_training import optimiser as likelihood_optimiser
from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.train.data.pairs import read_pairs, split
from retrievers.engines.index import KeywordQuery
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter
from retrievers.expansion import TermWeights, rm3
from retrievers.fusion import ScoredDocuments, in_vocabulary_rule, reciprocal_rank
from retrievers.training import query_expansion
from retrievers.training.encoders.static_tower import StaticConfig, StaticTower
from retrievers.training.encoders.trainable_encoders import counted, vectors
from retrievers.training.encoders.word_tower import CPU, WordTower
from retrievers.training.examples import Examples, Pair
from retrievers.training.query_expansion import expanded, expander_of, train_expander
from retrievers.training.search import nearest
from retrievers.training.slam import SlamConfig, optimiser, train_slam

SETS = (
    "qa_pairs/open_qa.jsonl.gz",
    "qa_pairs/opentriviaqa.jsonl.gz",
    "qa_pairs/squad_sentences.jsonl.gz",
    "qa_pairs/medical_forum.jsonl.gz",
    "medquad/medquad.zip",
)
DEPTH = 1000
FEEDBACK = 10  # documents that RM3 takes as relevant
BLOCK = 500  # questions measured at a time
UNIT = 2000  # pairs in a step of `--steps`

TRAINED = {
    "triplet": SlamConfig(loss="triplet", batch=21),
    "softmax-20": SlamConfig(loss="softmax", batch=21, negatives=20),
    "slam-20": SlamConfig(batch=21),
    "slam-200": SlamConfig(batch=201),
    "slam-2000": SlamConfig(batch=2001),
}
STATIC = {"starter": None, "starter-slam": SlamConfig(batch=2001)}
FUSED = ("hybrid", "fused")
ROWS = ("bm25", "rm3", "nmt", *TRAINED, *STATIC, *FUSED)

Ranked = list[list[int]]
"""Candidates of each question, best first."""

OnProgress = Callable[[Progress], None]


class Task:
    """Training pairs, and held-out questions with their candidates."""

    def __init__(self, pairs: Sequence[Pair], *, queries: int, seed: int) -> None:
        rest, test = split(pairs, 0.1)
        self.pairs, dev = split(rest, 0.12)  # by the same hash: a fiftieth of all
        self.train, self.dev, self.test = Examples.of(self.pairs), Examples.of(dev), Examples.of(test)
        order = np.random.default_rng(seed).permutation(len(self.test.questions))
        self.queries = sorted(order[:queries].tolist())

    @cached_property
    def questions(self) -> list[str]:
        return [self.test.questions[number] for number in self.queries]

    def measured(self, ranked: Ranked) -> dict[str, Score]:
        """Every measure, computed in blocks of questions to save memory."""
        right = self.test.right()
        values: dict[str, dict[str, float]] = {measure: {} for measure in MEASURES}
        for start in range(0, len(self.queries), BLOCK):
            numbers = self.queries[start : start + BLOCK]
            qrels = {str(number): {str(answer): 1 for answer in right[number]} for number in numbers}
            lists = zip(numbers, ranked[start : start + BLOCK], strict=True)
            run = run_of({str(number): list(map(str, answers)) for number, answers in lists})
            for measure, score in evaluate(qrels, run, MEASURES).items():
                values[measure].update(score.per_query)
        return {measure: Score.of(per_query) for measure, per_query in values.items()}


class Bench:
    """Resources that rows share, created on demand."""

    def __init__(self, task: Task, options: argparse.Namespace, folder: Path) -> None:
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
    small = query_expansion.SMALL
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
    shape = replace(CPU, hidden=options.hidden, output=2 * options.hidden, max_tokens=options.tokens)
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


def line(name: str, bench: Bench) -> Line:
    """Compute a row, with progress on standard error."""
    seen: list[Progress] = []

    def on_progress(progress: Progress) -> None:
        seen.append(progress)
        if progress.dev is not None:
            figures = f"epoch {progress.epoch}, loss {progress.loss:.3f}, dev {progress.dev:.3f}"
            print(f"{name}: {figures}, {progress.examples_per_second:.0f} pairs/s", file=sys.stderr)  # noqa: T201 (a tool run by hand)

    with peak_memory() as peak:
        start = time.perf_counter()
        ranked = ranked_by(name, bench, on_progress)
        seconds = time.perf_counter() - start
    rate = float(np.mean([p.examples_per_second for p in seen])) if seen else None
    best = max((p.epoch for p in seen if p.best), default=0)
    return Line(name, bench.task.measured(ranked), seconds, rate, peak[0] // 1024, best)


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """Peak anonymous memory of this process in kB; 0 if the system does not report it."""
    peak, over, status = [0], threading.Event(), Path("/proc/self/status")

    def watch() -> None:
        while status.exists() and not over.wait(0.05):
            peak[0] = max(peak[0], int(status.read_text().split("RssAnon:")[1].split()[0]))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def by_vocabulary(lines: Sequence[Line], bench: Bench) -> str:
    """R@1000 and MRR of BM25, the last dense row and their fusions, by whether all words are known."""
    known = {str(number) for number in in_vocabulary(bench)}
    every = set(map(str, bench.task.queries))
    shown = [row for row in lines if row.name in ("bm25", bench.dense_name, *FUSED)]
    return by_parts(shown, {"in vocabulary": known, "out of it": every - known, "all": every}, "R@1000")


def by_overlap(lines: Sequence[Line], task: Task) -> str:
    """R@100 and MRR by the share of the words of a question that its answers contain."""
    right = task.test.right()
    parts: dict[str, set[str]] = {"no common word": set(), "under half": set(), "half or more": set()}
    for number in task.queries:
        query = set(terms(task.test.questions[number]))
        shared = max(len(query & set(terms(task.test.answers[answer]))) for answer in right[number])
        part = "no common word" if not shared else "under half" if 2 * shared < len(query) else "half or more"
        parts[part].add(str(number))
    return by_parts(lines, parts, "R@100")


def as_json(lines: Sequence[Line], bench: Bench) -> str:
    task, options = bench.task, bench.options
    known = {str(number) for number in in_vocabulary(bench)} if bench.tower else set()
    unknown = set(map(str, task.queries)) - known
    summary = {
        "pairs": {"train": len(task.train), "dev": len(task.dev), "test": len(task.test)},
        "queries": len(task.queries),
        "in_vocabulary": len(known),
        "candidates": len(task.test.answers),
        "options": {name: str(value) for name, value in vars(options).items()},
        "machine": platform.processor() or platform.machine(),
        "rows": [row_json(row, known, unknown) for row in lines],
    }
    return json.dumps(summary, indent=2)


def sampled(pairs: Sequence[Pair], limit: int | None, seed: int) -> list[Pair]:
    """At most `limit` random pairs, in the order of the data."""
    if limit is None or limit >= len(pairs):
        return list(pairs)
    chosen = np.random.default_rng(seed).choice(len(pairs), limit, replace=False)
    return [pairs[row] for row in sorted(chosen.tolist())]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Community retrieval as in Wang (2018).")
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--sets", default=",".join(SETS), help="its files, separated by commas")
    parser.add_argument("--limit", type=int, help="pairs, drawn from all sets")
    parser.add_argument("--queries", type=int, default=5000, help="held-out questions, at most")
    parser.add_argument("--steps", type=int, default=300, help="per trained row")
    parser.add_argument("--equal", choices=("steps", "pairs"), default="steps", help=f"pairs: {UNIT:,} per step")
    parser.add_argument("--hidden", type=int, default=CPU.hidden, help="of the BiLSTM, per direction")
    parser.add_argument("--tokens", type=int, default=CPU.max_tokens, help="words of a text that are read")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate of the towers")
    parser.add_argument("--pretrained", choices=("starter", "none"), default="starter", help="E_pre")
    parser.add_argument("--rows", default=",".join(ROWS), help="separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    options.rows = options.rows.split(",")
    if unknown := [name for name in options.rows if name not in ROWS]:
        parser.error(f"expected rows among {', '.join(ROWS)}, but got {', '.join(unknown)}")
    towers = TRAINED.keys() | STATIC.keys()
    for fused in set(FUSED).intersection(options.rows):
        if not towers.intersection(options.rows[: options.rows.index(fused)]):
            parser.error(f"expected a dense row ({', '.join(sorted(towers))}) before {fused}, but got none")
    return options


def main() -> None:
    options = parsed()
    torch.set_num_threads(options.threads)
    read = read_pairs([options.data / name for name in options.sets.split(",")])
    task = Task(sampled(read.examples, options.limit, options.seed), queries=options.queries, seed=options.seed)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(task, options, Path(folder))
        lines = [line(name, bench) for name in options.rows]
    if options.json:
        print(as_json(lines, bench))  # noqa: T201 (a tool run by hand)
        return
    print(  # noqa: T201 (a tool run by hand)
        f"{len(task.train):,} training pairs, {len(task.dev):,} for selection; {len(task.queries):,} questions, "
        f"{len(task.test.answers):,} candidates; equal {options.equal}, seed {options.seed}\n"
    )
    print(table(lines))  # noqa: T201 (a tool run by hand)
    if bench.tower is not None:
        print(f"\n{by_vocabulary(lines, bench)}")  # noqa: T201 (a tool run by hand)
    print(f"\n{by_overlap(lines, task)}")  # noqa: T201 (a tool run by hand)


if __name__ == "__main__":
    main()
