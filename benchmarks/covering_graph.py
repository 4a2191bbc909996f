"""Writes a graph whose predicates cover the questions of SimpleQuestions (valid), for `kg add`.

    python benchmarks/covering_graph.py --data DIR --out covering.nt
    qa-bot --home HOME kg add DIR/kg/fb15k237.nt.gz DIR/kg/fb15k237.labels.nt.gz covering.nt

The triples are the distinct facts of `simplequestions.valid.tsv`, and names of their subjects: a question with a pool
is the template of a question of the first file with the same words around the mention, so the words at the slot name
the subject. A question that fits templates of several questions names its subject by a template of the same relation.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kg_index.relations.pools import PoolQuestion, as_iri, read_pools, read_relations
from kg_index.relations.template_text import SLOT, template_words

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_PREFIX = "www.freebase.com"


class Fact(NamedTuple):
    """IRIs of a fact, and the question that asks for its object."""

    subject: str
    predicate: str
    object: str
    question: str


def read_facts(path: Path) -> list[Fact]:
    """Facts of `simplequestions.*.tsv`. Raises ValueError with the line for wrong columns."""
    facts = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        columns = line.split("\t")
        if len(columns) == 4:
            subject, predicate, object_ = (as_iri(column.removeprefix(_PREFIX)) for column in columns[:3])
            facts.append(Fact(subject, predicate, object_, columns[3]))
        elif line:
            raise ValueError(f"{path}, line {number}: Expected four columns, but got {len(columns)}.")
    return facts


def names_of(facts: Sequence[Fact], pools: Sequence[PoolQuestion]) -> Iterator[tuple[str, str]]:
    """Subjects with the words that name them."""
    slots: dict[str, list[tuple[list[str], list[str]]]] = defaultdict(list)  # by relation
    for template in dict.fromkeys((pool.gold, pool.template) for pool in pools):
        before, _, after = template[1].partition(SLOT)
        slots[template[0]].append((before.split(), after.split()))
    for fact in facts:
        words = template_words(fact.question)
        fitting = (
            words[len(before) : len(words) - len(after)]
            for before, after in slots[fact.predicate]
            if len(before) + len(after) < len(words)
            and words[: len(before)] == before
            and words[len(words) - len(after) :] == after
        )
        if name := min(fitting, key=len, default=[]):  # the template with the most words of the question
            yield fact.subject, " ".join(name)


def triples(facts: Sequence[Fact], pools: Sequence[PoolQuestion]) -> Iterator[str]:
    """Lines of N-Triples without repetitions."""
    yield from dict.fromkeys(f"<{s}> <{p}> <{o}> ." for s, p, o, _ in facts)
    yield from dict.fromkeys(f'<{subject}> <{LABEL}> "{name}"@en .' for subject, name in names_of(facts, pools))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    folder = options.data / "relations"
    facts = read_facts(folder / "simplequestions.valid.tsv")
    pools = read_pools(folder / "sq.valid.withpool.tsv", read_relations(folder / "sq.relations.txt"))
    lines = list(triples(facts, pools))
    options.out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    named = len({subject for subject, _ in names_of(facts, pools)})
    print(f"{len(lines):,} triples, names for {named:,} of {len({f.subject for f in facts}):,} subjects")  # noqa: T201 (a tool run by hand)


if __name__ == "__main__":
    main()
