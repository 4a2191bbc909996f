"""Facts in English, rule by rule."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.answers.graph_words import Vocabulary
from kg_index.answers.lookup import Lookup
from kg_index.answers.verbalise import (
    LONGEST,
    UNNAMED,
    Verbaliser,
    capitalised,
    date_text,
    form_of,
    number_text,
    plural,
    shortened,
)

EX = "http://example.org/"


def wording_of(lookup: Lookup) -> Verbaliser:
    return Verbaliser(lookup, Vocabulary(lookup.triples))


def ids(lookup: Lookup, names: str) -> list[int]:
    numbers = [lookup.triples.id_of(EX + name) for name in names.split()]
    assert None not in numbers
    return numbers


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("capital", "noun"),
        ("place of birth", "noun"),
        ("number of moons", "noun"),
        ("borders", "verb"),
        ("Flows through", "verb"),
        ("discovered by", "past"),
        ("founded in", "past"),
        ("Named after", "past"),
        ("part of", "present"),
        ("located in", "present"),
        ("known for", "present"),
        ("in", "noun"),
    ],
)
def test_forms_of_predicates(name: str, form: str) -> None:
    assert form_of(name) == form


@pytest.mark.parametrize(
    ("name", "several"),
    [
        ("capital", "capitals"),
        ("city", "cities"),
        ("day", "days"),
        ("place of birth", "places of birth"),
        ("church", "churches"),
        ("box", "boxes"),
        ("class", "classes"),
        ("neighbours", "neighbours"),
        ("ISO 3166", "ISO 3166"),
        ("ISO 3166-1 code", "ISO 3166-1 codes"),
    ],
)
def test_plurals(name: str, several: str) -> None:
    assert plural(name) == several


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("1867-11-07", "7 November 1867"),
        ("1867-11", "November 1867"),
        ("1867", "1867"),
        ("0476-09-04", "4 September 476"),
        ("-0043", "44 BC"),
        ("-0043-03-15", "15 March 44 BC"),
        ("0000", "1 BC"),
        ("12000", "12000"),
        ("1969-07-20T20:17:40Z", "20 July 1969"),
        ("1969-07-20+02:00", "20 July 1969"),
        ("2024-13-01", "2024-13-01"),
        ("2024-00-01", "2024-00-01"),
        ("last summer", "last summer"),
        ("", ""),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_dates(written: str, expected: str) -> None:
    assert date_text(written) == expected


@given(st.dates())
def test_a_date_is_told_as_the_calendar_does(day: date) -> None:
    assert date_text(day.isoformat()) == f"{day.day} {day:%B} {day.year}"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("0", "0"),
        ("1234", "1234"),
        ("12345", "12,345"),
        ("33000000", "33,000,000"),
        ("-33000000", "-33,000,000"),
        ("+5", "5"),
        ("0012.50", "12.50"),
        ("3.0", "3"),
        ("-0.5", "-0.5"),
        ("5.972e24", "5.972 × 10²⁴"),
        ("5.972E24", "5.972 × 10²⁴"),
        ("1.6e-19", "1.6 × 10⁻¹⁹"),
        ("2e0", "2"),
        (".5", ".5"),
        ("INF", "INF"),
        ("NaN", "NaN"),
        ("1_000_000", "1_000_000"),
        ("5.abc", "5.abc"),
        ("many", "many"),
        ("", ""),
        ("7" * 5000, "7" * 5000),
    ],
)
def test_numbers(written: str, expected: str) -> None:
    assert number_text(written) == expected


@given(st.integers(-(10**18), 10**18))
def test_a_whole_number_keeps_its_value(number: int) -> None:
    text = number_text(str(number))
    assert int(text.replace(",", "")) == number
    assert all(len(group) == 3 for group in text.split(",")[1:])


def test_a_large_first_letter_never_changes_the_length() -> None:
    assert [capitalised(text) for text in ("gold", "éclair", "ßa", "ﬁsh", "7", "")] == [
        "Gold",
        "Éclair",
        "ßa",
        "ﬁsh",
        "7",
        "",
    ]


def test_long_texts_are_cut() -> None:
    assert shortened("a" * LONGEST) == "a" * LONGEST
    assert shortened("a" * 10_000_000) == "a" * (LONGEST - 1) + "…"


@pytest.mark.parametrize(
    ("subjects", "predicate", "objects", "sentence"),
    [
        ("peru", "capital", "lima", "The capital of Peru is Lima."),
        ("peru", "capital", "lima sucre", "The capitals of Peru are Lima and Sucre."),
        ("peru chile", "currency", "sol", "The currency of Peru and Chile is Peruvian sol."),
        ("peru", "borders", "chile", "Peru borders Chile."),
        ("peru chile", "borders", "bolivia", "Peru and Chile border Bolivia."),
        ("radium", "discovered_by", "curie", "Radium was discovered by Marie Curie."),
        ("polonium radium", "discovered_by", "curie", "Polonium and radium were discovered by Marie Curie."),
    ],
)
def test_sentences_show_where_each_term_stands(
    world: Lookup, subjects: str, predicate: str, objects: str, sentence: str
) -> None:
    wording = wording_of(world)
    all_terms = ids(world, subjects), ids(world, objects)
    spanned = wording.sentence(all_terms[0], *ids(world, predicate), all_terms[1])
    assert spanned.text == sentence
    for term in (*all_terms[0], *all_terms[1]):
        assert spanned.text[slice(*spanned.spans[term])].casefold() == world.label(term).casefold()


def test_a_sentence_may_begin_with_a_name_as_it_is(world: Lookup) -> None:
    wording = wording_of(world)
    (radium, by, curie) = ids(world, "radium discovered_by curie")
    assert wording.sentence([radium], by, [curie], capital=False).text == "radium was discovered by Marie Curie."


def test_numbers_have_the_unit_of_their_predicate(world: Lookup) -> None:
    wording = wording_of(world)
    (lima, elevation) = ids(world, "lima elevation")
    (height,) = world.triples.objects(lima, elevation).tolist()
    assert wording.sentence([lima], elevation, [height]).text == "The elevation of Lima is 1540 m."
    assert wording.value(height) == "1540"


def test_kinds(world: Lookup) -> None:
    wording = wording_of(world)
    (mars, planet, radium, element) = ids(world, "mars Planet radium Element")
    assert wording.kind(mars, [planet]).text == "Mars is one of the planets."
    assert wording.kind(radium, [element, planet], capital=False).text == (
        "radium is one of the chemical elements and one of the planets."
    )


def test_lists_say_how_many_are_not_shown(world: Lookup) -> None:
    wording = wording_of(world)
    (peru, borders, *others) = ids(world, "peru borders chile bolivia brazil")
    assert wording.listed(others).text == "Chile, Bolivia and Brazil."
    assert wording.listed(others[:1]).text == "Chile."
    assert wording.listed(others, shown=2).text == "Chile, Bolivia and 1 more."
    assert wording.listed(others, shown=2, more=True).text == "Chile, Bolivia and at least 1 more."
    assert wording.count(others).text == "3 are known: Chile, Bolivia and Brazil."
    assert wording.count(others[:1]).text == "1 is known: Chile."
    assert wording.count(others, shown=1).text == "3 are known: Chile and 2 more."
    assert wording.count(others, shown=1, more=True).text == "At least 3 are known: Chile and at least 2 more."
    cut = wording.sentence([peru], borders, others, shown=1)
    assert cut.text == "Peru borders Chile and 2 more."
    assert cut.spans.keys() == {peru, others[0]}
    assert wording.sentence([peru], borders, others, shown=1, more=True).text == (
        "Peru borders Chile and at least 2 more."
    )


def test_names_keep_their_article_where_the_graph_tells_one(build_graph) -> None:
    world = build_graph("""
        :usa rdfs:label "United States"@en ; skos:altLabel "the United States"@en ; :capital :dc .
        :dc rdfs:label "Washington, D.C."@en .
        :capital rdfs:label "capital"@en .""")
    wording = wording_of(world)
    (usa, capital, dc) = ids(world, "usa capital dc")
    assert wording.sentence([usa], capital, [dc]).text == "The capital of the United States is Washington, D.C."
    assert wording.listed([usa]).text == "The United States."


def test_names_that_say_nothing_are_not_taken(build_graph) -> None:
    """Blank labels, labels in other languages alone, IRIs without a word, nodes without a name."""
    world = build_graph("""
        :peru rdfs:label ""@en, "   " ; :leads_to _:node ; <http://a.b/_> :lima ; :Ancestor :lima ; :x "a.\\nb" .
        :lima rdfs:label "Lima"@en .
        :leads_to rdfs:label " "@en, "führt zu"@de .
        _:named rdfs:label "Node"@en ; :x :lima .""")
    wording, index = wording_of(world), world.triples
    (peru, leads, ancestor, lima, x) = ids(world, "peru leads_to Ancestor lima x")
    odd = index.id_of("http://a.b/_")
    (node,) = index.objects(peru, leads).tolist()
    (named,) = index.subjects(x, lima).tolist()
    (text,) = index.objects(peru, x).tolist()
    assert wording.value(peru) == "peru"
    assert wording.sentence([peru], leads, [node]).text == f"Peru leads to {UNNAMED}."
    assert wording.sentence([peru], ancestor, [lima]).text == "The ancestor of peru is Lima."
    assert wording.value(named) == "Node"
    assert wording.sentence([peru], odd, [lima]).text.endswith(" of peru is Lima.")
    assert wording.sentence([peru], x, [text]).text == "The x of peru is a.\nb."


def test_verbs_lose_their_s(build_graph) -> None:
    world = build_graph("""
        :a :f :c . :b :f :c . :a :g :c . :b :g :c . :a :h :c . :b :h :c .
        :f rdfs:label "empties into" . :g rdfs:label "lies in" . :h rdfs:label "has part" .""")
    wording = wording_of(world)
    (a, b, c) = ids(world, "a b c")
    sentences = [wording.sentence([a, b], p, [c]).text for p in ids(world, "f g h")]
    assert sentences == ["A and b empty into c.", "A and b lie in c.", "A and b have part c."]
