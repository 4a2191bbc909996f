import pytest

from kg_index.answers.graph_words import Vocabulary
from kg_index.answers.lookup import Lookup

EX = "http://example.org/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


@pytest.fixture(scope="module")
def vocabulary(world: Lookup) -> Vocabulary:
    return Vocabulary(world.triples)


def test_names_are_labels_then_aliases(world: Lookup, vocabulary: Vocabulary) -> None:
    names = vocabulary.names(world.triples.id_of(EX + "independent"))
    assert names.texts == ("date of independence", "independent since")
    assert names.from_graph
    assert names.stems == (frozenset({"date", "independ"}), frozenset({"independ", "sinc"}))
    assert names.all_stems == {"date", "independ", "sinc"}


def test_without_names_the_iri_speaks(build_graph) -> None:
    graph = build_graph("""
        :a <http://rdf.freebase.com/ns/people.person.place_of_birth> :b ; :birthPlace :b ; <http://a.b/_> :b .""")
    vocabulary = Vocabulary(graph.triples)

    def names(iri: str):
        return vocabulary.names(graph.triples.id_of(iri))

    birth = names("http://rdf.freebase.com/ns/people.person.place_of_birth")
    assert birth.texts == ("place of birth", "people person place of birth")
    assert not birth.from_graph
    assert names(EX + "birthPlace").texts == ("birthplace", "birth place")
    assert names("http://a.b/_").texts == ("http://a.b/_",)


def test_names_in_other_languages_and_blank_ones_are_none(build_graph) -> None:
    graph = build_graph("""
        :p rdfs:label "Hauptstadt"@de, " "@en . :q rdfs:label "colour"@en-GB, "Farbe"@de . :a :p :b ; :q :b .""")
    vocabulary = Vocabulary(graph.triples)
    assert not vocabulary.names(graph.triples.id_of(EX + "p")).from_graph
    assert vocabulary.names(graph.triples.id_of(EX + "q")).texts == ("colour",)


def test_kinds_descriptions_and_units(world: Lookup, vocabulary: Vocabulary) -> None:
    mercury, planet, elevation, moons = (
        world.triples.id_of(EX + name) for name in ("mercury", "Planet", "elevation", "moons")
    )
    assert vocabulary.kinds(mercury) == {planet}
    assert vocabulary.is_kind(planet)
    assert not vocabulary.is_kind(mercury)
    assert vocabulary.description(mercury) == "The planet nearest to the sun."
    assert vocabulary.description(planet) == ""
    assert (vocabulary.unit(elevation), vocabulary.unit(moons)) == ("m", "")
    assert {world.triples.id_of(TYPE), world.triples.id_of(LABEL)} <= vocabulary.hidden
    assert elevation not in vocabulary.hidden


def test_what_is_said_about_an_entity(world: Lookup, vocabulary: Vocabulary) -> None:
    about = list(vocabulary.about(world.triples.id_of(EX + "lima")))
    assert {"City", "cities", "founded in", "elevation", "height", "mayor", "capital"} <= {*about}
    assert "Lima" not in about


def test_cyclic_kinds_and_an_entity_that_is_its_own_kind(build_graph) -> None:
    graph = build_graph(':a a :b . :b a :c . :c a :a . :self a :self ; rdfs:label "Self" .')
    vocabulary = Vocabulary(graph.triples)
    a, b, self_loop = (graph.triples.id_of(EX + name) for name in ("a", "b", "self"))
    assert vocabulary.kinds(a) == {b}
    assert vocabulary.kinds(self_loop) == {self_loop}
    assert vocabulary.is_kind(self_loop)
    assert list(vocabulary.about(self_loop)) == ["", "Self"]


def test_of_a_long_description_only_the_beginning_is_read(build_graph) -> None:
    graph = build_graph(f':a schema:description "{"word " * 200_000}" .')
    assert len(Vocabulary(graph.triples).description(graph.triples.id_of(EX + "a"))) == 300


def test_an_empty_graph_has_no_words(build_graph) -> None:
    vocabulary = Vocabulary(build_graph("").triples)
    assert (vocabulary.types, vocabulary.hidden) == ([], frozenset())
