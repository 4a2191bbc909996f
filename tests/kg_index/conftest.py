"""Small graphs to ask, and an encoder whose words are the axes of its space."""

from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from kg_index.answers.lookup import Lookup
from kg_index.building.loading import load
from kg_index.building.rdf_parsing import read_triples
from kg_index.linking.mention_rows import rows_of
from kg_index.linking.mentions import write_mentions
from kg_index.triples.triple_index import TripleIndex

Built = Callable[..., Lookup]
PREFIXES = """
@prefix : <http://example.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <https://schema.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix unit: <https://qa-bot.org/kg/p/> .
"""
WORLD = """
:Country rdfs:label "Country"@en ; skos:altLabel "countries"@en, "nation"@en .
:Planet rdfs:label "Planet"@en ; skos:altLabel "planets"@en .
:City rdfs:label "City"@en ; skos:altLabel "cities"@en .
:Element rdfs:label "Chemical element"@en ; skos:altLabel "elements"@en .

:capital rdfs:label "capital"@en ; skos:altLabel "seat of government"@en .
:borders rdfs:label "borders"@en ; skos:altLabel "neighbour"@en .
:currency rdfs:label "currency"@en ; skos:altLabel "money"@en .
:population rdfs:label "population"@en ; skos:altLabel "inhabitants"@en .
:independent rdfs:label "date of independence"@en ; skos:altLabel "independent since"@en .
:calling_code rdfs:label "calling code"@en .
:moons rdfs:label "number of moons"@en ; skos:altLabel "moons"@en .
:mayor rdfs:label "mayor"@en .
:founded rdfs:label "founded in"@en ; skos:altLabel "founding year"@en .
:elevation rdfs:label "elevation"@en ; skos:altLabel "height"@en ; unit:unit "m" .
:symbol rdfs:label "chemical symbol"@en .
:discovered_by rdfs:label "discovered by"@en ; skos:altLabel "discoverer"@en, "discover"@en .
:founded_by rdfs:label "founded by"@en .

:peru a :Country ; rdfs:label "Peru"@en ; :capital :lima ; :borders :chile, :bolivia, :brazil ; :currency :sol ;
    :population 33000000 ; :independent "1821-07-28"^^xsd:date ; :calling_code "+51" .
:chile a :Country ; rdfs:label "Chile"@en ; :capital :santiago ; :borders :peru, :bolivia ; :calling_code "+56" .
:bolivia a :Country ; rdfs:label "Bolivia"@en ; :capital :sucre ; :borders :peru, :chile, :brazil .
:brazil a :Country ; rdfs:label "Brazil"@en ; :capital :brasilia ; :borders :peru, :bolivia .
:lima a :City ; rdfs:label "Lima"@en ; :founded "1535"^^xsd:gYear ; :elevation 1540 ; :mayor :muñoz .
:muñoz rdfs:label "Jorge Muñoz"@en .
:santiago a :City ; rdfs:label "Santiago"@en ; :founded "1541"^^xsd:gYear .
:sucre a :City ; rdfs:label "Sucre"@en .
:brasilia a :City ; rdfs:label "Brasília"@en .
:sol rdfs:label "Peruvian sol"@en .
:mars a :Planet ; rdfs:label "Mars"@en ; :moons 2 .
:venus a :Planet ; rdfs:label "Venus"@en ; :moons 0 .
:mercury a :Planet ; rdfs:label "Mercury"@en ; schema:description "The planet nearest to the sun."@en ; :moons 0 .
:quicksilver a :Element ; rdfs:label "Mercury"@en ; schema:description "A liquid metal."@en ; :symbol "Hg" .
:radium a :Element ; rdfs:label "radium"@en ; :symbol "Ra" ; :discovered_by :curie .
:polonium a :Element ; rdfs:label "polonium"@en ; :symbol "Po" ; :discovered_by :curie .
:curie rdfs:label "Marie Curie"@en .
:swift rdfs:label "Swift"@en ; :founded_by :curie .
"""


def encode(texts: Sequence[str]) -> np.ndarray:
    """(N, 64) of length 1, or zero for a text without words."""
    vectors = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in zip(vectors, texts, strict=True):
        for word in text.lower().split():
            row[crc32(word.encode("utf-8", "replace")) % 64] += 1
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def built(turtle: str, folder: Path) -> Lookup:
    """A graph of Turtle without its prefixes, with the names of all entities but predicates."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "graph.ttl"
    path.write_text(PREFIXES + turtle, encoding="utf-8")
    load([path], folder / "triples")
    index = TripleIndex(folder / "triples")
    predicates = frozenset(index.predicate_counts()[0].tolist())

    def entity(term: str) -> int | None:
        number = index.id_of(term)
        return None if number in predicates else number

    rows = rows_of((triple for batch in read_triples(path) for triple in batch), entity)
    return Lookup(index, write_mentions(rows, folder / "mentions", salience=index.salience))


@pytest.fixture
def build_graph(tmp_path: Path) -> Built:
    """Builds a graph from Turtle; several graphs in one test need different names."""
    return lambda turtle, name="graph": built(turtle, tmp_path / name)


@pytest.fixture(scope="session")
def built_graph() -> Callable[[str, Path], Lookup]:
    """The same for fixtures that live longer, into a folder of theirs."""
    return built


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Lookup:
    """Countries, planets, elements."""
    return built(WORLD, tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="session")
def bag_of_words() -> Callable[[Sequence[str]], np.ndarray]:
    return encode
