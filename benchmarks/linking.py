"""Accuracy of entity linking on SimpleQuestions, and cost of a table of five million mentions.

    python benchmarks/linking.py accuracy --data DIR [--seed S] [--json]
    python benchmarks/linking.py table [--mentions N] [--data DIR] [--seed S] [--json]

`accuracy` takes the questions of SimpleQuestions valid whose subject is an entity of FB15k-237 and measures how often
this subject is the best candidate. Questions whose name for the subject is not in the graph count, too. The fixed
weights were chosen on these questions; "fitted" cross-validates weights over five folds to show the optimism of that
choice. `qa-bot eval linking` measures the same over a home's graph.

`table` writes synthetic names (two to four made-up words, one in ten shared by several entities) and searches for them
in sentences of a hundred characters. With `--data`, the table has the names of FB15k-237, too, the made-up names use
the words of SimpleQuestions valid (most begin with frequent ones), and the questions of that file are searched as well.
Memory is measured in fresh processes; search times are processor times. Only a temporary folder is written.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise, product
from pathlib import Path

import numpy as np

from kg_index.building.rdf_parsing import read_triples
from kg_index.linking.linker import Context, Linker, Weights
from kg_index.linking.mention_rows import Row, Triple, literal_text, rows_of
from kg_index.linking.mentions import Mentions, write_mentions
from kg_index.linking.name_folding import name_words
from qa_core.types import IntArray

DESCRIPTION = "http://schema.org/description"
FREEBASE = "http://rdf.freebase.com/ns/"


# ------------------------------------------------------------------------------------------------------- accuracy


@dataclass(frozen=True)
class Graph:
    """Facts and names of FB15k-237; ids by first appearance."""

    facts: list[Triple]
    names: list[Triple]

    @cached_property
    def ids(self) -> dict[str, int]:
        terms = (term for triple in self.facts for term in (triple[0], triple[2]))
        return {term: i for i, term in enumerate(dict.fromkeys([*terms, *(name[0] for name in self.names)]))}

    @cached_property
    def _salience(self) -> IntArray:
        return np.bincount([self.ids[s] for s, _, _ in self.facts], minlength=len(self.ids))

    def salience(self, entities: IntArray) -> IntArray:
        return self._salience[entities]

    @cached_property
    def descriptions(self) -> dict[int, list[str]]:
        rows_of = defaultdict(list)
        for subject, predicate, text in self.names:
            if predicate == DESCRIPTION:
                rows_of[self.ids[subject]].append(literal_text(text) or "")
        return rows_of

    @cached_property
    def predicates(self) -> dict[int, set[str]]:
        """Words of the last parts of predicates of an entity's facts."""
        rows_of = defaultdict(set)
        for subject, predicate, value in self.facts:
            for term in (subject, value):
                rows_of[self.ids[term]].add(re.sub(r"[._]", " ", predicate.rpartition("/")[2]))
        return rows_of


def read_questions(path: Path, ids: dict[str, int]) -> list[tuple[str, int]]:
    """Questions with their subjects, if the subject is in the graph."""
    rows = (line.rstrip("\n").split("\t") for line in path.open(encoding="utf-8"))
    named = ((row[3], FREEBASE + row[0].removeprefix("www.freebase.com/").replace("/", ".")) for row in rows)
    return [(question, ids[subject]) for question, subject in named if subject in ids]


def accuracy(data: Path, *, seed: int) -> dict[str, object]:
    files = (data / "kg" / name for name in ("fb15k237.nt.gz", "fb15k237.labels.nt.gz"))
    graph = Graph(*(list(chain.from_iterable(read_triples(file))) for file in files))
    questions = read_questions(data / "relations/simplequestions.valid.tsv", graph.ids)
    with tempfile.TemporaryDirectory() as folder:
        mentions = write_mentions(rows_of(graph.names, graph.ids.get), Path(folder), salience=graph.salience)
        contexts: dict[str, Context | None] = {
            "mention and salience": None,
            "with descriptions": lambda e: graph.descriptions.get(e, ()),
            "with descriptions and predicates": lambda e: [
                *graph.descriptions.get(e, ()),
                *graph.predicates.get(e, ()),
            ],
        }
        longest = Weights(words=1000, characters=0, share=0, context=0)
        figures: dict[str, object] = {"questions": len(questions), "names": len(mentions), "rows": mentions.rows}
        figures["gold among candidates"] = _share(
            gold in {e for m in mentions.find(question) for e in mentions.entities(m.key)[0].tolist()}
            for question, gold in questions
        )
        figures["salience alone"] = _top(Linker(mentions, graph.salience, weights=Weights(0, 0, 1, 0, 0)), questions)
        figures["longest, then salience"] = _top(Linker(mentions, graph.salience, weights=longest), questions)
        for name, context in contexts.items():
            linker = Linker(mentions, graph.salience, context=context)
            begin = time.perf_counter()
            figures[name] = _top(linker, questions)
            figures[f"{name}: ms a question"] = round(1e3 * (time.perf_counter() - begin) / len(questions), 3)
        figures["fitted"] = fitted(
            lambda weights: Linker(mentions, graph.salience, context=context, weights=weights), questions, seed=seed
        )
        figures["calibration"] = _calibration(linker, questions)
        figures["linked (no overlaps)"] = _share(gold in {x.entity for x in linker.link(q)} for q, gold in questions)
    return figures


def _top(linker: Linker, questions: list[tuple[str, int]]) -> float:
    return _share(_right(linker, questions))


def _right(linker: Linker, questions: list[tuple[str, int]]) -> list[bool]:
    return [bool(linked := linker.candidates(q)) and linked[0].entity == gold for q, gold in questions]


def _calibration(linker: Linker, questions: list[tuple[str, int]]) -> dict[str, tuple[int, float]]:
    """Number of questions and accuracy of the best candidate, by its score."""
    best = [(linked[0].score, linked[0].entity == gold) for q, gold in questions if (linked := linker.candidates(q))]
    bounds = (0.0, 0.5, 0.7, 0.9, 0.99, 1.01)
    right = {(low, high): [ok for score, ok in best if low <= score < high] for low, high in pairwise(bounds)}
    return {f"{low}-{min(high, 1.0)}": (len(oks), _share(oks)) for (low, high), oks in right.items()}


def _share(oks: Iterable[bool]) -> float:
    results = list(oks)
    return round(sum(results) / max(len(results), 1), 4)


def fitted(linker: Callable[[Weights], Linker], questions: list[tuple[str, int]], *, seed: int) -> float:
    """Cross-validated accuracy: the weights for each fold are the best on the other four."""
    grid = [
        Weights(words=words, salience=salience, share=share, context=context)
        for words, salience, share, context in product((1.0, 2.0, 3.0), (0.3, 0.5, 0.8), (1.0, 2.0), (1.0, 2.0, 3.0))
    ]
    right = np.array([_right(linker(weights), questions) for weights in grid])  # (grid, questions)
    fold = np.random.default_rng(seed).integers(0, 5, len(questions))
    best = [int(right[:, fold != part].mean(axis=1).argmax()) for part in range(5)]
    return round(float(np.mean([right[best[part], i] for i, part in enumerate(fold)])), 4)


# ---------------------------------------------------------------------------------------------------------- table


def synthetic(count: int, seed: int, frequent: Sequence[str] = ()) -> Iterator[Row]:
    """Names of two to four of 200,000 words; one row in ten gives the previous name to another entity.

    `frequent` are the most frequent words; the others are made up.
    """
    rng = np.random.default_rng(seed)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "ou")]
    words = ["".join(syllables[i] for i in row) for row in rng.integers(0, len(syllables), (200_000, 3))]
    words = [*frequent, *words][: len(words)]
    name = ""
    for begin in range(0, count, 100_000):
        drawn = rng.zipf(1.3, (100_000, 4)) % len(words)
        drawn[:, 1:] = rng.integers(0, len(words), (100_000, 3))
        lengths, again = rng.integers(2, 5, 100_000), rng.random(100_000) < 0.1
        for i in range(min(100_000, count - begin)):
            if not (again[i] and name):
                name = " ".join(words[j] for j in drawn[i, : lengths[i]]).title()
            yield name, begin + i, 1 + i % 7


@dataclass(frozen=True)
class Names:
    """The rows of the table, and real questions to search."""

    count: int
    seed: int
    data: Path | None

    @cached_property
    def questions(self) -> list[str]:
        if self.data is None:
            return []
        rows = (self.data / "relations/simplequestions.valid.tsv").read_text(encoding="utf-8").splitlines()
        return [row.split("\t")[3] for row in rows]

    @cached_property
    def words(self) -> list[str]:
        counted = Counter(word.folded for question in self.questions for word in name_words(question))
        return [word for word, _ in counted.most_common()]

    def rows(self) -> Iterator[Row]:
        yield from synthetic(self.count, self.seed, self.words)
        if self.data is not None:
            triples = list(chain.from_iterable(read_triples(self.data / "kg/fb15k237.labels.nt.gz")))
            ids = {name: i for i, name in enumerate(dict.fromkeys(s for s, _, _ in triples), start=self.count)}
            yield from rows_of(triples, ids.get)


@dataclass(slots=True)
class Drawn:
    """Rows, with the wall-clock and processor seconds of generating them."""

    rows: Iterator[Row]
    count: int = 0
    seconds: float = 0.0
    cpu: float = 0.0

    def __iter__(self) -> Iterator[Row]:
        while True:
            begin, busy = time.perf_counter(), time.process_time()
            part = list(islice(self.rows, 50_000))
            self.seconds += time.perf_counter() - begin
            self.cpu += time.process_time() - busy
            self.count += len(part)
            if not part:
                return
            yield from part


def build(folder: Path, names: Names) -> dict[str, object]:
    drawn = Drawn(names.rows())
    begin, busy = time.perf_counter(), time.process_time()
    table = write_mentions(drawn, folder)
    seconds, cpu = time.perf_counter() - begin - drawn.seconds, time.process_time() - busy - drawn.cpu
    count = drawn.count
    bytes_ = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    return {
        "rows": count,
        "names": len(table),
        "build: seconds": round(seconds, 1),
        "build: seconds of the processor": round(cpu, 1),
        "build: rows a second": round(count / seconds),
        "build: rows a second of the processor": round(count / cpu),
        "build: peak MB": _peak(),
        "MB at rest": round(sum(bytes_.values()) / 1e6, 1),
        "bytes a row": round(sum(bytes_.values()) / count, 1),
        "MB of the trie": round(bytes_["words.marisa"] / 1e6, 1),
    }


def read(folder: Path, names: Names) -> dict[str, object]:
    texts, questions = list(_sentences(names)), names.questions
    before = _resident()
    begin, busy = time.perf_counter(), time.process_time()
    table = Mentions(folder)
    opened, busy = time.perf_counter() - begin, time.process_time() - busy
    figures = {
        "open: ms": round(1e3 * opened, 1),
        "open: ms of the processor": round(1e3 * busy, 1),
        "open: MB not shared": round(_resident() - before, 1),
        **_time_matches(table, texts, "sentences"),
        **(_time_matches(table, questions, "questions") if questions else {}),
        "resident afterwards: MB more, not shared": round(_resident() - before, 1),
        "resident afterwards: MB of the table's files": round(_mapped(folder), 1),
    }
    huge = " ".join(texts)[:60_000]
    busy = time.process_time()
    words, many = len(huge.split()), len(table.find(huge))
    return figures | {"one text": f"{words} words, {many} mentions, {time.process_time() - busy:.3f} s"}


def _time_matches(table: Mentions, texts: Sequence[str], what: str) -> dict[str, object]:
    """Speed of finding names in texts and of looking up the names' entities."""
    begin = time.process_time()
    keys = [mention.key for text in texts for mention in table.find(text)]
    middle = time.process_time()
    for key in keys:
        table.entities(key)
    seconds, rows = middle - begin, time.process_time() - middle
    return {
        what: len(texts),
        f"{what}: mean characters": round(sum(map(len, texts)) / len(texts)),
        f"{what}: spans found in each": round(len(keys) / len(texts), 2),
        f"{what}: us each": round(1e6 * seconds / len(texts), 1),
        f"{what}: a second": round(len(texts) / seconds),
        f"{what}: spans a second": round(len(keys) / seconds),
        f"{what}: us for the entities of a span": round(1e6 * rows / max(len(keys), 1), 2),
    }


def _sentences(of: Names, texts: int = 20_000) -> Iterator[str]:
    """Texts of about a hundred characters; every other text has a name of the table, between words of other names."""
    names = [name for name, _, _ in synthetic(min(of.count, 100_000), of.seed, of.words)]
    rng = np.random.default_rng(of.seed + 1)
    for i in range(texts):
        drawn = [names[j] for j in rng.integers(0, len(names), 4)]
        others = " ".join(name.split()[-1] for name in drawn[1:])
        name = drawn[0] if i % 2 else drawn[0][::-1]
        yield f"which of the {others} was the first to see {name} in the town of {others}"[:110]


def table(names: Names) -> dict[str, object]:
    """Build and read in separate processes, to measure the memory of each."""
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        for step in ("build", "read"):
            arguments = ["--folder", folder, "--mentions", str(names.count), "--seed", str(names.seed), "--json"]
            arguments += ["--data", str(names.data)] if names.data else []
            done = subprocess.run(
                [sys.executable, __file__, step, *arguments], check=True, capture_output=True, text=True
            )
            figures |= json.loads(done.stdout)
    return figures


def _peak() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def _resident(kind: str = "RssAnon:") -> float:
    """Resident MB of this process, by default anonymous memory only."""
    rows = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
    return next(int(row[1]) / 1024 for row in rows if row[0] == kind)


def _mapped(folder: Path) -> float:
    """Resident MB of the folder's mapped files, which the kernel can reclaim."""
    inside, kilobytes = False, 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, *rest = line.split()
        inside = str(folder) in line if not first.endswith(":") else inside
        kilobytes += int(rest[0]) if inside and first == "Rss:" else 0
    return kilobytes / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("accuracy", "table", "build", "read"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--mentions", type=int, default=5_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = Names(options.mentions, options.seed, options.data)
    tasks: dict[str, Callable[[], dict[str, object]]] = {
        "accuracy": lambda: accuracy(options.data, seed=options.seed),
        "table": lambda: table(names),
        "build": lambda: build(options.folder, names),
        "read": lambda: read(options.folder, names),
    }
    figures = tasks[options.task]()
    print(  # noqa: T201 (a tool run by hand)
        json.dumps(figures, indent=2)
        if options.json
        else "\n".join(f"{name}: {value}" for name, value in figures.items())
    )


if __name__ == "__main__":
    main()
