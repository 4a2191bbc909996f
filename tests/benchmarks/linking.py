"""Linking: accuracy on SimpleQuestions, and what a table of five million mentions costs.

    python tests/benchmarks/linking.py accuracy --data DIR [--seed S] [--json]
    python tests/benchmarks/linking.py table [--mentions N] [--seed S] [--json]

`accuracy` takes the questions of SimpleQuestions valid whose subject is an entity of FB15k-237 and counts how often
the best reading is that subject. No question is left out because its subject is named in no way the graph knows.
"fitted" chooses the weights by four fifths of the questions and counts on the last: how far the fixed ones, which these
questions have seen, may be believed.

`table` writes synthetic names (two to four made-up words, one in ten shared by several entities) and looks for them in
sentences of a hundred characters. Memory is measured in fresh processes; times of finding are the processor's. Nothing
is written but a temporary folder.
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
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, product
from pathlib import Path

import numpy as np

from kg_index.linking import Context, Linker, Weights
from kg_index.mention_rows import Row, Triple, literal_text, rows_of
from kg_index.mentions import Mentions, write_mentions
from kg_index.reading import read_triples
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
        found = defaultdict(list)
        for subject, predicate, text in self.names:
            if predicate == DESCRIPTION:
                found[self.ids[subject]].append(literal_text(text) or "")
        return found

    @cached_property
    def predicates(self) -> dict[int, set[str]]:
        """The last parts of predicates of facts with the entity on either side, as words."""
        found = defaultdict(set)
        for subject, predicate, value in self.facts:
            for term in (subject, value):
                found[self.ids[term]].add(re.sub(r"[._]", " ", predicate.rpartition("/")[2]))
        return found


def read_questions(path: Path, ids: dict[str, int]) -> list[tuple[str, int]]:
    """Questions and their subjects, of those whose subject is in the graph."""
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
        found: dict[str, object] = {"questions": len(questions), "names": len(mentions), "rows": mentions.rows}
        found["gold among candidates"] = _share(
            gold in {e for m in mentions.find(question) for e in mentions.entities(m.key)[0].tolist()}
            for question, gold in questions
        )
        found["salience alone"] = _top(Linker(mentions, graph.salience, weights=Weights(0, 0, 1, 0, 0)), questions)
        found["longest, then salience"] = _top(Linker(mentions, graph.salience, weights=longest), questions)
        for name, context in contexts.items():
            linker = Linker(mentions, graph.salience, context=context)
            begin = time.perf_counter()
            found[name] = _top(linker, questions)
            found[f"{name}: ms a question"] = round(1e3 * (time.perf_counter() - begin) / len(questions), 3)
        found["fitted"] = fitted(
            lambda weights: Linker(mentions, graph.salience, context=context, weights=weights), questions, seed=seed
        )
        found["calibration"] = _calibration(linker, questions)
        found["linked (no overlaps)"] = _share(gold in {x.entity for x in linker.link(q)} for q, gold in questions)
    return found


def _top(linker: Linker, questions: list[tuple[str, int]]) -> float:
    return _share(_right(linker, questions))


def _right(linker: Linker, questions: list[tuple[str, int]]) -> list[bool]:
    return [bool(found := linker.candidates(q)) and found[0].entity == gold for q, gold in questions]


def _calibration(linker: Linker, questions: list[tuple[str, int]]) -> dict[str, tuple[int, float]]:
    """Questions, and how often the best reading is right, by its score."""
    best = [(found[0].score, found[0].entity == gold) for q, gold in questions if (found := linker.candidates(q))]
    bounds = (0.0, 0.5, 0.7, 0.9, 0.99, 1.01)
    right = {(low, high): [ok for score, ok in best if low <= score < high] for low, high in pairwise(bounds)}
    return {f"{low}-{min(high, 1.0)}": (len(oks), _share(oks)) for (low, high), oks in right.items()}


def _share(oks: Iterable[bool]) -> float:
    found = list(oks)
    return round(sum(found) / max(len(found), 1), 4)


def fitted(linker: Callable[[Weights], Linker], questions: list[tuple[str, int]], *, seed: int) -> float:
    """Accuracy where the weights of each fifth of the questions are those that do best on the other four."""
    grid = [
        Weights(words=words, salience=salience, share=share, context=context)
        for words, salience, share, context in product((1.0, 2.0, 3.0), (0.3, 0.5, 0.8), (1.0, 2.0), (1.0, 2.0, 3.0))
    ]
    right = np.array([_right(linker(weights), questions) for weights in grid])  # (grid, questions)
    fold = np.random.default_rng(seed).integers(0, 5, len(questions))
    best = [int(right[:, fold != part].mean(axis=1).argmax()) for part in range(5)]
    return round(float(np.mean([right[best[part], i] for i, part in enumerate(fold)])), 4)


# ---------------------------------------------------------------------------------------------------------- table


def synthetic(count: int, seed: int) -> Iterator[Row]:
    """Names of two to four of 200,000 made-up words; one row in ten gives the name before it to another entity."""
    rng = np.random.default_rng(seed)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "ou")]
    words = ["".join(syllables[i] for i in row) for row in rng.integers(0, len(syllables), (200_000, 3))]
    name = ""
    for begin in range(0, count, 100_000):
        drawn = rng.zipf(1.3, (100_000, 4)) % len(words)
        drawn[:, 1:] = rng.integers(0, len(words), (100_000, 3))
        lengths, again = rng.integers(2, 5, 100_000), rng.random(100_000) < 0.1
        for i in range(min(100_000, count - begin)):
            if not (again[i] and name):
                name = " ".join(words[j] for j in drawn[i, : lengths[i]]).title()
            yield name, begin + i, 1 + i % 7


def build(folder: Path, count: int, seed: int) -> dict[str, object]:
    clocks = time.perf_counter, time.process_time
    begin = [clock() for clock in clocks]
    for _ in synthetic(count, seed):
        pass
    middle = [clock() for clock in clocks]
    table = write_mentions(synthetic(count, seed), folder)
    seconds, cpu = (clock() - 2 * b + a for clock, a, b in zip(clocks, begin, middle, strict=True))
    bytes_ = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    return {
        "rows": count,
        "names": len(table),
        "build: seconds": round(seconds, 1),
        "build: seconds of the processor": round(cpu, 1),
        "build: rows a second": round(count / seconds),
        "build: peak MB": _peak(),
        "MB at rest": round(sum(bytes_.values()) / 1e6, 1),
        "bytes a row": round(sum(bytes_.values()) / count, 1),
        "MB of the trie": round(bytes_["words.marisa"] / 1e6, 1),
    }


def read(folder: Path, count: int, seed: int) -> dict[str, object]:
    before = _resident()
    begin = time.perf_counter()
    table = Mentions(folder)
    opened = time.perf_counter() - begin
    private = _resident() - before
    texts = list(_sentences(seed, min(count, 100_000)))
    ready = _resident()
    begin = time.process_time()
    found = [mention for text in texts for mention in table.find(text)]
    seconds = time.process_time() - begin
    held = _resident() - ready
    begin = time.process_time()
    for mention in found:
        table.entities(mention.key)
    rows = time.process_time() - begin
    huge = " ".join(texts)[:60_000]
    begin = time.process_time()
    words, many = len(huge.split()), len(table.find(huge))
    return {
        "open: ms": round(1e3 * opened, 1),
        "open: MB not shared": round(private, 1),
        "find: texts": len(texts),
        "find: mean characters": round(sum(map(len, texts)) / len(texts)),
        "find: mentions a text": round(len(found) / len(texts), 2),
        "find: us a text": round(1e6 * seconds / len(texts), 1),
        "find: texts a second": round(len(texts) / seconds),
        "entities: us a mention": round(1e6 * rows / max(len(found), 1), 2),
        "find: MB more with all mentions kept": round(held, 1),
        "one text": f"{words} words, {many} mentions, {time.process_time() - begin:.3f} s",
    }


def _sentences(seed: int, count: int, texts: int = 20_000) -> Iterator[str]:
    """About a hundred characters: a name of the table in every other text, between words that may be names too."""
    names = [name for name, _, _ in synthetic(count, seed)]
    rng = np.random.default_rng(seed + 1)
    for i in range(texts):
        drawn = [names[j] for j in rng.integers(0, len(names), 4)]
        others = " ".join(name.split()[-1] for name in drawn[1:])
        name = drawn[0] if i % 2 else drawn[0][::-1]
        yield f"which of the {others} was the first to see {name} in the town of {others}"[:110]


def table(count: int, seed: int) -> dict[str, object]:
    """Building and reading in processes of their own, so that the memory of each is told apart."""
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        for step in ("build", "read"):
            command = [
                sys.executable,
                __file__,
                step,
                "--folder",
                folder,
                "--mentions",
                str(count),
                "--seed",
                str(seed),
            ]
            done = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True)
            found |= json.loads(done.stdout)
    return found


def _peak() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def _resident() -> float:
    """MB of this process that it shares with no file: what mapping does not add to."""
    rows = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
    return next(int(row[1]) / 1024 for row in rows if row[0] == "RssAnon:")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("accuracy", "table", "build", "read"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--mentions", type=int, default=5_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tasks: dict[str, Callable[[], dict[str, object]]] = {
        "accuracy": lambda: accuracy(options.data, seed=options.seed),
        "table": lambda: table(options.mentions, options.seed),
        "build": lambda: build(options.folder, options.mentions, options.seed),
        "read": lambda: read(options.folder, options.mentions, options.seed),
    }
    found = tasks[options.task]()
    print(  # noqa: T201 (a tool run by hand)
        json.dumps(found, indent=2) if options.json else "\n".join(f"{name}: {value}" for name, value in found.items())
    )


if __name__ == "__main__":
    main()
