"""Walks over a graph: which steps lead on from a term, and where a path ends."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kg_index.answers.graph_words import Vocabulary
from kg_index.triples.paths import Path, Step
from kg_index.triples.triple_index import TripleIndex

MOST_ANSWERS = 1_000
_PREDICATES = 2_000  # of a term, in either direction


@dataclass(frozen=True, eq=False)
class Walker:
    """Over one generation of an index."""

    triples: TripleIndex
    vocabulary: Vocabulary

    def steps(self, start: int) -> list[Step]:
        """Steps from a term along its facts and against them; predicates of names and kinds are no steps."""
        hidden = self.vocabulary.hidden
        into = [Step(p, True) for p in self.triples.predicates_to(start)[:_PREDICATES].tolist() if p not in hidden]
        if self.triples.is_literal(start):
            return into
        out = self.triples.predicates_of(start)[:_PREDICATES].tolist()
        return [*(Step(p, False) for p in out if p not in hidden), *into]

    def ends(self, start: int, step: Step) -> list[int]:
        """Where a step leads, at most `MOST_ANSWERS`."""
        lookup = self.triples
        found = lookup.subjects(step.predicate, start) if step.inverse else lookup.objects(start, step.predicate)
        ends: list[int] = found[:MOST_ANSWERS].tolist()
        return ends

    def follow(self, start: int, path: Path) -> tuple[list[int], list[int], bool]:
        """What stands between the steps of a path, its ends without the start, and whether there are more.

        At each step `MOST_ANSWERS` are kept; blank nodes without a name are no ends.
        """
        middles, ends, more = [], [start], False
        for place, step in enumerate(path):
            if place:
                middles = ends = self.entities(ends)
            found: dict[int, None] = {}
            for each in ends:
                found.update(dict.fromkeys(self.ends(each, step)))
                if len(found) >= MOST_ANSWERS:
                    more = True
                    break
            ends = list(found)[:MOST_ANSWERS]
        return middles, [end for end in ends if end != start and not self._nameless(end)], more

    def entities(self, ids: Iterable[int]) -> list[int]:
        """Those that are no literals."""
        return [each for each in ids if not self.triples.is_literal(each)]

    def _nameless(self, number: int) -> bool:
        return number in self._blank and not self.vocabulary.names(number).from_graph

    @cached_property
    def _blank(self) -> range:
        """Ids of blank nodes, which stand together: ids are in the order of terms."""
        terms = range(self.triples.totals.literals, self.triples.totals.terms)
        first, last = (bisect_left(terms, text, key=self.triples.term) for text in ("_:", "_;"))
        return terms[first:last]
