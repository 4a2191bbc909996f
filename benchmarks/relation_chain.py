"""The rows of Wang (2018), table 4.2, side by side on the pools of SimpleQuestions (valid), over several seeds.

    python benchmarks/covering_graph.py --data DIR --out covering.nt
    qa-bot --home HOME kg add DIR/kg/fb15k237.nt.gz DIR/kg/fb15k237.labels.nt.gz covering.nt
    qa-bot --home HOME kg mine PAIRS… --steps 1 --out mined
    python benchmarks/relation_chain.py --data DIR --templates mined/templates.tsv [--paper] [--json]

`all` is the accuracy on all questions, `mined` on those whose right relation is a class of the network, since some pair
was mined for it. Ties of n relations count 1/n. ± is the larger of the standard errors over questions and over seeds.
`supervised` is the network on annotated questions, by five folds of one seed. `--paper` counts unstemmed words in K;
the first lines say how right known
templates are, what was mined, and which accuracies no model of these classes can exceed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.pools import PoolQuestion, read_pools, read_relations
from kg_index.relations.relation_network import RelationDetector
from kg_index.relations.relation_scorers import KeywordFirst, RelationScorer
from kg_index.relations.template_text import NO_PATH
from kg_index.relations.templates import TemplateTable
from kg_index.training.mapping_weights import f_weights, k_weights
from kg_index.training.relation_training import (
    Phase,
    RelationTraining,
    examples_of,
    fit,
    frequent,
    shortened,
    train_phases,
    word_counts,
)
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.training.loop import seed_everything
from qa_core.types import FloatArray
from qa_lab.train.relations.graph_mining import PRESETS, known_templates
from qa_lab.train.relations.network_relations import labelled_table
from qa_lab.train.relations.relation_settings import PHASES

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Options:
    """Sizes of training; `paper` counts unstemmed words in K."""

    seeds: tuple[int, ...]
    epochs: int
    hidden: int
    batch: int
    rate: float  # of learning
    silent: float
    supervised: int  # epochs of the supervised network; 0 leaves it out
    paper: bool


@dataclass(frozen=True, slots=True)
class Figures:
    """Accuracies of a row with standard errors."""

    row: str
    all: float
    all_error: float
    mined: float
    mined_error: float
    seeds: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Limits:
    """What was mined, and the accuracies that follow."""

    gold_relations: int  # distinct right relations of the questions
    mined_relations: int  # of these, with a mined mapping
    keyword_relations: int  # of these, with a mapping whose words overlap
    questions: int
    mined_questions: int  # whose right relation was mined
    keyword_questions: int
    network: float  # accuracy if the network is right whenever it can be, and draws from the pool otherwise
    first_words: float  # the same behind the match of shared words
    templates: float  # accuracy of the best fixed order of relations for each template that repeats


@dataclass(frozen=True, slots=True)
class Known:
    """Accuracy of known templates by `p(r|T)` among the relations of the pool."""

    rule: str
    questions: int  # whose template is known
    right: float


def known(questions: Sequence[PoolQuestion], table: TemplateTable) -> Iterator[Known]:
    """All templates, those supported by words, by counts, and by either (the default of `kg mine`)."""
    words = f_weights(table) * k_weights(table, KeywordMatcher().overlap)
    default, nothing = PRESETS["default"], np.zeros_like(words)
    rules = {
        "all": table,
        "words": known_templates(table, words, replace(default, least=math.inf)),
        "counts": known_templates(table, nothing, default),
        "words or counts": known_templates(table, words, default),
    }
    for name, templates in rules.items():
        likely = ((q.gold, templates.lookup(q.template, allowed=q.pool)) for q in questions)
        right = [relations[0].relation == gold for gold, relations in likely if relations]
        yield Known(name, len(right), float(np.mean(right)) if right else 0.0)


def limits(questions: Sequence[PoolQuestion], table: TemplateTable, *, paper: bool) -> Limits:
    """Counts and upper bounds."""
    keyword = k_weights(table, KeywordMatcher(plain=paper).overlap) > 0
    mined = set(table.relations) - {NO_PATH}
    by_words = {table.relations[i] for i in np.unique(table.relation[keyword]).tolist()} - {NO_PATH}
    golds = {question.gold for question in questions}
    inside, worded = (sum(question.gold in names for question in questions) for names in (mined, by_words))
    oracle = Oracle(mined)
    return Limits(
        len(golds),
        len(golds & mined),
        len(golds & by_words),
        len(questions),
        inside,
        worded,
        float(oracle.accuracies(questions).mean()),
        float(accuracies(KeywordFirst(oracle.bound(questions), KeywordMatcher(plain=True)), questions).mean()),
        repeated_templates(questions),
    )


class Oracle:
    """Right if the right relation was mined; otherwise it draws from the relations of the pool that were not."""

    def __init__(self, mined: set[str]) -> None:
        self.mined = mined

    def bound(self, questions: Sequence[PoolQuestion]) -> RelationScorer:
        return _Fixed([self._scores(question) for question in questions])

    def accuracies(self, questions: Sequence[PoolQuestion]) -> FloatArray:
        return accuracies(self.bound(questions), questions)

    def _scores(self, question: PoolQuestion) -> FloatArray:
        if question.gold in self.mined:
            return np.array([name == question.gold for name in question.pool], dtype=np.float32)
        return np.array([name not in self.mined for name in question.pool], dtype=np.float32)


class _Fixed:
    """Given scores, whatever the template."""

    def __init__(self, rows: Sequence[FloatArray]) -> None:
        self.rows = rows

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        assert len(templates) == len(pools) == len(self.rows)
        return [row.copy() for row in self.rows]


def repeated_templates(questions: Sequence[PoolQuestion]) -> float:
    """Accuracy on templates that repeat, if each orders relations by how often they are right."""
    groups: dict[str, list[PoolQuestion]] = defaultdict(list)
    for question in questions:
        groups[question.template].append(question)
    right = []
    for group in groups.values():
        if len(group) > 1:
            often = Counter(question.gold for question in group)
            right += [max(question.pool, key=lambda name: often[name]) == question.gold for question in group]
    return float(np.mean(right))


def accuracies(scorer: RelationScorer, questions: Sequence[PoolQuestion]) -> FloatArray:
    """(N,) with ties shared."""
    scores = scorer.score([question.template for question in questions], [question.pool for question in questions])
    return np.array(
        [
            float(row[question.gold_index] == row.max()) / int((row == row.max()).sum())
            for question, row in zip(questions, scores, strict=True)
        ],
        dtype=np.float32,
    )


def chains(
    table: TemplateTable, encoder: StaticEncoder, options: Options, seed: int
) -> Iterator[tuple[str, RelationDetector]]:
    """The networks of the rows of table 4.2. F+K is the first phase of F+K+S."""

    def new(counts: Mapping[str, int], relations: Sequence[str]) -> RelationDetector:
        return RelationDetector.of(counts, relations, encoder.encode, hidden=options.hidden)

    overlap = KeywordMatcher(plain=options.paper).overlap
    config = RelationTraining(options.epochs, options.batch, options.rate, silent=options.silent)
    names: dict[Phase, str] = {"uniform": "uniform", "F": "F", "F×K": "F + K", "F×(l+α)": "F + K + S"}
    for phases in (PHASES["uniform"], PHASES["F"], PHASES["F+K+S"]):
        last: dict[Phase, RelationDetector] = {}
        for phase, detector, progress in train_phases(table, new, overlap, config, seed=seed, phases=phases):
            last[phase] = detector
            _note(f"seed {seed}, {phase}, epoch {progress.epoch}: loss {progress.loss:.3f}")
        yield from ((names[phase], detector) for phase, detector in last.items())


def supervised(questions: Sequence[PoolQuestion], encoder: StaticEncoder, options: Options, seed: int) -> FloatArray:
    """Accuracies (N,) of the network, trained on the other folds."""
    fold = np.random.default_rng(seed).permutation(len(questions)) % FOLDS
    result = np.zeros(len(questions), dtype=np.float32)
    config = RelationTraining(options.supervised, 64)
    for number in range(FOLDS):
        table = labelled_table(question for question, its in zip(questions, fold, strict=True) if its != number)
        seed_everything(seed)
        relations = frequent(table, len(table.relations))
        counts = word_counts(table.templates())
        detector = RelationDetector.of(counts, relations, encoder.encode, hidden=options.hidden)
        for _ in fit(detector, examples_of(detector, table, table.count), config, seed=seed):
            pass
        members = np.flatnonzero(fold == number)
        result[members] = accuracies(detector, [questions[member] for member in members.tolist()])
        _note(f"fold {number + 1}: {result[members].mean():.4f}")
    return result


def rows(questions: Sequence[PoolQuestion], table: TemplateTable, options: Options) -> Iterator[Figures]:
    """All rows of the table."""
    words, encoder = KeywordMatcher(plain=True), StaticEncoder.load(ENCODER)
    mined = np.array([question.gold in set(table.relations) for question in questions])
    yield figures("keyword match", accuracies(words, questions)[None], mined, 0.0)
    measured: dict[str, list[FloatArray]] = defaultdict(list)
    seconds: Counter[str] = Counter()
    for seed in options.seeds:
        since = time.perf_counter()
        for name, detector in chains(table, encoder, options, seed):
            measured[name].append(accuracies(detector, questions))
            _note(f"seed {seed}, {name}: {measured[name][-1].mean():.4f}, {measured[name][-1][mined].mean():.4f}")
            measured[f"{name}, keyword match first"].append(accuracies(KeywordFirst(detector, words), questions))
            seconds[name] += round(time.perf_counter() - since)
            since = time.perf_counter()
    for name, runs in measured.items():
        yield figures(name, np.array(runs), mined, seconds[name])
    if not options.supervised:
        return
    since = time.perf_counter()
    scores = supervised(questions, encoder, options, options.seeds[0])
    yield figures("supervised network", scores[None], mined, time.perf_counter() - since)


def figures(name: str, runs: FloatArray, mined: NDArray[np.bool_], seconds: float) -> Figures:
    """From accuracies (S, N) of S seeds."""
    return Figures(name, *mean_and_error(runs), *mean_and_error(runs[:, mined]), len(runs), seconds)


def mean_and_error(runs: FloatArray) -> tuple[float, float]:
    """Mean of (S, N), and the larger of the standard errors over N questions and over S seeds."""
    over_questions = float(runs.mean(0).std(ddof=1)) / math.sqrt(runs.shape[1])
    over_seeds = float(runs.mean(1).std(ddof=1)) / math.sqrt(len(runs)) if len(runs) > 1 else 0.0
    return float(runs.mean()), max(over_questions, over_seeds)


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 (a tool run by hand)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--templates", type=Path, required=True)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--epochs", type=int, default=6, help="of a phase")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--batch", type=int, default=32, help="mappings; Wang (2018) uses 2,000 of millions")
    parser.add_argument("--rate", type=float, default=0.003, help="of learning; Wang (2018): .001")
    parser.add_argument("--words", type=int, default=8, help="maximum length of a template")
    parser.add_argument("--silent", type=float, default=0.25, help="mappings without a path for one with a path")
    parser.add_argument("--supervised", type=int, default=12, help="epochs of the supervised network; 0: without it")
    parser.add_argument("--paper", action="store_true", help="K counts unstemmed words")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    folder = arguments.data / "relations"
    questions = read_pools(folder / "sq.valid.withpool.tsv", read_relations(folder / "sq.relations.txt"))
    mined = TemplateTable.load(arguments.templates)
    for rule in known(questions, mined):
        print(json.dumps(asdict(rule)), flush=True)  # noqa: T201 (a tool run by hand)
    table = shortened(mined, steps=1, words=arguments.words)
    seeds = tuple(int(seed) for seed in arguments.seeds.split(",") if seed)
    sizes = (
        arguments.epochs,
        arguments.hidden,
        arguments.batch,
        arguments.rate,
        arguments.silent,
        arguments.supervised,
    )
    options = Options(seeds, *sizes, paper=arguments.paper)
    print(json.dumps(asdict(limits(questions, table, paper=arguments.paper))), flush=True)  # noqa: T201 (a tool run by hand)
    _note(
        f"{len(table):,} templates, {len(table.relation):,} mappings, {int((f_weights(table) > 0).sum()):,} with F > 0"
    )
    for row in rows(questions, table, options):
        cells = f"{row.all:.4f} ± {row.all_error:.4f}  {row.mined:.4f} ± {row.mined_error:.4f}  {row.seconds:.0f} s"
        print(json.dumps(asdict(row)) if arguments.json else f"{row.row:32} {cells}", flush=True)  # noqa: T201 (a tool run by hand)


if __name__ == "__main__":
    main()
