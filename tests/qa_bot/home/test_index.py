"""Reading and writing of an index: all engines agree after any sequence of additions and deletions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_bot.home import index_writer as module
from qa_bot.home.generations import Generations
from qa_bot.home.index import Index, Manifest
from qa_bot.home.index_writer import IndexWriter
from retrievers.engines.index import Filter, KeywordQuery
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.segments import IndexedDocument, IndexedPassage

WORDS = ("ant", "bee", "cow", "dog", "emu", "fox", "gnu", "hen")


class WordEncoder:
    """Unit vectors with one dimension for each of `WORDS`; zero for other texts."""

    dimension = len(WORDS)
    quick = True
    extends = frozenset()

    def __init__(self, fingerprint: str = "words") -> None:
        self.fingerprint = fingerprint

    def encode(self, texts, *, side="question"):
        rows = np.array([[text.split().count(word) for word in WORDS] for text in texts], np.float32)
        rows = rows.reshape(len(texts), len(WORDS))
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def knows(self, word):
        return word in WORDS


def document(key: int, text: str, *more: str, title: str = "") -> IndexedDocument:
    passages = tuple(IndexedPassage(10 * key + i, passage) for i, passage in enumerate((text, *more)))
    return IndexedDocument(key, f"id-{key}", title, "", "", "tests", passages)


def publish(root: Path, added=(), deleted=(), *, encoder=None) -> Index:
    generations = Generations(root)
    previous = generations.current()
    staged = generations.stage((previous.number if previous else 0) + 1)
    writer = IndexWriter(staged, previous, encoder or WordEncoder(), encoder_name="words")
    if deleted:
        writer.delete(deleted)
    writer.add(added)
    return Index(generations.publish(staged, writer.finish().as_dict()))


def by_word(index: Index, word: str) -> dict[str, set[int]]:
    """Engine → keys of the documents that it finds for a word."""
    dense = index.dense_hits("bodies", WordEncoder().encode([word]), 100)[0]
    return {
        "keyword": set(index.keyword_hits(KeywordQuery(((word, 1.0),)), 100).documents.tolist()),
        "dense": set(dense.documents[dense.scores > 0.01].tolist()),
    }


def test_passage_is_found_by_its_words_and_its_title(tmp_path) -> None:
    index = publish(tmp_path, [document(1, "ant bee", "cow", title="dog"), document(2, "emu")])
    assert by_word(index, "cow") == {"keyword": {1}, "dense": {1}}
    assert set(index.keyword_hits(KeywordQuery((("dog", 1.0),)), 10).passages.tolist()) == {10, 11}
    titles = index.keyword_hits(KeywordQuery((("dog", 1.0),), "title"), 10)
    assert titles.passages.tolist() == [10], "a title counts once a document"
    assert index.dense_hits("titles", WordEncoder().encode(["dog"]), 1)[0].documents.tolist() == [1]


def test_statistics_count_passages_and_titles_count_documents(tmp_path) -> None:
    index = publish(tmp_path, [document(1, "ant bee", "cow", title="dog emu fox"), document(2, "emu", title="hen")])
    assert index.documents == 3
    assert index.document_frequency("all", "emu") == 3
    assert index.average_length("all") == pytest.approx((5 + 4 + 2) / 3)
    assert index.average_length("title") == pytest.approx((3 + 1) / 2)
    assert index.average_length("clue") == pytest.approx((3 + 2 + 1 + 1) / 2)  # title and first snippet


def test_the_clue_of_a_document_with_a_body_is_its_title_and_body(tmp_path) -> None:
    question = IndexedDocument(1, "q", "ant bee", "cow dog emu", "", "tests", (IndexedPassage(10, "fox"),))
    index = publish(tmp_path, [question, document(2, "gnu", title="hen")])
    assert index.average_length("clue") == pytest.approx((5 + 2) / 2)


def test_documents_are_named_by_their_exact_id_and_left_out(tmp_path) -> None:
    below = IndexedDocument(3, "id-1/part", "", "", "", "tests", (IndexedPassage(30, "ant"),))
    index = publish(tmp_path, [document(1, "ant"), document(2, "ant"), below])
    assert (index.named("id-1"), index.named("id"), index.named("")) == ((1,), (), ())
    but = Filter(but=index.named("id-1"))
    assert index.keyword_hits(KeywordQuery((("ant", 1.0),)), 9, but).documents.tolist() == [2, 3]
    query = WordEncoder().encode(["ant"])
    assert sorted(index.dense_hits("bodies", query, 9, but)[0].documents.tolist()) == [2, 3]
    assert index.unit_hits(query[0], 9, but).documents.tolist() == []
    narrowed = Filter(collections=("tests",), but=(2,))
    assert sorted(index.dense_hits("bodies", query, 9, narrowed)[0].documents.tolist()) == [1, 3]


def test_document_frequency_excludes_deleted_passages(tmp_path) -> None:
    publish(tmp_path, [document(key, "ant bee") for key in range(1, 6)])
    index = publish(tmp_path, deleted=[1, 2, 3, 4])
    assert (index.documents, index.document_frequency("all", "ant")) == (1, 1)


def test_best_passage_is_the_nearest(tmp_path) -> None:
    index = publish(tmp_path, [document(1, "ant", "bee cow"), document(2, "emu")])
    index = publish(tmp_path, [document(3, "bee", "fox")])
    best = index.best_passages([3, 1, 99], WordEncoder().encode(["bee"])[0], {})
    assert {key: hit.passage.text for key, hit in best.items()} == {3: "bee", 1: "bee cow"}
    preferred = index.best_passages([1, 3], None, {1: 11})
    assert {key: hit.passage.text for key, hit in preferred.items()} == {1: "bee cow", 3: "bee"}


def test_hits_of_several_segments_are_merged_by_score(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(module, "FOLDED", 0)
    publish(tmp_path, [document(i, "ant bee") for i in range(1, 9)])
    index = publish(tmp_path, [document(20, "ant")])
    assert len(index.manifest.segments) == 2
    hits = index.dense_hits("bodies", WordEncoder().encode(["ant", "hen"]), 3)
    assert hits[0].documents.tolist() == [20, 1, 2]
    assert len(hits) == 2


def test_small_segments_are_merged_into_the_next(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(module, "FOLDED", 2)
    publish(tmp_path, [document(i, "ant") for i in range(1, 9)])
    publish(tmp_path, [document(10, "bee"), document(11, "cow")])
    index = publish(tmp_path, [document(20, "dog")], [10])
    assert index.manifest.segments == ("00000001", "00000003")
    assert index.manifest.documents == 10
    assert [by_word(index, word)["dense"] for word in WORDS[1:4]] == [set(), {11}, {20}]
    assert by_word(publish(tmp_path, [document(30, "emu")]), "cow") == {"keyword": {11}, "dense": {11}}


def test_empty_index(tmp_path) -> None:
    index = publish(tmp_path)
    assert by_word(index, "ant") == {"keyword": set(), "dense": set()}
    results = index.dense_hits("titles", WordEncoder().encode(["ant", "bee"]), 3)
    assert [hits.documents.tolist() for hits in results] == [[], []]
    assert index.best_passages([1], None, {}) == {}
    assert (index.documents, index.average_length("title"), index.manifest.segments) == (0, 0, ())


def test_abandoned_writer_leaves_no_files(tmp_path) -> None:
    publish(tmp_path, [document(1, "ant")])
    staged = Generations(tmp_path).stage(2)
    writer = IndexWriter(staged, Generations(tmp_path).current(), WordEncoder(), encoder_name="words")
    writer.abandon()
    assert list(staged.iterdir()) == []


def test_another_encoder_reencodes_all_segments(tmp_path) -> None:
    publish(tmp_path, [document(1, "ant"), document(2, "bee")])
    publish(tmp_path, [document(3, "cow")], [2])
    index = publish(tmp_path, [document(4, "dog")], encoder=WordEncoder("others"))
    assert index.manifest.fingerprint == "others"
    assert [by_word(index, word)["dense"] for word in WORDS[:4]] == [{1}, set(), {3}, {4}]


def test_damaged_live_mask_is_reported(tmp_path) -> None:
    publish(tmp_path, [document(i, "ant") for i in range(1, 9)])
    index = publish(tmp_path, deleted=[3])
    path = next((index.generation.path / "alive").iterdir())
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(CorruptIndexError, match=f"{path.name}.*run qa-bot repair"):
        Index(index.generation)
    path.unlink()
    with pytest.raises(CorruptIndexError, match=path.name):
        Index(index.generation)


@settings(max_examples=8)
@given(
    st.lists(
        st.tuples(
            st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), max_size=6), st.sets(st.integers(0, 30))
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from((0, 3, module.FOLDED)),
)
def test_every_engine_holds_all_live_documents(tmp_path_factory, steps, folded) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FOLDED", folded)
        _check_engines(steps, tmp_path_factory)


def _check_engines(steps, tmp_path_factory) -> None:
    root = tmp_path_factory.mktemp("index") / "root"
    expected: dict[int, str] = {}
    key = 0
    for texts, doomed in steps:
        deleted = [id_ for id_ in expected if id_ in doomed]
        expected = {id_: text for id_, text in expected.items() if id_ not in doomed}
        added = []
        for text in texts:
            key += 1
            expected[key] = " ".join(text)
            added.append(document(key, expected[key]))
        index = publish(root, added, deleted)
        assert index.manifest == Manifest.of(index.generation)
        assert (index.manifest.documents, index.manifest.passages) == (len(expected), len(expected))
    for word in WORDS:
        matches = {id_ for id_, text in expected.items() if word in text.split()}
        assert by_word(index, word) == {"keyword": matches, "dense": matches}
    best = index.best_passages(list(expected), None, {})
    assert {id_: nearest.passage.text for id_, nearest in best.items()} == expected
