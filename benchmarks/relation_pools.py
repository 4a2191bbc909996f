"""Relation detection on the pools of SimpleQuestions, as in table 4.2 of Wang (2018): all methods of `kg_index`.

    python benchmarks/relation_pools.py --data DIR [--templates FILE] [--minilm FOLDER] [--rows NAME,…] [--json]

`--templates` is a table of `kg mine`; the mined rows use its paths of one step and templates of up to `--words` words,
and are left out without it. `evened` rows divide by the root of a relation's mean likelihood.

Only rows that begin with `supervised` are trained on questions with pools, by five-fold cross-validation. `covered` are
the questions whose right relation is a predicate of FB15k-237, the mined graph. Ties are wrong in `accuracy`; `shared`
counts a tie of n relations as 1/n. The interval is Wilson's, 95 %.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import torch

from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.pools import PoolQuestion, read_pools, read_relations
from kg_index.relations.relation_head import RelationHead
from kg_index.relations.relation_network import RelationDetector
from kg_index.relations.relation_scorers import (
    KEYWORDS,
    CosineScorer,
    Encode,
    KeywordFirst,
    RelationScorer,
    WeightedSumScorer,
    cached,
)
from kg_index.relations.templates import TemplateTable
from kg_index.relations.tuned_scorer import tuned_scorer
from kg_index.training.head_training import HeadTraining, fit_head, labelled
from kg_index.training.question_tuning import (
    QuestionNetwork,
    TuningConfig,
    TuningData,
    network_vectors,
    tune,
    tuning_of,
)
from kg_index.training.relation_training import (
    Phase,
    RelationTraining,
    adjust_prior,
    shortened,
    train_phases,
)
from qa_bot.answering.graph.relation_encoders import ConcatenatedEncoder
from qa_bot.home.starter import ENCODER
from qa_core.encoders.sentence_layout import SentenceLayout
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.encoders.transformer_encoder import TransformerEncoder
from qa_core.training.loop import seed_everything
from qa_core.training.transformer_tuning import TransformerReader, load_tunable
from qa_core.types import FloatArray

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Figures:
    row: str
    accuracy: float  # ties are wrong
    low: float
    high: float
    shared: float  # a tie of n counts 1/n
    covered: float  # accuracy on covered questions, ties shared
    uncovered: float
    n: int
    n_covered: int
    seconds: float


@dataclass(eq=False)
class Bench:
    """Data, options and trained models that rows share."""

    data: Path
    templates: Path | None
    minilm: Path | None
    cache: Path
    seed: int
    epochs: int
    hidden: int
    batch: int
    words: int
    silent: float
    limit: int | None
    trained: dict[tuple[Phase, ...], RelationDetector] = field(default_factory=dict)
    tuned: dict[int, RelationScorer] = field(default_factory=dict)  # by the questions of training

    @cached_property
    def questions(self) -> list[PoolQuestion]:
        folder = self.data / "relations"
        pools = read_pools(folder / "sq.valid.withpool.tsv", read_relations(folder / "sq.relations.txt"))
        return pools[: self.limit]

    @cached_property
    def covered(self) -> np.ndarray:
        """(N,) whether the right relation is in the graph."""
        with gzip.open(self.data / "kg" / "fb15k237.nt.gz", "rt", encoding="utf-8") as file:
            predicates = {line.split(" ", 2)[1][1:-1] for line in file}
        return np.array([question.gold in predicates for question in self.questions])

    @cached_property
    def table(self) -> TemplateTable:
        assert self.templates is not None
        return shortened(TemplateTable.load(self.templates), steps=1, words=self.words)

    @cached_property
    def static(self) -> StaticEncoder:
        return StaticEncoder.load(ENCODER)

    @cached_property
    def transformer(self) -> TransformerEncoder:
        assert self.minilm is not None
        return TransformerEncoder.load(self.minilm, cache=self.cache)

    @cached_property
    def remembered(self) -> Encode:
        return cached(self.transformer.encode)

    @cached_property
    def joined(self) -> Encode:
        return cached(ConcatenatedEncoder((self.static, self.transformer)).encode)

    def new(self, counts: Mapping[str, int], relations: Sequence[str]) -> RelationDetector:
        return RelationDetector.of(counts, relations, self.static.encode, hidden=self.hidden)


def scored(scorer: RelationScorer, questions: Sequence[PoolQuestion]) -> list[FloatArray]:
    return scorer.score([question.template for question in questions], [question.pool for question in questions])


def static_cosine(bench: Bench) -> RelationScorer:
    return CosineScorer(bench.static.encode)


def minilm_cosine(bench: Bench) -> RelationScorer:
    return CosineScorer(bench.remembered)


def cosines(bench: Bench) -> RelationScorer:
    return WeightedSumScorer([(static_cosine(bench), 0.5), (minilm_cosine(bench), 0.5)])


def chain(*phases: Phase) -> Callable[[Bench], RelationScorer]:
    return lambda bench: trained(bench, phases)


def trained(bench: Bench, phases: tuple[Phase, ...]) -> RelationDetector:
    """The detector after the last phase; earlier ones are cached."""
    if phases not in bench.trained:
        config, overlap = (
            RelationTraining(epochs=bench.epochs, batch=bench.batch, silent=bench.silent),
            KeywordMatcher(jaccard=False).overlap,
        )
        steps = train_phases(bench.table, bench.new, overlap, config, seed=bench.seed, phases=phases)
        for phase, detector, progress in steps:
            print(f"  {phase} epoch {progress.epoch} loss {progress.loss:.3f}", file=sys.stderr, flush=True)  # noqa: T201 (a tool run by hand)
            bench.trained[phases[: phases.index(phase) + 1]] = detector
    return bench.trained[phases]


def even(*phases: Phase) -> Callable[[Bench], RelationScorer]:
    return lambda bench: adjust_prior(trained(bench, phases), [*bench.table.templates()], share=0.5)


def keyword_first(other: Callable[[Bench], RelationScorer]) -> Callable[[Bench], RelationScorer]:
    return lambda bench: KeywordFirst(other(bench), KeywordMatcher())


class Uniform:
    """Equal scores: the shared accuracy is that of a random choice."""

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        return [np.zeros(len(pool), dtype=np.float32) for pool in pools]


def with_keywords(bench: Bench) -> RelationScorer:
    return WeightedSumScorer([(static_cosine(bench), 0.5), (minilm_cosine(bench), 0.5), (KeywordMatcher(), KEYWORDS)])


UNSUPERVISED: dict[str, Callable[[Bench], RelationScorer]] = {
    "random": lambda _: Uniform(),
    "keyword, plain": lambda _: KeywordMatcher(plain=True),
    "keyword": lambda _: KeywordMatcher(),
    "uniform": chain("uniform"),
    "F": chain("F"),
    "F+K+S": chain("F×K", "F×(l+α)"),  # before F+K, which is its first phase
    "F+K": chain("F×K"),
    "F+K+S, keyword first": keyword_first(chain("F×K", "F×(l+α)")),
    "F+K+S, evened": even("F×K", "F×(l+α)"),
    "F+K+S, evened, keyword first": keyword_first(even("F×K", "F×(l+α)")),
    "uniform, keyword first": keyword_first(chain("uniform")),
    "F, keyword first": keyword_first(chain("F")),
    "F, evened, keyword first": keyword_first(even("F")),
    "static cosine": static_cosine,
    "MiniLM cosine": minilm_cosine,
    "static + MiniLM cosine": cosines,
    "static + MiniLM cosine + keyword": with_keywords,
}

MINED = {name for name in UNSUPERVISED if name.startswith(("uniform", "F"))}

Train = Callable[[Bench, list[PoolQuestion], list[str]], RelationScorer]
"""Trains a scorer from annotated questions and further relation names."""


def head(encode: Callable[[Bench], Encode], *, context: bool = True) -> Train:
    def train(bench: Bench, questions: list[PoolQuestion], relations: list[str]) -> RelationScorer:
        seed_everything(bench.seed)
        names = (name for question in questions for name in question.pool)
        relation_head = RelationHead.of(encode(bench), names, context=context)
        list(fit_head(relation_head, labelled(questions), HeadTraining(epochs=6), seed=bench.seed))
        return relation_head

    return train


def tuned(bench: Bench, questions: list[PoolQuestion], _: list[str]) -> RelationScorer:
    """MiniLM tuned end to end; cached, since two rows use it."""
    key = hash(tuple(questions))
    if key not in bench.tuned:
        assert bench.minilm is not None
        layout, config = SentenceLayout.read(bench.minilm), TuningConfig()
        reader = TransformerReader(SentenceLayout.read(bench.minilm, max_length=64))
        rows = partial(reader.rows, side="question")
        module = QuestionNetwork(load_tunable(layout), frozen=config.frozen)
        data = TuningData.of(questions, rows, CosineScorer(bench.remembered).relations)
        list(tune(tuning_of(module, config, seed=bench.seed), data, config))
        factors = {"scale": module.scale.item(), "keywords": module.keywords.item()}
        vectors = network_vectors(module, rows, layout.dimension)
        bench.tuned[key] = tuned_scorer(vectors, bench.remembered, **factors)
    return bench.tuned[key]


def tuned_and_head(bench: Bench, questions: list[PoolQuestion], relations: list[str]) -> RelationScorer:
    """The model of `train relations` with `model = "transformer"`."""
    beside = head(lambda bench: bench.joined)(bench, questions, relations)
    return WeightedSumScorer([(tuned(bench, questions, relations), 1.0), (beside, 1.0)])


SUPERVISED: dict[str, Train] = {
    "supervised head, static": head(lambda bench: cached(bench.static.encode)),
    "supervised head, MiniLM": head(lambda bench: bench.remembered),
    "supervised head, static + MiniLM": head(lambda bench: bench.joined),
    "supervised head, static + MiniLM, pools not read": head(lambda bench: bench.joined, context=False),
    "supervised tuned MiniLM": tuned,
    "supervised tuned MiniLM + head": tuned_and_head,
}


def cross_validated(bench: Bench, train: Train) -> list[FloatArray]:
    """Scores of all questions by scorers that were trained on the other folds."""
    fold = np.random.default_rng(bench.seed).permutation(len(bench.questions)) % FOLDS
    scores: list[FloatArray] = [np.zeros(0, dtype=np.float32)] * len(bench.questions)
    for number in range(FOLDS):
        others = [question for question, its_fold in zip(bench.questions, fold, strict=True) if its_fold != number]
        members = np.flatnonzero(fold == number).tolist()
        tested = [bench.questions[member] for member in members]
        scorer = train(bench, others, [name for question in tested for name in question.pool])
        for member, row in zip(members, scored(scorer, tested), strict=True):
            scores[member] = row
        print(f"  fold {number + 1}", file=sys.stderr, flush=True)  # noqa: T201 (a tool run by hand)
    return scores


def figures(name: str, bench: Bench, scores: Sequence[FloatArray], seconds: float) -> Figures:
    strict, shared = np.zeros(len(scores)), np.zeros(len(scores))
    for index, (question, row) in enumerate(zip(bench.questions, scores, strict=True)):
        best = np.flatnonzero(row == row.max())
        shared[index] = (question.gold_index in best) / len(best)
        strict[index] = shared[index] == 1
    low, high = wilson(int(strict.sum()), len(strict))
    covered = bench.covered
    return Figures(
        name,
        float(strict.mean()),
        low,
        high,
        float(shared.mean()),
        float(shared[covered].mean()),
        float(shared[~covered].mean()),
        len(scores),
        int(covered.sum()),
        seconds,
    )


def wilson(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    p = right / n
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def unsupervised(make: Callable[[Bench], RelationScorer], bench: Bench) -> list[FloatArray]:
    return scored(make(bench), bench.questions)


def rows(bench: Bench, selected: set[str] | None) -> Iterator[Figures]:
    every: dict[str, Callable[[], list[FloatArray]]] = {
        name: partial(unsupervised, make, bench) for name, make in UNSUPERVISED.items()
    }
    every |= {name: partial(cross_validated, bench, train) for name, train in SUPERVISED.items()}
    for name, scores in every.items():
        absent = (name in MINED and bench.templates is None) or ("MiniLM" in name and bench.minilm is None)
        if not absent and (selected is None or name in selected):
            since = time.perf_counter()
            scored_rows = scores()
            yield figures(name, bench, scored_rows, time.perf_counter() - since)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--templates", type=Path)
    parser.add_argument("--minilm", type=Path)
    parser.add_argument("--rows", help="names, separated by semicolons")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=4, help="epochs of a phase")
    parser.add_argument("--hidden", type=int, default=300)
    parser.add_argument(
        "--batch", type=int, default=128, help="mappings in a batch; Wang (2018) uses 2,000 of millions"
    )
    parser.add_argument("--words", type=int, default=12, help="maximum length of a template")
    parser.add_argument("--silent", type=float, default=0.5, help="templates without a path for one with a path")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as cache:
        sizes = (
            options.seed,
            options.epochs,
            options.hidden,
            options.batch,
            options.words,
            options.silent,
            options.limit,
        )
        bench = Bench(options.data, options.templates, options.minilm, Path(cache), *sizes)
        for row in rows(bench, None if options.rows is None else {*options.rows.split(";")}):
            print(json.dumps(asdict(row)) if options.json else figures_line(row), flush=True)  # noqa: T201 (a tool run by hand)
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB", file=sys.stderr)  # noqa: T201 (a tool run by hand)


def figures_line(row: Figures) -> str:
    return (
        f"{row.row:32} {row.accuracy:.3f} [{row.low:.3f}, {row.high:.3f}]  shared {row.shared:.3f}"
        f"  covered {row.covered:.3f}  uncovered {row.uncovered:.3f}  n {row.n} ({row.n_covered})  {row.seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
