import os
from collections import Counter
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.hash_triples import HashTriples
from kg_index.building.build import build
from kg_index.building.rdf_parsing import read_triples
from kg_index.triples.columns import CorruptGraphError
from kg_index.triples.paths import Step, paths_between
from kg_index.triples.triple_index import TripleIndex
from kg_index.values.literals import Days, near

E = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
TRIPLES = [
    ("canada", "capital", "ottawa"),
    ("canada", "contains", "ottawa"),
    ("canada", "contains", "toronto"),
    ("ottawa", "country", "canada"),
    ("gates", "parent", "senior"),
    ("senior", "child", "gates"),
    ("gates", "born", "seattle"),
    ("senior", "born", "bremerton"),
]


def indexed(folder: Path, triples, **options) -> TripleIndex:
    build([triples], folder, **options)
    return TripleIndex(folder)


@pytest.fixture
def index(tmp_path) -> TripleIndex:
    literals = [
        (f"{E}canada", f"{E}founded", f'"1867-07-01"^^<{XSD}date>'),
        (f"{E}canada", f"{E}inhabitants", f'"41000000"^^<{XSD}integer>'),
        (f"{E}canada", f"{E}area", f'"9984670"^^<{XSD}double>'),
        (f"{E}canada", f"{E}label", '"Canada"@en'),
    ]
    return indexed(tmp_path / "kg", [tuple(E + name for name in triple) for triple in TRIPLES] + literals)


@pytest.fixture
def i(index):
    return lambda name: index.id_of(E + name)


def test_two_known_terms_give_the_third(index, i):
    assert index.objects(i("canada"), i("contains")).tolist() == sorted([i("ottawa"), i("toronto")])
    assert index.subjects(i("born"), i("seattle")).tolist() == [i("gates")]
    assert index.predicates(i("canada"), i("ottawa")).tolist() == [i("capital"), i("contains")]
    assert index.objects(i("ottawa"), i("capital")).tolist() == []
    assert index.objects(i("canada"), 10**9).tolist() == []
    assert index.objects(i("canada"), i("capital")).dtype == np.int64


def test_one_known_term(index, i):
    assert index.predicates_of(i("senior")).tolist() == [i("born"), i("child")]
    assert index.predicates_to(i("gates")).tolist() == [i("child")]
    p, o = index.facts(i("senior"))
    assert list(zip(p.tolist(), o.tolist(), strict=True)) == [(i("born"), i("bremerton")), (i("child"), i("gates"))]
    p, s = index.facts_to(i("ottawa"))
    assert list(zip(p.tolist(), s.tolist(), strict=True)) == [(i("capital"), i("canada")), (i("contains"), i("canada"))]
    s, o = index.with_predicate(i("born"))
    assert {*zip(s.tolist(), o.tolist(), strict=True)} == {(i("gates"), i("seattle")), (i("senior"), i("bremerton"))}
    assert index.salience(np.array([i("canada"), i("ottawa"), i("toronto")])).tolist() == [7, 1, 0]
    assert [index.degree(i(name)) for name in ("ottawa", "canada", "toronto")] == [3, 8, 1]


def test_terms_and_ids_go_both_ways(index):
    terms = [index.term(number) for number in range(index.totals.terms)]
    assert [index.id_of(term) for term in terms] == list(range(len(terms)))
    assert terms == sorted(terms)
    assert [index.is_literal(n) for n in range(len(terms))] == [term.startswith('"') for term in terms]
    assert index.id_of(E) is None
    assert index.id_of(E + "canad") is None
    assert index.id_of("") is None
    assert index.id_of("\ud800") is None


@pytest.mark.parametrize("wrong", [-1, 10**6])
def test_ids_of_another_index_are_refused(index, wrong):
    for ask in (
        index.term,
        index.predicates_of,
        lambda n: index.objects(n, 0),
        lambda n: index.salience(np.array([n])),
    ):
        with pytest.raises(IndexError, match="of another index"):
            ask(wrong)


@pytest.mark.parametrize("wrong", [-1, 10**6])
def test_no_triple_has_a_predicate_of_another_index(index, wrong):
    assert [column.tolist() for column in index.with_predicate(wrong)] == [[], []]


def test_near_finds_numbers_and_dates_by_value(index, i):
    canada = i("canada")
    assert index.near(canada, 4.1e7, partial(near, tolerance=0)).tolist() == [i("inhabitants")]
    assert index.near(canada, 4.2e7, partial(near, tolerance=0.01)).tolist() == []
    assert index.near(canada, 4.2e7, partial(near, tolerance=0.03)).tolist() == [i("inhabitants")]
    assert index.near(canada, 9.98e6, partial(near, tolerance=0.01)).tolist() == [i("area")]
    assert index.near(canada, Days.of(1867), partial(near, tolerance=0)).tolist() == [i("founded")]
    assert index.near(canada, Days.of(1867, 7, 3), partial(near, tolerance=1)).tolist() == []
    assert index.near(i("ottawa"), 1.0, partial(near, tolerance=0.5)).tolist() == []


def test_paths_of_the_thesis_examples(index, i):
    assert index.paths(i("gates"), i("senior")) == [
        (Step(i("child"), True),),
        (Step(i("parent"), False),),
    ]
    assert index.paths(i("gates"), i("bremerton")) == [
        (Step(i("child"), True), Step(i("born"), False)),
        (Step(i("parent"), False), Step(i("born"), False)),
    ]
    assert index.paths(i("gates"), i("bremerton"), longest=1) == []
    assert index.paths(i("gates"), i("canada")) == []
    assert index.paths(i("gates"), i("gates")) == []
    with pytest.raises(ValueError, match="1 or 2 steps"):
        index.paths(i("gates"), i("canada"), longest=3)


def test_stats(index):
    stats = index.stats()
    assert (stats.totals.triples, stats.totals.literals, stats.totals.predicates) == (12, 4, 10)
    assert stats.most_frequent[0] == (f"{E}born", 2)
    assert sum(count for _, count in stats.most_frequent) == len(index) == 12
    assert stats.bytes == sum(f.stat().st_size for f in index.folder.iterdir() if f.name != "manifest.json")


# --- against brute force, rdflib and the hash form --------------------------------------------------------------------

NAMES = [f"{E}{letter}" for letter in "abcdef"] + ['"x"', '"x"@en', "_:b"]
GRAPHS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES[:4]), st.sampled_from(NAMES)), max_size=30)


@settings(max_examples=30)
@given(GRAPHS)
def test_all_lookups_answer_like_brute_force(tmp_path_factory, triples):
    index = indexed(tmp_path_factory.mktemp("graph") / "kg", triples)
    numbers = {name: index.id_of(name) for name in NAMES if index.id_of(name) is not None}
    facts = {tuple(numbers[term] for term in triple) for triple in triples}
    hashed = HashTriples.of(index)
    assert len(index) == len(hashed) == len(facts)
    pairs = [*product(numbers.values(), repeat=2)]
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    expected = (
        [sorted(o for s, p, o in facts if (s, p) == pair) for pair in pairs],
        [sorted(s for s, p, o in facts if (p, o) == pair) for pair in pairs],
        [sorted(p for s, p, o in facts if (s, o) == pair) for pair in pairs],
    )
    for form in (index, hashed):
        for one, many, answers in zip(
            (form.objects, form.subjects, form.predicates),
            (form.objects_many, form.subjects_many, form.predicates_many),
            expected,
            strict=True,
        ):
            assert [one(*pair).tolist() for pair in pairs] == answers
            groups = many(first, second)
            assert [groups[n].tolist() for n in range(len(pairs))] == answers
    for number in numbers.values():
        assert index.predicates_of(number).tolist() == sorted({p for s, p, _ in facts if s == number})
        assert index.predicates_to(number).tolist() == sorted({p for _, p, o in facts if o == number})
        assert Counter(index.neighbours(number).tolist()) == Counter(
            [o for s, _, o in facts if s == number] + [s for s, _, o in facts if o == number]
        )


def paths_by_hand(index, facts, a, b):
    """Over all steps there are; a literal joins nothing."""
    steps = {(s, o, Step(p, False)) for s, p, o in facts} | {(o, s, Step(p, True)) for s, p, o in facts}
    one = {(step,) for x, y, step in steps if (x, y) == (a, b)}

    def middle(m):
        return m not in (a, b) and not index.is_literal(m)

    two = {(f, g) for x, m, f in steps for n, y, g in steps if (x, y) == (a, b) and m == n and middle(m)}
    return [] if a == b else sorted(one) + sorted(two)


@settings(max_examples=20)
@given(GRAPHS)
def test_paths_are_those_of_brute_force_whatever_counts_as_a_hub(tmp_path_factory, triples):
    index = indexed(tmp_path_factory.mktemp("graph") / "kg", triples)
    facts = {tuple(index.id_of(term) for term in triple) for triple in triples}
    for a, b in product(range(index.totals.terms), repeat=2):
        expected = paths_by_hand(index, facts, a, b)
        assert index.paths(a, b) == expected
        smaller = min(index.degree(a), index.degree(b))
        assert index.paths(a, b, hub=smaller) == expected  # the larger one is a hub, the smaller one is not
        assert paths_between(index, a, b, hub=smaller - 1) == [path for path in expected if len(path) == 1]


@settings(max_examples=15)
@given(GRAPHS)
def test_paths_over_many_middles_are_looked_up_together(tmp_path_factory, triples):
    many = [(f"{E}a", f"{E}p", f"{E}m{n}") for n in range(30)] + [(f"{E}m{n}", f"{E}q", f"{E}b") for n in range(30)]
    index = indexed(tmp_path_factory.mktemp("graph") / "kg", triples + many)
    facts = {tuple(index.id_of(term) for term in triple) for triple in triples + many}
    a, b = index.id_of(f"{E}a"), index.id_of(f"{E}b")
    assert index.paths(a, b) == paths_by_hand(index, facts, a, b)
    assert index.paths(b, a) == paths_by_hand(index, facts, b, a)


def test_rdflib_agrees(tmp_path, index):
    graph = rdflib.Graph()
    for triple in TRIPLES:
        graph.add(tuple(rdflib.URIRef(E + name) for name in triple))
    for s, p, _ in TRIPLES:
        theirs = sorted(str(o) for o in graph.objects(rdflib.URIRef(E + s), rdflib.URIRef(E + p)))
        ours = [index.term(o) for o in index.objects(index.id_of(E + s), index.id_of(E + p)).tolist()]
        assert ours == theirs


# --- files ------------------------------------------------------------------------------------------------------------


def test_an_empty_graph_answers_nothing(tmp_path):
    empty = indexed(tmp_path / "kg", [])
    assert (len(empty), empty.id_of("x"), empty.stats().most_frequent) == (0, None, ())
    assert empty.objects_many(np.empty(0, np.int64), np.empty(0, np.int64)).values.tolist() == []
    assert len(HashTriples.of(empty)) == 0


def test_a_long_literal_is_a_term_like_any_other(tmp_path):
    long = '"' + "x" * 10_000_000 + '"'
    index = indexed(tmp_path / "kg", [(f"{E}a", f"{E}p", long), (f"{E}a", f"{E}p", long[:-1] + 'y"')])
    number = index.id_of(long)
    assert number is not None
    assert index.term(number) == long
    assert index.id_of(long[:-2] + '"') is None


def test_missing_index_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="build one first"):
        TripleIndex(tmp_path / "none")


@pytest.mark.parametrize("name", ["terms.text", "spo.objects", "ops.begins", "manifest.json"])
def test_damage_is_told_in_words(index, name):
    path = index.folder / name
    content = path.read_bytes()
    path.write_bytes(content[:-9])
    with pytest.raises(CorruptGraphError, match=name):
        TripleIndex(index.folder)
    path.unlink()
    with pytest.raises(CorruptGraphError, match=f"no such file in .*{name}"):
        TripleIndex(index.folder)


def test_a_changed_byte_is_found_by_the_checksum(index):
    index.check()
    path = index.folder / "sop.predicates"
    content = bytearray(path.read_bytes())
    content[5] ^= 1
    path.write_bytes(content)
    with pytest.raises(CorruptGraphError, match=r"checksum .* instead of .*sop\.predicates"):
        TripleIndex(index.folder).check()


@pytest.mark.parametrize("manifest", ["[]", '{"format": 2}', '{"format": 1}', '{"format": 1, "triples": "x"}'])
def test_a_manifest_that_tells_nothing(index, manifest):
    (index.folder / "manifest.json").write_text(manifest)
    with pytest.raises(CorruptGraphError, match=r"no manifest.*manifest\.json"):
        TripleIndex(index.folder)


DATA = Path(os.environ.get("QA_BOT_DATA", "../shared/data")) / "kg"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason=f"needs {DATA}: set QA_BOT_DATA to the folder of the data")
def test_freebase_has_the_triples_that_it_should(tmp_path):
    files = [DATA / "fb15k237.nt.gz", DATA / "fb15k237.labels.nt.gz"]
    batches = [list(read_triples(file, strict=True)) for file in files]
    assert [sum(map(len, lines)) for lines in batches] == [310_116, 64_300]
    stats = build([batch for lines in batches for batch in lines], tmp_path / "kg")
    assert stats.totals.triples == 374_416
    assert stats.bytes - (tmp_path / "kg/terms.text").stat().st_size <= 40 * 374_416
