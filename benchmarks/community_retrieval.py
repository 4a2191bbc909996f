"""Community retrieval as in the thesis (tables 3.1 and 3.2): held-out questions look for their answers.

    python benchmarks/community_retrieval.py --data DIR [--limit PAIRS] [--steps N] [--rows NAME,…] [--json]

`hybrid` is the thesis' in-vocabulary rule over BM25 and the last trained row before it, `fused` both by reciprocal
rank; `starter` and `starter-slam` are the shipped static encoder as it is and trained, beside the thesis' BiLSTM.

A hash of the question decides what is held out: a tenth for the test, a fiftieth to keep the best epoch by. The
candidates are the distinct answers of the held-out questions. All trained rows take `--steps` steps, a row with |T|
negatives in batches of |T| + 1; with `--equal pairs` they see as many pairs as batches of 2,000 would, small batches in
more steps. E_pre is the starter encoder's, for want of fastText. Nothing is written but into a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

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
from retrievers.engines.local.keyword import (
    Entry,
    KeywordIndex,
    KeywordWriter,
)
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
MEASURES = ("Success@1", "RR@1000", "R@10", "R@100", "R@1000")
NAMES = ("S@1", "MRR@1K", "R@10", "R@100", "R@1K")
DEPTH = 1000
FEEDBACK = 10  # documents that RM3 takes for relevant
BLOCK = 500  # questions measured at a time
UNIT = 2000  # pairs of a step of `--steps`

TRAINED = {
    "triplet": SlamConfig(loss="triplet", batch=21),
    "softmax-20": SlamConfig(loss="softmax", batch=21, negatives=20),
    "slam-20": SlamConfig(batch=21),
    "slam-200": SlamConfig(batch=201),
    "slam-2000": SlamConfig(batch=2001),
}
STATIC = {"starter": None, "starter-slam": SlamConfig(batch=2001)}
JOINED = ("hybrid", "fused")
ROWS = ("bm25", "rm3", "nmt", *TRAINED, *STATIC, *JOINED)

Found = list[list[int]]
"""For each question the candidates, best first."""

Watched = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table."""

    name: str
    scores: Mapping[str, Score]
    seconds: float  # training included
    pairs_a_second: float | None = None  # while training
    peak_mb: int = 0  # anonymous memory of the process, at most
    best_epoch: int = 0

    def mean(self, measure: str, queries: Collection[str] | None = None) -> float:
        values = self.scores[measure].per_query
        return float(np.mean([values[query] for query in (values if queries is None else queries)]))


class Task:
    """Held-out questions and what may answer them; pairs to learn from."""

    def __init__(self, pairs: Sequence[Pair], *, queries: int, seed: int) -> None:
        kept, test = split(pairs, 0.1)
        kept, dev = split(kept, 0.12)  # of the same hash: a fiftieth of all
        self.kept = kept
        self.train, self.dev, self.test = Examples.of(kept), Examples.of(dev), Examples.of(test)
        order = np.random.default_rng(seed).permutation(len(self.test.questions))
        self.asked = sorted(order[:queries].tolist())

    @cached_property
    def questions(self) -> list[str]:
        return [self.test.questions[number] for number in self.asked]

    def measured(self, found: Found) -> dict[str, Score]:
        """Every measure, a block of questions at a time, so that memory stays small."""
        right = self.test.right()
        values: dict[str, dict[str, float]] = {measure: {} for measure in MEASURES}
        for start in range(0, len(self.asked), BLOCK):
            numbers = self.asked[start : start + BLOCK]
            qrels = {str(number): {str(answer): 1 for answer in right[number]} for number in numbers}
            lists = zip(numbers, found[start : start + BLOCK], strict=True)
            run = run_of({str(number): list(map(str, answers)) for number, answers in lists})
            for measure, score in evaluate(qrels, run, MEASURES).items():
                values[measure].update(score.per_query)
        return {measure: Score.of(per_query) for measure, per_query in values.items()}


class Bench:
    """What the rows share, made when the first of them asks for it."""

    def __init__(self, task: Task, options: argparse.Namespace, folder: Path) -> None:
        self.task, self.options, self.folder = task, options, folder
        self.tower: WordTower | StaticTower | None = None  # of the last row that has one
        self.dense: Found = []
        self.dense_name = ""

    @cached_property
    def index(self) -> KeywordIndex:
        path = self.folder / "keyword"
        with KeywordWriter(path) as writer:
            writer.add(Entry(number, number, "", text) for number, text in enumerate(self.task.test.answers))
        return KeywordIndex(path)

    @cached_property
    def keyword(self) -> Found:
        return self.searched([tuple((term, 1.0) for term in terms(text)) for text in self.task.questions])

    @cached_property
    def pretrained(self) -> WordVectors | None:
        if self.options.pretrained == "none":
            return None
        known = list(counted((*self.task.train.questions, *self.task.train.answers)))
        return WordVectors(tuple(known), StaticEncoder.load(ENCODER).encode(known))

    def searched(self, queries: Sequence[TermWeights]) -> Found:
        return [self.index.search(KeywordQuery(query), DEPTH).passages.tolist() for query in queries]

    def lessons(self, batch: int = UNIT) -> tuple[Examples, int]:
        """What a row of such batches learns from, and epochs: they come nearest to the pairs that it is to see."""
        train, steps = self.task.train, self.options.steps
        wanted = steps * (batch if self.options.equal == "steps" else UNIT)
        if wanted >= len(train):
            return train, round(wanted / len(train))
        return Examples.of(sampled(self.task.kept, wanted, self.options.seed)), 1


def by_feedback(bench: Bench) -> Found:
    answers = [terms(text) for text in bench.task.test.answers]
    queries = []
    for question in bench.task.questions:
        own = terms(question)
        first = bench.index.search(KeywordQuery(tuple((term, 1.0) for term in own)), FEEDBACK)
        scored = zip(first.passages.tolist(), first.scores.tolist(), strict=True)
        queries.append(rm3(own, [(answers[place], score) for place, score in scored]))
    return bench.searched(queries)


def by_translation(bench: Bench, watched: Watched) -> Found:
    """Questions expanded by an encoder-decoder that learned to translate them into answers."""
    small = query_expansion.SMALL
    examples, epochs = bench.lessons(small.training.batch)
    config = replace(small, training=replace(small.training, epochs=epochs))
    seed_everything(bench.options.seed)
    translator = expander_of(bench.task.train, config)
    translator.model.to(bench.options.device)
    training = Training(translator.model, likelihood_optimiser(translator, config.training), seed=bench.options.seed)
    for progress in train_expander(training, translator, examples, config, held_out=bench.task.dev):
        watched(progress)
    return bench.searched(expanded(translator, bench.task.questions, config.expansion))


def by_vectors(bench: Bench, config: SlamConfig, watched: Watched) -> Found:
    """A BiLSTM tower, trained from the same first weights as every other, and exact search."""
    options, task = bench.options, bench.task
    seed_everything(options.seed)
    texts = (*task.train.questions, *task.train.answers)
    shape = replace(CPU, hidden=options.hidden, output=2 * options.hidden, max_tokens=options.tokens)
    return trained(WordTower.of("bilstm", texts, shape, pretrained=bench.pretrained), config, bench, watched)


def by_static(bench: Bench, config: SlamConfig | None, watched: Watched) -> Found:
    """The starter encoder's table."""
    seed_everything(bench.options.seed)
    texts = (*bench.task.train.questions, *bench.task.train.answers)
    shape = StaticConfig(max_tokens=bench.options.tokens)
    return trained(StaticTower.of(ENCODER, texts, shape), config, bench, watched)


def trained(tower: WordTower | StaticTower, config: SlamConfig | None, bench: Bench, watched: Watched) -> Found:
    """Exact search by a tower, after training where there is a configuration for it."""
    options, task = bench.options, bench.task
    tower.model.to(options.device)
    if config is not None:
        examples, epochs = bench.lessons(config.batch)
        config = replace(config, epochs=epochs, patience=epochs, learning_rate=options.rate, clip=5.0)
        training = Training(tower.model, optimiser(tower, config), seed=options.seed)
        for progress in train_slam(training, tower, examples, config, held_out=task.dev):
            watched(progress)
    bench.tower = tower
    asked = vectors(tower, task.questions, side="question")
    return nearest(asked, vectors(tower, task.test.answers, side="answer"), DEPTH)


def by_both(name: str, bench: Bench) -> Found:
    """BM25 and the last tower, joined."""
    found = []
    known = in_vocabulary(bench)
    for number, *lists in zip(bench.task.asked, bench.dense, bench.keyword, strict=True):
        dense, keyword = (ScoredDocuments.of(each, -np.arange(len(each))) for each in lists)
        joined = (
            in_vocabulary_rule(dense, keyword, DEPTH, in_vocabulary=number in known)
            if name == "hybrid"
            else reciprocal_rank([dense, keyword])
        )
        found.append(joined.documents[:DEPTH].tolist())
    return found


def in_vocabulary(bench: Bench) -> set[int]:
    """Questions of which the tower knows every word."""
    assert bench.tower is not None
    known = set(bench.tower.known)
    pairs = zip(bench.task.asked, bench.task.questions, strict=True)
    return {number for number, text in pairs if known.issuperset(words(text))}


def found_by(name: str, bench: Bench, watched: Watched) -> Found:
    match name:
        case "bm25":
            return bench.keyword
        case "rm3":
            return by_feedback(bench)
        case "nmt":
            return by_translation(bench, watched)
        case "hybrid" | "fused":
            return by_both(name, bench)
    bench.dense = (
        by_static(bench, STATIC[name], watched) if name in STATIC else by_vectors(bench, TRAINED[name], watched)
    )
    bench.dense_name = name
    return bench.dense


def line(name: str, bench: Bench) -> Line:
    """Make a row, telling how it goes on the standard error."""
    seen: list[Progress] = []

    def watched(progress: Progress) -> None:
        seen.append(progress)
        if progress.dev is not None:
            told = f"epoch {progress.epoch}, loss {progress.loss:.3f}, dev {progress.dev:.3f}"
            print(f"{name}: {told}, {progress.examples_per_second:.0f} pairs/s", file=sys.stderr)  # noqa: T201 (a tool run by hand)

    with peak_memory() as peak:
        start = time.perf_counter()
        found = found_by(name, bench, watched)
        seconds = time.perf_counter() - start
    rate = float(np.mean([p.examples_per_second for p in seen])) if seen else None
    best = max((p.epoch for p in seen if p.best), default=0)
    return Line(name, bench.task.measured(found), seconds, rate, peak[0] // 1024, best)


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """The most anonymous memory of this process while it lasts, in kB; 0 where the system does not tell."""
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


def table(lines: Sequence[Line]) -> str:
    head = ["", *NAMES, "pairs/s", "s", "MB"]
    rows = [
        [
            each.name,
            *(f"{each.mean(measure):.3f}" for measure in MEASURES),
            f"{each.pairs_a_second:,.0f}" if each.pairs_a_second else "",
            f"{each.seconds:,.0f}",
            f"{each.peak_mb:,}",
        ]
        for each in lines
    ]
    return markdown(head, rows)


def by_vocabulary(lines: Sequence[Line], bench: Bench) -> str:
    """R@1000 and MRR of the last tower, BM25 and both, for questions of known words only, for others, and for all."""
    known = {str(number) for number in in_vocabulary(bench)}
    everything = set(map(str, bench.task.asked))
    shown = [each for each in lines if each.name in ("bm25", bench.dense_name, *JOINED)]
    return by_parts(shown, {"in vocabulary": known, "out of it": everything - known, "all": everything}, "R@1000")


def by_overlap(lines: Sequence[Line], task: Task) -> str:
    """R@100 and MRR by how many of a question's words its answers have: none, less than half, half or more."""
    right = task.test.right()
    parts: dict[str, set[str]] = {"no common word": set(), "under half": set(), "half or more": set()}
    for number in task.asked:
        asked = set(terms(task.test.questions[number]))
        shared = max(len(asked & set(terms(task.test.answers[answer]))) for answer in right[number])
        parts["no common word" if not shared else "under half" if 2 * shared < len(asked) else "half or more"].add(
            str(number)
        )
    return by_parts(lines, parts, "R@100")


def by_parts(lines: Sequence[Line], parts: Mapping[str, Collection[str]], measure: str) -> str:
    """A recall and MRR for parts of the questions."""
    short = measure.replace("000", "K")
    head = ["", *(f"{name} ({len(part):,}): {short}, MRR@1K" for name, part in parts.items())]
    rows = [
        [
            each.name,
            *(f"{each.mean(measure, p):.3f}, {each.mean('RR@1000', p):.3f}" if p else "" for p in parts.values()),
        ]
        for each in lines
    ]
    return markdown(head, rows)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def as_json(lines: Sequence[Line], bench: Bench) -> str:
    task, options = bench.task, bench.options
    known = {str(number) for number in in_vocabulary(bench)} if bench.tower else set()
    unknown = set(map(str, task.asked)) - known
    told = {
        "pairs": {"train": len(task.train), "dev": len(task.dev), "test": len(task.test)},
        "queries": len(task.asked),
        "in_vocabulary": len(known),
        "candidates": len(task.test.answers),
        "options": {name: str(value) for name, value in vars(options).items()},
        "machine": platform.processor() or platform.machine(),
        "rows": [
            {
                "name": each.name,
                **{measure: each.mean(measure) for measure in MEASURES},
                **{f"{measure}_se": each.scores[measure].standard_error for measure in MEASURES},
                **({f"{measure}_in_vocabulary": each.mean(measure, known) for measure in MEASURES} if known else {}),
                **(
                    {f"{measure}_out_of_it": each.mean(measure, unknown) for measure in MEASURES}
                    if known and unknown
                    else {}
                ),
                "seconds": each.seconds,
                "pairs_a_second": each.pairs_a_second,
                "peak_mb": each.peak_mb,
                "best_epoch": each.best_epoch,
            }
            for each in lines
        ],
    }
    return json.dumps(told, indent=2)


def sampled(pairs: Sequence[Pair], limit: int | None, seed: int) -> list[Pair]:
    """So many pairs of all sets, in the order of the data."""
    if limit is None or limit >= len(pairs):
        return list(pairs)
    chosen = np.random.default_rng(seed).choice(len(pairs), limit, replace=False)
    return [pairs[place] for place in sorted(chosen.tolist())]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Community retrieval as in thesis tables 3.1 and 3.2.")
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--sets", default=",".join(SETS), help="files of it, with commas between")
    parser.add_argument("--limit", type=int, help="pairs, drawn from all sets")
    parser.add_argument("--queries", type=int, default=5000, help="held-out questions that are asked, at most")
    parser.add_argument("--steps", type=int, default=300, help="of each trained row")
    parser.add_argument("--equal", choices=("steps", "pairs"), default="steps", help=f"pairs: of {UNIT:,} a step")
    parser.add_argument("--hidden", type=int, default=CPU.hidden, help="of the BiLSTM, a direction")
    parser.add_argument("--tokens", type=int, default=CPU.max_tokens, help="words of a text that count")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate of the towers")
    parser.add_argument("--pretrained", choices=("starter", "none"), default="starter", help="E_pre")
    parser.add_argument("--rows", default=",".join(ROWS), help="with commas between")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true", help="figures for programs instead of tables")
    options = parser.parse_args()
    options.rows = options.rows.split(",")
    if unknown := [name for name in options.rows if name not in ROWS]:
        parser.error(f"expected rows among {', '.join(ROWS)}, but got {', '.join(unknown)}")
    towers = TRAINED.keys() | STATIC.keys()
    for joined in set(JOINED).intersection(options.rows):
        if not towers.intersection(options.rows[: options.rows.index(joined)]):
            parser.error(f"expected a tower ({', '.join(sorted(towers))}) before {joined}, but got none")
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
        f"{len(task.train):,} pairs to learn from, {len(task.dev):,} to choose by; {len(task.asked):,} questions, "
        f"{len(task.test.answers):,} candidates; equal {options.equal}, seed {options.seed}\n"
    )
    print(table(lines))  # noqa: T201 (a tool run by hand)
    if bench.tower is not None:
        print(f"\n{by_vocabulary(lines, bench)}")  # noqa: T201 (a tool run by hand)
    print(f"\n{by_overlap(lines, task)}")  # noqa: T201 (a tool run by hand)


if __name__ == "__main__":
    main()
