"""A part of an index answers like an index that holds nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from qa_bot.documents.sync import add
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.index import Index
from qa_bot.home.index_part import IndexPart, parts
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.types import FloatArray
from retrievers.engines.index import Filter, KeywordQuery

OWN = {
    "own": [
        {"id": "leave", "title": "Leave", "text": "Everyone has thirty days of leave. Ask your lead for leave early."},
        {"id": "urlaub", "title": "Urlaub", "text": "Der Urlaub dauert dreißig Tage, und die Leitung genehmigt ihn."},
    ],
    "more": [{"id": "wifi", "title": "Network", "text": "The network of the office is called Harbour."}],
}
STARTER = [
    {
        "id": "tea",
        "title": "How long should tea steep?",
        "text": "Tea needs three minutes. Leave it longer if you want.",
    },
    {"id": "cats", "title": "Why do cats purr?", "text": "Cats purr when they are content, on most days."},
]


@pytest.fixture(scope="module")
def encoder() -> StaticEncoder:
    return StaticEncoder.load(ENCODER)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")


def _index(folder: Path, encoder: StaticEncoder, collections: dict[str, list[dict[str, str]]]) -> Index:
    home = Home.open(folder)
    for name, rows in collections.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        add(home, Config(), encoder, [folder / f"{name}.jsonl"], collection=name)
    generation = Generations(home.index).current()
    assert generation is not None
    return Index(generation)


@pytest.fixture(scope="module")
def mixed(folder: Path, encoder: StaticEncoder) -> Index:
    return _index(folder / "mixed", encoder, {**OWN, "starter": STARTER})


@pytest.fixture(scope="module")
def alone(folder: Path, encoder: StaticEncoder) -> Index:
    return _index(folder / "alone", encoder, OWN)


@pytest.fixture
def owners(mixed: Index) -> IndexPart:
    return IndexPart(mixed, "starter", without=True)


@pytest.fixture
def starter(mixed: Index) -> IndexPart:
    return IndexPart(mixed, "starter")


@pytest.fixture(scope="module")
def query(encoder: StaticEncoder) -> FloatArray:
    return encoder.encode(["how many days of leave do I have?"])


def _documents(index: Index | IndexPart, documents: np.ndarray) -> list[str]:
    keys, owners = index.passages_of(documents)
    named = {
        int(owner): index.passages([int(key)])[int(key)].source.document
        for key, owner in zip(keys, owners, strict=True)
    }
    return [named[int(document)] for document in documents]


def test_statistics_are_those_of_an_index_without_the_collection(owners: IndexPart, alone: Index) -> None:
    assert owners.documents == alone.documents == 3
    assert owners.languages == alone.languages == {"en": 2, "de": 1}
    for field in ("title", "all"):
        assert owners.average_length(field) == pytest.approx(alone.average_length(field))
    for term in ("leav", "network", "tea", "cat", "nothing"):
        assert owners.document_frequency("all", term) == alone.document_frequency("all", term)
    assert owners.document_frequency("grams", "leav") == alone.document_frequency("grams", "leav")


def test_statistics_of_the_collection(starter: IndexPart) -> None:
    assert starter.documents == 2
    assert starter.languages == {"en": 2}
    assert starter.document_frequency("all", "tea") == 1
    assert starter.document_frequency("all", "network") == 0


def test_documents_are_counted_apart_from_their_passages(tmp_path: Path, encoder: StaticEncoder) -> None:
    pages = "\n\n".join(f"Rule {n} of the house is long, and it says what everyone should do. " * 9 for n in range(9))
    house = [{"id": "house", "title": "House rules", "text": pages}]
    index = _index(tmp_path, encoder, {**OWN, "house": house, "starter": STARTER})
    assert index.documents > index.whole_documents == 6
    assert IndexPart(index, "starter").whole_documents == 2
    assert IndexPart(index, "starter", without=True).whole_documents == 4


def test_searches_find_only_the_part(owners: IndexPart, starter: IndexPart, query: FloatArray) -> None:
    leave = KeywordQuery((("leav", 1.0),))
    assert _documents(owners, owners.keyword_hits(leave, 10).documents) == ["leave"]
    assert _documents(starter, starter.keyword_hits(leave, 10).documents) == ["tea"]
    for view in ("titles", "bodies"):
        (hits,) = owners.dense_hits(view, query, 10)
        assert set(_documents(owners, hits.documents)) == {"leave", "urlaub", "wifi"}
        (hits,) = starter.dense_hits(view, query, 10)
        assert set(_documents(starter, hits.documents)) == {"tea", "cats"}
    assert not set(_documents(owners, owners.unit_hits(query[0], 10).documents)) & {"tea", "cats"}


def test_a_word_is_as_rare_as_in_the_part(owners: IndexPart, alone: Index) -> None:
    """BM25 still knows the lengths of all passages, so that scores differ a little."""
    for term in ("leav", "network"):
        query = KeywordQuery(((term, 1.0),))
        assert owners.keyword_hits(query, 1).scores == pytest.approx(alone.keyword_hits(query, 1).scores, rel=0.05)


def test_floors_come_from_the_part(owners: IndexPart, alone: Index, query: FloatArray) -> None:
    assert owners.floors(query[0]) == pytest.approx(alone.floors(query[0]))


def test_a_filter_narrows_the_part(owners: IndexPart, starter: IndexPart, query: FloatArray) -> None:
    everything = KeywordQuery((("leav", 1.0), ("network", 1.0), ("tea", 1.0)))

    def matches(part: IndexPart, only: Filter) -> list[str]:
        return sorted(_documents(part, part.keyword_hits(everything, 10, only).documents))

    assert matches(owners, Filter(collections=("own",))) == ["leave"]
    assert matches(owners, Filter(collections=("starter",))) == []
    assert matches(owners, Filter(languages=("en",))) == ["leave", "wifi"]
    assert matches(starter, Filter(collections=("own",))) == []
    assert matches(starter, Filter(collections=("own", "starter"))) == ["tea"]
    assert matches(starter, Filter(languages=("en",))) == ["tea"]
    assert owners.unknown(Filter(collections=("starter",))) is None
    assert owners.floors(query[0], Filter(collections=("starter",))) == (0.0, 0.0, 0.0)


def test_the_collection_left_out_is_searched_if_a_filter_names_it_beside_others(mixed: Index) -> None:
    both = Filter(collections=("own", "starter"))
    query = KeywordQuery((("leav", 1.0), ("tea", 1.0)))

    def matches(mode: Literal["auto", "off"], only: Filter) -> list[str]:
        owners, _ = parts(mixed, mode)
        return sorted(_documents(owners, owners.keyword_hits(query, 10, only).documents))

    assert matches("auto", both) == ["leave", "tea"]
    assert matches("auto", Filter(collections=("starter",))) == []  # the other part is asked alone
    assert matches("off", both) == ["leave"]


def test_parts_by_mode(mixed: Index, alone: Index) -> None:
    assert parts(mixed, "always") == (mixed, None)
    assert parts(alone, "auto") == (alone, None)
    assert parts(alone, "off") == (alone, None)
    owners, starter = parts(mixed, "auto")
    assert owners.documents == 3
    assert starter is not None
    assert starter.documents == 2
    owners, starter = parts(mixed, "off")
    assert (owners.documents, starter) == (3, None)


def test_a_home_with_only_the_starter_answers_from_it_unless_it_is_off(folder: Path, encoder: StaticEncoder) -> None:
    index = _index(folder / "only", encoder, {"starter": STARTER})
    assert parts(index, "auto") == (index, None)
    owners, starter = parts(index, "off")
    assert (owners.documents, starter) == (0, None)


def test_a_word_of_all_documents_is_found_after_documents_were_replaced(folder: Path, encoder: StaticEncoder) -> None:
    texts = [f"Quokkas eat {food} on every day." for food in ("leaves", "grass", "bark")]
    rows = [{"id": f"{number}", "title": "", "text": text} for number, text in enumerate(texts)]
    _index(folder / "replaced", encoder, {"own": rows, "starter": STARTER})
    rows[0]["text"] = "Quokkas sleep in the shade."
    index = _index(folder / "replaced", encoder, {"own": rows})
    owners = IndexPart(index, "starter", without=True)
    assert owners.document_frequency("all", "quokka") == owners.documents == 3
    assert len(owners.keyword_hits(KeywordQuery((("quokka", 1.0),)), 10).passages) == 3
