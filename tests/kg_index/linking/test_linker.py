from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.building.rdf_parsing import read_triples
from kg_index.linking.linker import EntityMention, Linker, Weights
from kg_index.linking.mention_rows import rows_of
from kg_index.linking.mentions import Mentions, write_mentions
from qa_core.types import IntArray

PARIS, TEXAS, MYTH, CITY, NEW_YORK, CITY_OF = range(6)
FACTS = np.array([99, 9, 9, 999, 50, 20])
ABOUT = {PARIS: "capital city of France", TEXAS: "town in Lamar County, Texas", MYTH: "prince of Troy, Helen's lover"}
ROWS = [
    ("Paris", PARIS, 8),
    ("Paris", TEXAS, 1),
    ("Paris", MYTH, 1),
    ("city", CITY, 1),
    ("New York", NEW_YORK, 1),
    ("New York City", CITY_OF, 1),
]


@pytest.fixture
def table(tmp_path: Path) -> Mentions:
    return write_mentions(ROWS, tmp_path)


def salience(entities: IntArray) -> IntArray:
    return np.asarray(FACTS[entities])


def about(entity: int) -> Iterable[str]:
    return [ABOUT[entity]] if entity in ABOUT else []


def test_without_a_context_the_salient_entity_wins(table: Mentions) -> None:
    linker = Linker(table, salience)
    linked = linker.link("who is paris")
    assert [(x.mention.text, x.entity) for x in linked] == [("paris", PARIS)]
    best, *others = linker.candidates("who is paris")
    weights = [exp(0.5 * log(100) + 2 * log(0.8)), exp(0.5 * log(10) + 2 * log(0.1))]  # of the city and either other
    assert best.score == best.share == pytest.approx(weights[0] / (weights[0] + 2 * weights[1]))
    assert [x.entity for x in others] == [TEXAS, MYTH]
    assert others[0].score == others[1].score


def test_words_of_the_question_that_speak_of_the_entity_decide(table: Mentions) -> None:
    linker = Linker(table, salience, context=about, weights=Weights(context=6))
    assert linker.link("which trojan prince of troy named paris loved helen")[0].entity == MYTH
    assert linker.link("in which county of texas is paris")[0].entity == TEXAS
    assert linker.link("which country is paris the capital of")[0].entity == PARIS


def test_the_mention_itself_is_no_context(tmp_path: Path) -> None:
    table = write_mentions([("Paris", PARIS, 1), ("Paris", TEXAS, 1)], tmp_path)
    linker = Linker(table, salience, context=lambda entity: ["Paris"] if entity == TEXAS else [])
    assert linker.link("Paris?")[0].entity == PARIS


def test_longer_mentions_win_where_they_overlap(table: Mentions) -> None:
    linked = Linker(table, salience).link("is paris larger than new york city")
    assert [(x.mention.text, x.entity) for x in linked] == [("new york city", CITY_OF), ("paris", PARIS)]
    assert sum(x.score for x in Linker(table, salience).candidates("is paris larger than new york city")) == (
        pytest.approx(1)
    )


def test_default_weights_by_hand(tmp_path: Path) -> None:
    names = [("oak", 0, 3), ("oak", 1, 1), ("red elm", 2, 1)]
    links = Linker(write_mentions(names, tmp_path), lambda ids: 8 * ids).candidates("oak or red elm")
    odds = {
        0: 2 + 0.2 * 3 + 2 * log(3 / 4),  # a word of 3 letters, no fact, 3 of 4 counts
        1: 2 + 0.2 * 3 + 0.5 * log(9) + 2 * log(1 / 4),
        2: 2 * 2 + 0.2 * 7 + 0.5 * log(17),
    }
    total = sum(map(exp, odds.values()))
    assert {x.entity: x.score for x in links} == pytest.approx({entity: exp(z) / total for entity, z in odds.items()})


def test_words_shared_with_the_context_count_by_hand(tmp_path: Path) -> None:
    table = write_mentions([("Paris", PARIS, 1), ("Paris", TEXAS, 1), ("Paris", MYTH, 1)], tmp_path)
    texts = {TEXAS: ["Texas"], MYTH: ["Troy", "Helen loved Paris"]}
    linker = Linker(table, lambda ids: 0 * ids, context=lambda entity: texts.get(entity, ()))
    # (1 + shared)²: PARIS shares nothing, TEXAS "texas", MYTH "troy" and "helen"
    links = linker.candidates("paris texas troy helen")
    assert {x.entity: x.score for x in links} == pytest.approx({PARIS: 1 / 14, TEXAS: 4 / 14, MYTH: 9 / 14})


def test_a_share_is_of_the_readings_that_overlap(table: Mentions) -> None:
    weights = Weights(words=1, characters=0, salience=0, share=0)
    links = Linker(table, salience, weights=weights).candidates("new york city paris")
    by_entity = {x.entity: x for x in links}
    total = exp(3) + exp(2) + exp(1) + 3 * exp(1)
    assert by_entity[CITY_OF].score == pytest.approx(exp(3) / total)
    assert by_entity[CITY_OF].share == pytest.approx(exp(3) / (exp(3) + exp(2) + exp(1)))
    assert by_entity[CITY].share == pytest.approx(exp(1) / (exp(3) + exp(1)))
    assert by_entity[PARIS].share == pytest.approx(1 / 3)


@given(st.lists(st.sampled_from("oak elm ash fir".split()), min_size=1, max_size=12))  # noqa: SIM905
def test_shares_are_those_of_a_comparison_of_all_pairs(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    names = ["oak", "elm", "oak elm", "elm oak ash", "ash", "fir ash oak elm fir", "ash fir", "oak oak"]
    rows = [(name, number, 1 + number) for number, name in enumerate(names)]
    links = Linker(write_mentions(rows, tmp_path_factory.mktemp("names")), lambda ids: ids + 1).candidates(
        " ".join(words)
    )
    for one in links:
        near = [
            other.score
            for other in links
            if other.mention.start < one.mention.end and one.mention.start < other.mention.end
        ]
        assert one.share == pytest.approx(one.score / sum(near))


def test_a_long_question_of_nested_names_takes_linear_work(tmp_path: Path) -> None:
    """Half a minute where all pairs of mentions were compared."""
    names = write_mentions([(" ".join(["oak"] * size), size, 1) for size in range(1, 33)], tmp_path / "names")
    links = Linker(names, lambda ids: ids + 1).candidates(" ".join(["oak"] * 800))
    assert len(links) == sum(800 - size + 1 for size in range(1, 33))


def test_spotted_are_what_mining_asks_for(table: Mentions) -> None:
    links = Linker(table, salience).find("from new york city to paris")
    assert links == [EntityMention(5, 18, [CITY_OF]), EntityMention(22, 27, [PARIS, TEXAS, MYTH])]
    assert Linker(table, salience, most=1).find("paris") == [EntityMention(0, 5, [PARIS])]
    assert Linker(table, salience).find("") == []


def test_a_name_of_many_entities_is_bounded(tmp_path: Path) -> None:
    table = write_mentions((("John Smith", entity, 1) for entity in range(1200)), tmp_path)
    lookups: list[int] = []

    def context(entity: int) -> list[str]:
        lookups.append(entity)
        return ["singer"] if entity == 998 else []

    linker = Linker(table, lambda entities: entities, context=context)
    assert linker.link("which singer is john smith")[0].entity == 998
    assert len(linker.candidates("which singer is john smith")) == len(lookups) == 20


def test_a_question_of_ten_thousand_words_asks_for_few_contexts(table: Mentions) -> None:
    lookups: list[int] = []
    linker = Linker(table, salience, context=lambda entity: lookups.append(entity) or ())
    assert len(linker.link("paris or new york city " * 2000)) == 4000
    assert len(lookups) <= 6


def test_nothing_is_linked_where_nothing_is_named(table: Mentions, tmp_path: Path) -> None:
    assert Linker(table, salience).link("why do cats sleep") == []
    assert Linker(table, salience).candidates("") == []
    assert Linker(write_mentions([], tmp_path / "none"), salience).link("paris") == []


def test_odds_beyond_all_floats_stay_probabilities(table: Mentions) -> None:
    links = Linker(table, salience, weights=Weights(words=1e6)).candidates("new york city or paris")
    assert links[0].score == 1.0
    assert all(0.0 <= x.score <= 1.0 and 0.0 <= x.share <= 1.0 for x in links)


DATA = Path(os.environ.get("QA_BOT_DATA", "../shared/data"))


@pytest.mark.slow
@pytest.mark.skipif(
    not (DATA / "kg").is_dir(), reason=f"needs {DATA / 'kg'}: set QA_BOT_DATA to the folder of the data"
)
def test_subjects_of_simple_questions_are_linked(tmp_path: Path) -> None:
    """A tenth of the questions; the whole set gives .984 and .903 (benchmarks/linking.py)."""
    files = (DATA / "kg" / name for name in ("fb15k237.nt.gz", "fb15k237.labels.nt.gz"))
    triples = list(chain.from_iterable(chain.from_iterable(map(read_triples, files))))
    ids = {term: i for i, term in enumerate(dict.fromkeys(subject for subject, _, _ in triples))}
    facts = np.bincount([ids[subject] for subject, _, _ in triples])
    table = write_mentions(rows_of(triples, ids.get), tmp_path)
    linker = Linker(table, lambda entities: facts[entities])
    rows = (DATA / "relations/simplequestions.valid.tsv").read_text(encoding="utf-8").splitlines()
    named = [row.split("\t") for row in rows]
    lookups = [(row[3], ids.get("http://rdf.freebase.com/ns/m." + row[0].rpartition("/")[2])) for row in named]
    known = [(question, gold) for question, gold in lookups if gold is not None][::10]
    links = [linker.candidates(question) for question, _ in known]
    golds = [gold for _, gold in known]
    assert len(known) == 172
    assert np.mean([gold in {x.entity for x in f} for f, gold in zip(links, golds, strict=True)]) > 0.95
    assert np.mean([bool(f) and f[0].entity == gold for f, gold in zip(links, golds, strict=True)]) > 0.85
