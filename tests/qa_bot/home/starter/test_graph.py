"""The starter graph: format, labels, consistency, and facts that can be counted.

`graph_questions.jsonl` holds questions over the graph with all their answers (labels of entities, numbers and dates as
the graph writes them, or counts), and questions that it cannot answer (no answers).
"""

import json
import re
from collections import Counter, defaultdict
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

from qa_bot.home.starter import FOLDER as STARTER

FOLDER = STARTER / "graph"
QUESTIONS = FOLDER.parent / "graph_questions.jsonl"
FILES = sorted(FOLDER.glob("*.ttl"))
KG = "https://qa-bot.org/kg/"
P = KG + "p/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
CLASS = "http://www.w3.org/2000/01/rdf-schema#Class"
ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
DESCRIPTION = "https://schema.org/description"
XSD = "http://www.w3.org/2001/XMLSchema#"
NO_CODES = {KG + "Kosovo"}
"""States without an ISO 3166 code."""
CITY_STATES = {KG + name for name in ("Monaco", "Singapore", "Vatican_City")}

Node = pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal | pyoxigraph.Triple


class Graph:
    """Triples by subject and predicate, and by predicate and object; terms as pyoxigraph gives them."""

    def __init__(self, files: list[Path]) -> None:
        self.triples = [(q.subject.value, q.predicate.value, q.object) for f in files for q in pyoxigraph.parse(path=f)]
        self.forward: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.backward: dict[tuple[str, str], list[str]] = defaultdict(list)
        for s, p, o in self.triples:
            self.forward[s, p].append(o.value)
            self.backward[p, o.value].append(s)

    def values(self, entity: str, predicate: str) -> list[str]:
        return self.forward.get((KG + entity, P + predicate), [])

    def of_kind(self, kind: str) -> list[str]:
        return self.backward[TYPE, KG + kind]

    def values_of(self, kind: str, predicate: str) -> list[str]:
        """Values of a predicate over all entities of a kind."""
        return [value for s in self.of_kind(kind) for value in self.forward.get((s, P + predicate), [])]

    def labels(self, entities: list[str]) -> set[str]:
        return {self.forward[e, LABEL][0] for e in entities}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph(FILES)


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    return [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]


def literals(graph: Graph, predicate: str) -> list[pyoxigraph.Literal]:
    return [o for _, p, o in graph.triples if p == predicate and isinstance(o, pyoxigraph.Literal)]


# form


def test_has_a_few_thousand_triples_and_none_twice(graph: Graph) -> None:
    assert 2_000 <= len(graph.triples) <= 12_000
    assert len({(s, p, str(o)) for s, p, o in graph.triples}) == len(graph.triples)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_can_be_read_by_hand(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert text.endswith(".\n")
    assert max(map(len, text.splitlines())) <= 120
    assert "\r" not in text
    assert f"`{file.name}`" in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_name_has_one_english_label(graph: Graph) -> None:
    used = {s for s, _, _ in graph.triples} | {o.value for _, _, o in graph.triples if o.value.startswith(KG)}
    used |= {p for _, p, _ in graph.triples if p.startswith(KG)}
    assert {name: graph.forward[name, LABEL] for name in used if len(graph.forward[name, LABEL]) != 1} == {}
    assert {label.language for p in (LABEL, ALIAS, DESCRIPTION) for label in literals(graph, p)} == {"en"}
    assert not [
        label.value for p in (LABEL, ALIAS) for label in literals(graph, p) if label.value != label.value.strip()
    ]


def test_every_entity_has_one_declared_kind(graph: Graph) -> None:
    entities = {s for s, _, _ in graph.triples if not s.startswith(P)}
    assert [e for e in entities if len(graph.forward[e, TYPE]) != 1] == []
    kinds = set(graph.backward[TYPE, CLASS])
    assert {kind for e in entities for kind in graph.forward[e, TYPE]} == kinds | {CLASS}
    assert all(graph.forward[kind, ALIAS] for kind in kinds)


def test_vocabularies(graph: Graph) -> None:
    known = {LABEL, ALIAS, DESCRIPTION, TYPE}
    assert {p for _, p, _ in graph.triples if not p.startswith(P)} == known
    assert {s for s, _, _ in graph.triples if not s.startswith(KG)} == set()
    other = {o.value for _, _, o in graph.triples if isinstance(o, pyoxigraph.NamedNode) and not o.value.startswith(KG)}
    assert other == {CLASS}


def test_predicates_have_aliases_and_units(graph: Graph) -> None:
    predicates = {s for s, _, _ in graph.triples if s.startswith(P)}
    assert predicates == {p for _, p, _ in graph.triples if p.startswith(P)}
    assert [p for p in predicates if not graph.forward[p, ALIAS]] == []
    ends = {"_km": "km", "_km2": "km²", "_m": "m", "_kg": "kg", "_hours": "h", "_days": "days"}
    for end, unit in ends.items():
        named = [p for p in predicates if p.endswith(end)]
        assert named
        assert all(graph.forward[p, P + "unit"][0].split()[-1] == unit for p in named)


def test_a_predicate_has_one_type_of_value(graph: Graph) -> None:
    numbers = {XSD + "integer", XSD + "decimal"}
    types: dict[str, set[str]] = defaultdict(set)
    for _, p, o in graph.triples:
        kind = o.datatype.value if isinstance(o, pyoxigraph.Literal) else "entity"
        types[p].add("number" if kind in numbers else "day" if kind in (XSD + "date", XSD + "gYear") else kind)
    assert {p: values for p, values in types.items() if len(values) != 1} == {}


def test_descriptions_are_one_short_line(graph: Graph) -> None:
    texts = [text.value for text in literals(graph, DESCRIPTION)]
    assert len(texts) >= 40
    assert all(len(text) <= 90 and text.endswith(".") and "\n" not in text for text in texts)
    assert not [o.value for _, _, o in graph.triples if isinstance(o, pyoxigraph.Literal) and "http" in o.value]


def test_entities_with_one_label_have_distinct_descriptions(graph: Graph) -> None:
    named: dict[str, list[str]] = defaultdict(list)
    for s, p, o in graph.triples:
        if p == LABEL and not s.startswith(P) and graph.forward[s, TYPE] != [CLASS]:
            named[o.value.casefold()].append(s)
    shared = {name: entities for name, entities in named.items() if len(entities) > 1}
    assert {"georgia", "mercury"} <= shared.keys()
    for name, entities in shared.items():
        assert len({text for e in entities for text in graph.forward[e, DESCRIPTION]}) == len(entities), name
    assert graph.forward[KG + "Turkey", DESCRIPTION]  # its other meaning is not in the graph


def test_names_of_a_kind_are_distinct(graph: Graph) -> None:
    """Otherwise one question would have two answers."""
    named = Counter(
        (graph.forward[s, TYPE][0], o.value) for s, p, o in graph.triples if p == LABEL and not s.startswith(P)
    )
    assert [name for name, n in named.items() if n > 1] == []


# countries


def test_countries_are_complete(graph: Graph) -> None:
    countries = graph.of_kind("Country")
    assert len(countries) == 197  # members of the United Nations and Vatican, Palestine, Taiwan, Kosovo
    for country in countries:
        has = {p.removeprefix(P) for s, p in graph.forward if s == country}
        assert {"continent", "currency", "language", "area_km2", "calling_code"} <= has, country
        assert has & {"capital", "seat_of_government"}, country
        assert country in NO_CODES or {"iso_alpha2", "iso_alpha3", "internet_domain"} <= has, country


def test_borders_are_symmetric(graph: Graph) -> None:
    pairs = {(s, o.value) for s, p, o in graph.triples if p == P + "borders"}
    assert {(a, b) for a, b in pairs if (b, a) not in pairs} == set()
    assert [a for a, b in pairs if a == b] == []
    alone = [c for c in graph.of_kind("Country") if not graph.forward.get((c, P + "borders"))]
    assert KG + "Iceland" in alone
    assert KG + "Laos" not in alone


def test_capitals_lie_in_their_country(graph: Graph) -> None:
    for kind in ("Country", "US_state"):
        class_name = "country" if kind == "Country" else "us_state"
        for land in graph.of_kind(kind):
            for city in graph.forward.get((land, P + "capital"), []):
                assert graph.forward.get((city, P + class_name)) == [land] or (city == land and land in CITY_STATES)


@pytest.mark.parametrize(
    ("kind", "predicate", "form", "count"),
    [
        ("Country", "iso_alpha2", "[A-Z]{2}", 196),
        ("Country", "iso_alpha3", "[A-Z]{3}", 196),
        ("Country", "internet_domain", r"\.[a-z]{2}", 196),
        ("Currency", "currency_code", "[A-Z]{3}", 143),
        ("US_state", "postal_code", "[A-Z]{2}", 50),
        ("Chemical_element", "chemical_symbol", "[A-Z][a-z]?", 118),
    ],
)
def test_codes_are_distinct_and_of_their_form(graph: Graph, kind: str, predicate: str, form: str, count: int) -> None:
    codes = graph.values_of(kind, predicate)
    assert len(set(codes)) == len(codes) == count
    assert [code for code in codes if not re.fullmatch(form, code)] == []


def test_language_codes_are_distinct(graph: Graph) -> None:
    codes = graph.values_of("Language", "iso_639_1")
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch("[a-z]{2}", code) for code in codes)


def test_calling_codes_have_their_form(graph: Graph) -> None:
    codes = graph.values_of("Country", "calling_code")
    assert [code for code in codes if not re.fullmatch(r"\+(1 \d{3}|[1-9]\d{0,2})", code)] == []
    shared = {code for code, n in Counter(codes).items() if n > 1}
    assert shared == {"+1", "+7", "+39"}  # United States and Canada, Russia and Kazakhstan, Italy and Vatican City


def test_populations_have_two_digits(graph: Graph) -> None:
    values = graph.values_of("Country", "population")
    assert len(values) >= 190
    assert [n for n in values if len(n.rstrip("0")) > 2] == []
    assert 7.5e9 < sum(map(int, values)) < 8.5e9


def test_areas_add_up_to_the_land_of_the_earth(graph: Graph) -> None:
    total = sum(map(float, graph.values_of("Country", "area_km2")))
    assert 1.30e8 < total < 1.40e8  # without Antarctica and Greenland


# elements


def test_elements_are_numbered_from_1_to_118(graph: Graph) -> None:
    assert sorted(map(int, graph.values_of("Chemical_element", "atomic_number"))) == list(range(1, 119))


def test_positions_in_the_periodic_table_are_unique(graph: Graph) -> None:
    spans = [
        (graph.forward[e, P + "period"][0], group)
        for e in graph.of_kind("Chemical_element")
        for group in graph.forward.get((e, P + "group"), [])
    ]
    assert len(set(spans)) == len(spans) == 88  # lanthanides and actinides have no group
    assert Counter(graph.values_of("Chemical_element", "period")) == dict(
        zip("1234567", (2, 8, 8, 18, 18, 32, 32), strict=True)
    )


def test_weights_grow_with_the_number_except_for_known_pairs(graph: Graph) -> None:
    weights = {
        int(graph.forward[e, P + "atomic_number"][0]): float(weight)
        for e in graph.of_kind("Chemical_element")
        for weight in graph.forward.get((e, P + "atomic_weight"), [])
    }
    order = sorted(weights)
    falls = [(a, b) for a, b in pairwise(order) if weights[a] > weights[b]]
    assert falls == [(18, 19), (27, 28), (52, 53), (90, 91)]  # Ar–K, Co–Ni, Te–I, Th–Pa


# planets and people


def test_planets_are_in_order(graph: Graph) -> None:
    planets = sorted(graph.of_kind("Planet"), key=lambda e: int(graph.forward[e, P + "order_from_sun"][0]))
    assert [p.removeprefix(KG).partition("_")[0] for p in planets] == [
        "Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune",
    ]  # fmt: skip
    for predicate in ("distance_from_sun_million_km", "orbital_period_days"):
        values = [float(graph.forward[e, P + predicate][0]) for e in planets]
        assert values == sorted(values)


def test_periods_follow_kepler(graph: Graph) -> None:
    """T²/a³ is 1 in years and astronomical units."""
    for planet in graph.of_kind("Planet"):
        years = float(graph.forward[planet, P + "orbital_period_days"][0]) / 365.26
        distance = float(graph.forward[planet, P + "distance_from_sun_million_km"][0]) / 149.6
        assert years**2 / distance**3 == pytest.approx(1, abs=0.01)


def test_moons_and_planets_refer_to_each_other(graph: Graph) -> None:
    for moon in graph.of_kind("Moon_of_a_planet"):
        (planet,) = graph.forward[moon, P + "orbits"]
        assert moon in graph.forward[planet, P + "moon"]
        assert len(graph.forward[planet, P + "moon"]) <= int(graph.forward[planet, P + "number_of_moons"][0])


def test_dates_of_birth_and_death(graph: Graph) -> None:
    days = {(s, p): o.value for s, p, o in graph.triples if p in (P + "date_of_birth", P + "date_of_death")}
    assert len(days) >= 180
    for day in days.values():
        assert re.fullmatch(r"\d{4}", day) or date.fromisoformat(day)
    ages = [
        int(died[:4]) - int(days[s, P + "date_of_birth"][:4])
        for (s, p), died in days.items()
        if p == P + "date_of_death" and (s, P + "date_of_birth") in days
    ]
    assert min(ages) > 25
    assert max(ages) < 100


# questions


@pytest.mark.parametrize(
    ("entity", "predicate", "answers"),
    [
        ("Australia", "capital", {"Canberra"}),
        ("Japan", "currency", {"Japanese yen"}),
        ("Switzerland", "borders", {"Germany", "France", "Italy", "Austria", "Liechtenstein"}),
    ],
)
def test_first_answers_that_are_entities(graph: Graph, entity: str, predicate: str, answers: set[str]) -> None:
    assert graph.labels(graph.values(entity, predicate)) == answers


@pytest.mark.parametrize(
    ("entity", "predicate", "answer"),
    [
        ("Gold", "chemical_symbol", "Au"),
        ("Mars", "number_of_moons", "2"),
        ("Marie_Curie", "date_of_birth", "1867-11-07"),
    ],
)
def test_first_answers_that_are_values(graph: Graph, entity: str, predicate: str, answer: str) -> None:
    assert graph.values(entity, predicate) == [answer]


def test_planets_with_rings(graph: Graph) -> None:
    with_rings = graph.backward[P + "feature", KG + "Planetary_rings"]
    assert graph.labels(with_rings) == {"Jupiter", "Saturn", "Uranus", "Neptune"}


def test_questions_are_distinct_and_enough(questions: list[dict[str, Any]]) -> None:
    assert all(row.keys() == {"question", "answers"} for row in questions)
    assert len({row["question"].casefold() for row in questions}) == len(questions)
    assert sum(bool(row["answers"]) for row in questions) >= 150
    assert sum(not row["answers"] for row in questions) >= 30


def test_expected_answers_are_in_the_graph_or_counts(graph: Graph, questions: list[dict[str, Any]]) -> None:
    known = {o.value for _, p, o in graph.triples if p == LABEL or (p.startswith(P) and not o.value.startswith(KG))}
    counts = [row for row in questions if row["question"].startswith("How many")]
    for row in questions:
        assert row in counts or [a for a in row["answers"] if a not in known] == [], row["question"]
        assert len(set(row["answers"])) == len(row["answers"])
    assert all(len(row["answers"]) <= 1 for row in counts)
