from itertools import pairwise
from math import log
from pathlib import Path

import pytest

from retrievers.engines.index import Filter, KeywordQuery
from retrievers.engines.local import keyword
from retrievers.engines.local.facets import Facets
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter
from tests.retrievers.engines.local.keyword_entries import ENTRIES, bm25, key_pairs, keys, query, scores, write


@pytest.fixture
def index(tmp_path):
    return write(tmp_path / "keyword", ENTRIES)


def ranked(scores):
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def test_a_score_worked_out_by_hand(tmp_path):
    index = write(tmp_path, [Entry(1, 1, [], ["egg", "egg"]), Entry(2, 2, [], ["cat"] * 4)])
    # N = 2, n = 1: idf = ln 2; length 2 of mean 3: 1 − .75 + .75 · 2/3 = .75; ln 2 · 2 · 2.2 / (2 + 1.2 · .75)
    assert scores(index.search(query("egg"), 5)) == {1: pytest.approx(0.693147 * 4.4 / 2.9, rel=1e-5)}


@pytest.mark.parametrize("field", ["title", "all"])
@pytest.mark.parametrize("text", ["cat", "sleep cat", "egg egg day", "dog bark unknown", "boil"])
def test_scores_are_bm25(index, field, text):
    texts = {entry.key: entry.title if field == "title" else entry.text for entry in ENTRIES}
    expected = ranked(bm25(texts, [(term, 1.0) for term in text.split()]))
    hits = index.search(query(text, field=field), 10)
    assert keys(hits) == [key for key, _ in expected]
    assert hits.scores.tolist() == pytest.approx([score for _, score in expected], rel=1e-5)
    assert (hits.documents == hits.passages // 10).all()


def test_weights_multiply_and_repeated_terms_add_up(index):
    weighted = KeywordQuery((("cat", 0.8), ("egg", 0.1), ("cat", 0.2), ("day", 0.0), ("dog", -1.0)))
    expected = ranked(bm25({entry.key: entry.text for entry in ENTRIES}, [("cat", 1.0), ("egg", 0.1)]))
    hits = index.search(weighted, 10)
    assert [*scores(hits).items()] == [(key, pytest.approx(s, rel=1e-5)) for key, s in expected]


def test_scores_of_long_passages_differ_only_by_rounded_lengths(tmp_path):
    texts = {key: ["egg"] * (key % 7) + ["word"] * (41 + 13 * key) for key in range(1, 30)}
    index = write(tmp_path, [Entry(key, key, [], text) for key, text in texts.items()])
    expected = bm25(texts, [("egg", 1.0)])
    hits = index.search(query("egg"), 50)
    assert len(hits) == len(expected)
    assert all(score == pytest.approx(expected[key], rel=0.06) for key, score in scores(hits).items())


def test_phrases_match_in_order(tmp_path):
    entries = [Entry(1, 1, [], ["a", "b", "c"]), Entry(2, 2, [], ["b", "a", "c"]), Entry(3, 3, [], ["a", "c", "b"])]
    index = write(tmp_path, entries)
    bigram = index.search(query("", phrases=((("a", "b"), 1.0, 0),)), 9)
    assert keys(bigram) == [1]
    near = index.search(query("", phrases=((("a", "b"), 1.0, 1),)), 9)
    assert {*keys(near)} >= {1, 3}
    # Every passage contains each term: idf of the phrase 2 · ln(1 + .5 / 3.5), one match in a passage of mean length.
    assert bigram.scores[0] == pytest.approx(2 * log(1 + 0.5 / 3.5), rel=1e-5)


def test_phrases_add_to_terms(index):
    plain = scores(index.search(query("cat sleep"), 9))
    mixed = index.search(query("cat sleep", phrases=((("cat", "sleep"), 0.1, 0), (("cat", "unknown"), 0.1, 0))), 9)
    more = [key for key, score in scores(mixed).items() if score > plain[key] + 1e-6]
    assert more == [10]


def test_a_phrase_of_one_term_is_refused(index):
    with pytest.raises(ValueError, match="Expected a phrase of two terms or more"):
        index.search(query("", phrases=((("cat",), 1.0, 0),)), 9)


def test_an_empty_query_matches_nothing(index):
    for text, k in (("", 5), ("unknown", 5), ("cat", 0)):
        assert len(index.search(query(text), k)) == 0
    assert len(index.search_text("", 5)) == len(index.search_text("   ", 5)) == 0


def test_an_empty_index_matches_nothing(tmp_path):
    index = write(tmp_path, [])
    assert (index.documents, index.deleted, index.average_length("all")) == (0, 0, 0.0)
    assert len(index.search(query("cat"), 5)) == 0


def test_equal_scores_are_ordered_by_key(tmp_path):
    index = write(tmp_path, [Entry(key, key, [], ["egg"]) for key in (5, 3, 9, 1)])
    assert keys(index.search(query("egg"), 4)) == [1, 3, 5, 9]


def test_passages_and_queries_share_one_analysis(tmp_path):
    with KeywordWriter(tmp_path) as writer:
        writer.add([Entry(1, 1, "Cats", "Why do cats sleep?"), Entry(2, 2, "鸡蛋", "怎么煮鸡蛋 Straße Ça naïve")])
    index = KeywordIndex(tmp_path)
    assert keys(index.search_text("a sleeping CAT", 5)) == [1]
    assert keys(index.search_text("鸡蛋", 5, field="title")) == [2]
    assert keys(index.search_text("STRASSE", 5)) == [2]


def test_statistics(index):
    assert index.documents == 4
    assert index.document_frequency("all", "cat") == 3
    assert index.document_frequency("title", "cat") == 2
    assert index.document_frequency("all", "unknown") == 0
    assert index.average_length("title") == 2.0
    assert index.average_length("all") == (6 + 2 + 7 + 6) / 4


def test_negative_and_large_keys(tmp_path):
    index = write(tmp_path, [Entry(-(2**62), -1, [], ["egg"]), Entry(2**62, 2**61, [], ["egg"])])
    assert key_pairs(index.search(query("egg"), 9)) == {(-(2**62), -1), (2**62, 2**61)}


def test_a_long_query_uses_its_terms_of_greatest_weight(tmp_path):
    # The passages 0 … t contain term t, so w0 is the rarest.
    entries = [Entry(key, key, [], [f"w{t}" for t in range(key, 200)]) for key in range(200)]
    index = write(tmp_path, entries)
    everything = index.search(query(" ".join(f"w{t}" for t in reversed(range(200)))), 300)
    rarest = index.search(query(" ".join(f"w{t}" for t in reversed(range(keyword.MAX_TERMS)))), 300)
    assert scores(everything) == scores(rarest)
    heavy = KeywordQuery((*((f"w{t}", 1.0) for t in range(200)), ("w199", 1000.0)))
    assert len(index.search(heavy, 300)) == 200


def test_a_question_of_ten_thousand_words_is_answered(index):
    words = [f"word{n}" for n in range(10_000)] + ["egg"]
    pairs = tuple(((a, b), 0.1, 0) for a, b in pairwise(words))
    assert keys(index.search(query(" ".join(words), phrases=pairs), 9)) == [20]


FILED = [
    Entry(1, 1, [], ["egg"], facets=Facets("a", ("guides", "guides/eggs.md"), 20240501, "en")),
    Entry(2, 1, [], ["egg", "egg"], facets=Facets("a", ("guides", "guides/eggs.md"), 20240501, "en")),
    Entry(3, 2, [], ["egg", "egg", "egg"], facets=Facets("b", ("guides", "guides/eier.md"), 20250102, "de")),
    Entry(4, 3, [], ["egg"], facets=Facets("b", ("notes.md",))),
]


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (Filter(collections=("a",)), {1, 2}),
        (Filter(collections=("a", "b")), {1, 2, 3, 4}),
        (Filter(collections=("c",)), set()),
        (Filter(under=("guides",)), {1, 2, 3}),
        (Filter(under=("guides/eier.md", "notes.md")), {3, 4}),
        (Filter(under=("guide",)), set()),
        (Filter(languages=("de",)), {3}),
        (Filter(since=20240501), {1, 2, 3}),
        (Filter(until=20240501), {1, 2}),  # a document without a date is left out
        (Filter(since=20240502, until=20250101), set()),
        (Filter(collections=("b",), languages=("de",), since=20250102), {3}),
    ],
)
def test_a_filter_lets_through_what_matches_all_of_its_fields(tmp_path: Path, only: Filter, expected: set[int]) -> None:
    with KeywordWriter(tmp_path) as writer:
        writer.add(FILED)
    index = KeywordIndex(tmp_path)
    hits = index.search(query("egg"), 9, only)
    assert {*keys(hits)} == expected
    unfiltered = dict(zip(keys(index.search(query("egg"), 9)), index.search(query("egg"), 9).scores, strict=True))
    assert [unfiltered[key] for key in keys(hits)] == pytest.approx(hits.scores.tolist()), "scores stay"
    assert index.matching(only).tolist() == sorted({entry.document for entry in FILED if entry.key in expected})


def test_a_value_of_deleted_documents_only_is_unknown(tmp_path: Path) -> None:
    with KeywordWriter(tmp_path) as writer:
        writer.add(FILED)
    with KeywordWriter(tmp_path) as writer:
        writer.delete([1])
    index = KeywordIndex(tmp_path)
    assert index.deleted == 2
    assert [index.has("folder", name) for name in ("guides", "guides/eggs.md", "notes.md")] == [True, False, True]
    assert not index.has("collection", "a")


def test_pieces_of_words_have_a_field_of_their_own(tmp_path: Path) -> None:
    with KeywordWriter(tmp_path) as writer:
        writer.add([Entry(1, 1, [], ["report"], "_rep repo epor port ort_"), Entry(2, 2, [], ["port"])])
    index = KeywordIndex(tmp_path)
    assert keys(index.search(KeywordQuery((("port", 1.0),), "grams"), 9)) == [1]
    assert keys(index.search(query("port"), 9)) == [2]
