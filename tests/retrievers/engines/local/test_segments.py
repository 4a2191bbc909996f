"""Segments against plain lists: documents are stored unchanged, and merging and re-encoding preserve them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_core.types import Clue, Source
from retrievers.engines.local import columns, segments
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.indexed_documents import body_text
from retrievers.engines.local.segments import (
    IndexedDocument,
    IndexedPassage,
    Segment,
    SegmentWriter,
    merge,
    reencode,
)


class LetterEncoder:
    """Counts letters, scaled to unit length; `shift` makes it a different encoder."""

    dimension = 26
    fingerprint = "letters"
    quick = True
    extends = frozenset()

    def __init__(self, shift=0):
        self.shift = shift

    def encode(self, texts, *, side="question"):
        rows = np.zeros((len(texts), 26), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    row[(ord(letter) - 97 + self.shift) % 26] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=rows, where=lengths > 0)

    def knows(self, word):
        return True


def document(key, title="", passages=("some text",)):
    texts = tuple(IndexedPassage(key * 100 + i, text) for i, text in enumerate(passages))
    return IndexedDocument(key, f"id-{key}", title, "", f"https://example.org/{key}", "tests", texts)


def write(folder, documents, encoder=None):
    writer = SegmentWriter(folder, encoder or LetterEncoder())
    for item in documents:
        writer.add(item)
    writer.close()
    return Segment(folder)


def test_texts_and_records_are_stored_unchanged(tmp_path):
    segment = write(tmp_path / "s", [document(3, "Zebra", ("one", "zwei 🦓")), document(7, "", ("три",))])
    assert len(segment) == 2
    assert segment.rows_of(np.array([7, 4, 3, 9])).tolist() == [1, -1, 0, -1]
    assert list(segment.passage_rows(0)) == [0, 1]
    passage = segment.passage(1)
    assert (passage.id, passage.text) == ("id-3#1", "zwei 🦓")
    assert passage.clue == Clue("Zebra")
    assert passage.source == Source("id-3", "Zebra", "https://example.org/3", "tests")
    assert segment.document(1) == document(7, "", ("три",))


def test_search_finds_titles_and_passages(tmp_path):
    encoder = LetterEncoder()
    segment = write(tmp_path / "s", [document(1, "aaa", ("bbb", "ccc")), document(2, "ddd", ("eee",))])
    (title,) = segment.search("titles", encoder.encode(["a"]), 1)
    assert (title.documents.tolist(), title.passages.tolist()) == ([1], [-1])
    assert title.scores.tolist() == pytest.approx([1], abs=1e-3)
    (body,) = segment.search("bodies", encoder.encode([body_text("aaa", (), "ccc")]), 1)
    assert (body.documents.tolist(), body.passages.tolist()) == ([1], [101])


def with_units(key, *units):
    """A document of one passage for each text, whose only unit is the passage."""
    texts = tuple(IndexedPassage(key * 100 + i, text, units=((0, len(text)),)) for i, text in enumerate(units))
    return IndexedDocument(key, f"id-{key}", "", "", "", "tests", texts)


def test_a_large_segment_compares_the_units_of_the_nearest_passages_alone(tmp_path, monkeypatch):
    encoder = LetterEncoder()
    segment = write(tmp_path / "s", [with_units(1, "aab", "bbb"), with_units(2, "abb", "ccc"), with_units(3, "aaa")])
    query = encoder.encode(["a"])[0]
    every = segment.search_units(query, 9)
    assert every.passages.tolist() == [300, 100, 200]  # cosines 1, 2/√5 and 1/√5; 0 is no hit
    assert segment.search_units(query, 1).passages.tolist() == [300]
    monkeypatch.setattr(segments, "SCANNED_PASSAGES", 4)
    many = segment.search_units(query, 9)
    assert many.passages.tolist() == every.passages.tolist()
    np.testing.assert_array_equal(many.scores, every.scores)
    monkeypatch.setattr(segments, "NEAREST_PASSAGES", 2)
    assert segment.search_units(query, 9).passages.tolist() == [300, 100]
    segment.live_mask = np.array([True, True, False])
    assert segment.search_units(query, 9).passages.tolist() == [100, 200]


def test_deleted_documents_are_not_found(tmp_path):
    segment = write(tmp_path / "s", [document(1, "aaa"), document(2, "aab")])
    segment.live_mask = np.array([False, True])
    assert segment.search("titles", LetterEncoder().encode(["aaa"]), 5)[0].documents.tolist() == [2]
    assert segment.search("bodies", LetterEncoder().encode(["aaa"]), 5)[0].documents.tolist() == [2]
    assert segment.rows_of(np.array([1, 2])).tolist() == [-1, 1]
    assert len(segment) == 1


def test_the_nearest_passage_of_each_document(tmp_path):
    documents = [document(1, "t", ("aa", "ab", "bb")), document(5, "u", ("cc",)), document(9, "v", ("bb", "bb"))]
    segment = write(tmp_path / "s", documents)
    query = LetterEncoder().encode(["b"])[0]
    passages, titles, bodies = segment.nearest_passages(np.array([2, 0]), query)
    assert passages.tolist() == [4, 2]  # the first of equal passages
    np.testing.assert_allclose(titles, [0, 0], atol=1e-3)
    np.testing.assert_allclose(bodies, [2 / 5**0.5, 2 / 5**0.5], atol=1e-3)  # one letter of title, two of passage


documents_lists = st.lists(st.text(max_size=20), min_size=1, max_size=6).map(
    lambda texts: [document(i + 1, text, (text, "tail")) for i, text in enumerate(texts)]
)


@settings(max_examples=20)
@given(documents_lists, documents_lists, st.data())
def test_merging_keeps_live_documents_and_their_vectors(tmp_path_factory, first, second, data):
    folder = tmp_path_factory.mktemp("merge")
    second = [document(d.key + 1000, d.title, tuple(p.text for p in d.passages)) for d in second]
    parts = [write(folder / "a", first), write(folder / "b", second)]
    parts[0].live_mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(first), max_size=len(first))))
    live = [d for d, is_live in zip(first, parts[0].live_mask, strict=True) if is_live] + second
    assert merge(SegmentWriter(folder / "m", LetterEncoder()), parts) == len(live)
    merged, fresh = Segment(folder / "m"), write(folder / "f", live)
    assert [merged.document(row) for row in merged.live_rows()] == [fresh.document(row) for row in fresh.live_rows()]
    rows = np.arange(len(live))
    np.testing.assert_array_equal(merged.vectors("titles", rows), fresh.vectors("titles", rows))


def test_reencoding_uses_the_new_encoder(tmp_path):
    old = write(tmp_path / "old", [document(1, "aaa")])
    assert reencode(SegmentWriter(tmp_path / "new", LetterEncoder(shift=1)), [old]) == 1
    vector = Segment(tmp_path / "new").vectors("titles", np.array([0]))[0]
    assert vector[1] == pytest.approx(1, abs=1e-3)


def test_many_documents_are_encoded_in_batches(tmp_path):
    documents = [document(i, "abc"[i % 3], ("x" * (i % 7), "y")) for i in range(1, 700)]
    segment = write(tmp_path / "s", documents)
    assert [segment.document(row) for row in segment.live_rows()] == documents


@pytest.mark.parametrize("count", [0, 1, 10, 11])
def test_columns_are_arrays_for_any_number_of_buffers(count, tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "COLUMN_BUFFER", 5)
    documents = [document(i, "t", ("x",) * (i % 3)) for i in range(1, count + 1)]
    segment = write(tmp_path / "s", documents)
    assert [segment.document(row) for row in segment.live_rows()] == documents
    loaded = np.load(tmp_path / "s" / "owners.npy")
    assert loaded.dtype == np.int32
    assert loaded.tolist() == [row for row, d in enumerate(documents) for _ in d.passages]
    assert np.load(tmp_path / "s" / "firsts.npy").tolist() == [0, *np.cumsum([len(d.passages) for d in documents])]


@pytest.mark.parametrize("name", ["texts.bin", "documents.npy", "titles/vectors.faiss"])
def test_a_missing_file_is_corrupt(tmp_path, name):
    write(tmp_path / "s", [document(1)])
    (tmp_path / "s" / name).unlink()
    with pytest.raises(CorruptIndexError, match="qa-bot repair"):
        Segment(tmp_path / "s")
