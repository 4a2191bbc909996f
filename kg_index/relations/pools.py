"""Reads data sets for relation detection: a question, the relations of its entity, and the right one among them.

The published form (Yin et al. 2016; Yu et al. 2017) is a line `gold \\t pool \\t question` with numbers of relations,
counted from 1 in a second file that names one relation a line. The entity's mention is `#head_entity#`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kg_index.relations.template_text import SLOT, template_words

MENTION = "#head_entity#"
FREEBASE = "http://rdf.freebase.com/ns/"


@dataclass(frozen=True, slots=True)
class PoolQuestion:
    """A question as a template, the relations to choose from, and the right one of them."""

    template: str
    pool: tuple[str, ...]
    gold: str

    @property
    def gold_index(self) -> int:
        """Index of the right relation in the pool."""
        return self.pool.index(self.gold)


def read_relations(path: Path) -> tuple[str, ...]:
    """Names of relations, one a line, as IRIs (`as_iri`).

    Raises ValueError with the line of an empty or repeated name.
    """
    seen: dict[str, int] = {}
    for number, line in _lines(path):
        name = as_iri(line.strip())
        if not name:
            raise ValueError(f"{path}, line {number}: Expected the name of a relation, but got an empty line.")
        if name in seen:
            raise ValueError(
                f"{path}, line {number}: Expected distinct relations, but got {name} of line {seen[name]} again."
            )
        seen[name] = number
    return tuple(seen)


def read_pools(path: Path, relations: Sequence[str]) -> list[PoolQuestion]:
    """Questions with their pools.

    Args:
        relations: names by number, from 1.

    Raises ValueError with the line for wrong columns, an unknown number, a pool with repetitions or without the right
    relation, or a question without exactly one mention.
    """
    questions = []
    for number, line in _lines(path):
        try:
            questions.append(_question(line, relations))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    return questions


def as_iri(name: str) -> str:
    """`…/ns/people.person.gender` for Freebase's `/people/person/gender`; other names unchanged."""
    return FREEBASE + name.strip("/").replace("/", ".") if name.startswith("/") and name.strip("/") else name


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines and their numbers from 1. Raises ValueError for bytes that are not UTF-8."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield number, line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise ValueError(f"{path}, line {number}: Expected UTF-8, but got {error}.") from None


def _question(line: str, relations: Sequence[str]) -> PoolQuestion:
    columns = line.split("\t")
    if len(columns) != 3:
        raise ValueError(f"Expected gold, pool and question between tabs, but got {len(columns)} columns.")
    gold, pool = _relation(columns[0], relations), tuple(_relation(text, relations) for text in columns[1].split())
    if len(set(pool)) < len(pool):
        raise ValueError("Expected distinct relations in the pool, but got one twice.")
    if gold not in pool:
        raise ValueError(f"Expected the right relation in its pool, but got {columns[0]} beside {columns[1][:80]!r}.")
    if columns[2].count(MENTION) != 1:
        raise ValueError(f"Expected one {MENTION} in the question, but got {columns[2][:200]!r}.")
    before, _, after = columns[2].partition(MENTION)
    return PoolQuestion(" ".join([*template_words(before), SLOT, *template_words(after)]), pool, gold)


def _relation(text: str, relations: Sequence[str]) -> str:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= len(relations):
        raise ValueError(f"Expected a number of a relation from 1 to {len(relations)}, but got {text[:40]!r}.")
    return relations[int(text) - 1]
