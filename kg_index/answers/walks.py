"""Walks over a graph: the steps from a term, and the ends of a path."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kg_index.answers.graph_words import Vocabulary
from kg_index.triples.paths import Path, Step
from kg_index.triples.triple_index import TripleIndex

MOST_ANSWERS = 1_000
_PREDICATES = 2_000  # per term and direction


@dataclass(frozen=True, eq=False)
class Walker:
    """Walks over one generation of an index."""

    triples: TripleIndex
    vocabulary: Vocabulary

    def steps(self, start: int) -> list[Step]:
        """Steps from a term, forward and inverse, without predicates of names and kinds."""
        hidden = self.vocabulary.hidden
        into = [Step(p, True) for p in self.triples.predicates_to(start)[:_PREDICATES].tolist() if p not in hidden]
        if self.triples.is_literal(start):
            return into
        out = self.triples.predicates_of(start)[:_PREDICATES].tolist()
        return [*(Step(p, False) for p in out if p not in hidden), *into]

    def ends(self, start: int, step: Step) -> list[int]:
        """The terms that a step leads to, at most `MOST_ANSWERS`."""
        lookup = self.triples
        ids = lookup.subjects(step.predicate, start) if step.inverse else lookup.objects(start, step.predicate)
        ends: list[int] = ids[:MOST_ANSWERS].tolist()
        return ends

    def follow(self, start: int, path: Path) -> tuple[list[int], list[int], bool]:
        """The middle entities of a path, its ends without the start, and whether there are more.

        Each step is limited to `MOST_ANSWERS`; unnamed blank nodes are not ends.
        """
        middles, ends, more = [], [start], False
        for i, step in enumerate(path):
            if i:
                middles = ends = self.entities(ends)
            following: dict[int, None] = {}
            for end in ends:
                following.update(dict.fromkeys(self.ends(end, step)))
                if len(following) >= MOST_ANSWERS:
                    more = True
                    break
            ends = list(following)[:MOST_ANSWERS]
        return middles, [end for end in ends if end != start and not self._is_unnamed(end)], more

    def entities(self, ids: Iterable[int]) -> list[int]:
        """The ids that are not literals."""
        return [number for number in ids if not self.triples.is_literal(number)]

    def _is_unnamed(self, number: int) -> bool:
        return number in self._blank and not self.vocabulary.names(number).from_graph

    @cached_property
    def _blank(self) -> range:
        """Ids of blank nodes; they are consecutive, since ids follow the order of terms."""
        terms = range(self.triples.totals.literals, self.triples.totals.terms)
        first, last = (bisect_left(terms, text, key=self.triples.term) for text in ("_:", "_;"))
        return terms[first:last]
