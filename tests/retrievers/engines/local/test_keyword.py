import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import pairwise
from math import log
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrievers.engines.index import Filter, KeywordQuery
from retrievers.engines.local import keyword
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.facets import Facets
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter, clone

# key, document, terms of the title, terms of all
ENTRIES = [
    Entry(10, 1, ["sleep", "cat"], ["sleep", "cat", "cat", "sleep", "all", "day"]),
    Entry(11, 1, ["sleep", "cat"], ["cat", "purr"]),
    Entry(20, 2, ["boil", "egg"], ["boil", "egg", "minute", "egg", "water", "egg", "cat"]),
    Entry(30, 3, ["train", "dog"], ["dog", "sleep", "too", "dog", "bark", "day"]),
]


def write(path, entries, **options):
    with KeywordWriter(path, analyser=str.split, **options) as writer:
        writer.add(entries)
    return KeywordIndex(path, analyser=str.split)


@pytest.fixture
def index(tmp_path):
    return write(tmp_path / "keyword", ENTRIES)


def query(text, *, field="all", phrases=()):
    return KeywordQuery(tuple((term, 1.0) for term in text.split()), field, phrases)


def keys(hits):
    return hits.passages.tolist()


def scores(hits):
    return dict(zip(keys(hits), hits.scores.tolist(), strict=True))


def key_pairs(hits):
    return set(zip(keys(hits), hits.documents.tolist(), strict=True))


def contents(path):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in path.iterdir()}


def bm25(texts, terms, *, k1=1.2, b=0.75):
    """Scores of keyed lists of terms for weighted terms, straight from the formula."""
    average = sum(map(len, texts.values())) / len(texts) or 1.0
    scores = dict.fromkeys(texts, 0.0)
    for term, weight in terms:
        n = sum(term in text for text in texts.values())
        idf = log(1 + (len(texts) - n + 0.5) / (n + 0.5))
        for key, text in texts.items():
            f = Counter(text)[term]
            scores[key] += weight * idf * f * (k1 + 1) / (f + k1 * (1 - b + b * len(text) / average))
    return {key: score for key, score in scores.items() if score > 0}


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


def test_deleting_removes_all_passages_of_a_document(tmp_path):
    write(tmp_path, ENTRIES)
    with KeywordWriter(tmp_path, analyser=str.split) as writer:
        writer.delete([1, 99])
        writer.add([Entry(40, 4, ["cat"], ["cat"])])
        writer.delete([4])
    index = KeywordIndex(tmp_path)
    assert keys(index.search(query("cat sleep"), 9)) == [30, 20]
    assert index.documents == 2
    assert index.average_length("all") == 6.5


def test_a_document_that_is_deleted_and_added_again_is_new(tmp_path):
    write(tmp_path, ENTRIES)
    with KeywordWriter(tmp_path) as writer:
        writer.delete([2])
        writer.add([Entry(21, 2, ["egg"], ["egg"])])
    assert keys(KeywordIndex(tmp_path).search(query("egg"), 9)) == [21]


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


def test_changes_are_invisible_before_the_commit_and_dropped_by_an_error(tmp_path):
    write(tmp_path, ENTRIES)

    def fail_halfway():
        with KeywordWriter(tmp_path) as writer:
            writer.add([Entry(50, 5, [], ["egg"])])
            writer.delete([2])
            assert keys(KeywordIndex(tmp_path).search(query("egg"), 9)) == [20]
            raise KeyError

    with pytest.raises(KeyError):
        fail_halfway()
    assert keys(KeywordIndex(tmp_path).search(query("egg"), 9)) == [20]


def test_a_reader_keeps_the_index_that_it_opened(tmp_path):
    old = write(tmp_path / "keyword", ENTRIES)
    with KeywordWriter(tmp_path / "keyword") as writer:
        writer.delete([2])
    assert keys(old.search(query("egg"), 9)) == [20]
    shutil.rmtree(tmp_path / "keyword")
    assert keys(old.search(query("egg", phrases=((("boil", "egg"), 0.5, 0),)), 9)) == [20]
    assert old.average_length("all") == 5.25


def test_reading_writes_nothing_into_the_folder(tmp_path):
    write(tmp_path / "original", ENTRIES)
    clone(tmp_path / "original", tmp_path / "copy")
    (tmp_path / "copy").chmod(0o555)
    before = contents(tmp_path / "copy")
    assert KeywordIndex(tmp_path / "copy").search(query("egg"), 9)
    assert contents(tmp_path / "copy") == before
    assert not any(name.endswith(".lock") for name in before)


def test_without_space_for_links_the_folder_is_read_in_place(tmp_path, monkeypatch):
    def full(self, target):
        raise OSError(28, "No space left on device")

    write(tmp_path, ENTRIES)
    monkeypatch.setattr(Path, "symlink_to", full)
    assert KeywordIndex(tmp_path).search(query("egg"), 9).passages[0] == 20


def test_writing_to_a_clone_leaves_the_original_alone(tmp_path):
    original = write(tmp_path / "original", ENTRIES)
    before, hits = contents(tmp_path / "original"), original.search(query("cat sleep"), 9)
    clone(tmp_path / "original", tmp_path / "copy")
    for round_ in range(12):  # enough commits to merge segments
        with KeywordWriter(tmp_path / "copy", analyser=str.split) as writer:
            writer.delete([1 + round_ % 3])
            writer.add([Entry(100 + round_, 100 + round_, ["cat"], ["cat", "sleep"])])
    assert contents(tmp_path / "original") == before
    assert KeywordIndex(tmp_path / "original").search(query("cat sleep"), 9).scores.tolist() == hits.scores.tolist()
    copy = KeywordIndex(tmp_path / "copy")
    segments = {file.name.partition(".")[0] for file in (tmp_path / "copy").glob("*.term")}
    assert len(segments) < 9  # merged, and the old files are removed
    assert sorted(keys(copy.search(query("cat sleep"), 99))) == list(range(100, 112))


def test_without_hard_links_a_clone_is_a_copy(tmp_path, monkeypatch):
    def cannot(self, target):
        raise OSError(95, "Operation not supported")

    write(tmp_path / "original", ENTRIES)
    monkeypatch.setattr(Path, "hardlink_to", cannot)
    clone(tmp_path / "original", tmp_path / "copy")
    assert KeywordIndex(tmp_path / "copy").documents == 4


def test_a_second_writer_is_refused(tmp_path):
    with KeywordWriter(tmp_path), pytest.raises(OSError, match="already an `IndexWriter` working"):
        KeywordWriter(tmp_path)


def test_a_writer_that_was_killed_leaves_the_last_commit(tmp_path):
    write(tmp_path, ENTRIES)
    code = (
        "import os; from pathlib import Path; from retrievers.engines.local.keyword_writer import *\n"
        f"writer = KeywordWriter(Path({str(tmp_path)!r}))\n"
        "writer.add(Entry(n, n, ['egg'], ['egg'] * 9) for n in range(1000)); writer.delete([2]); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 9
    assert keys(KeywordIndex(tmp_path).search(query("egg"), 9)) == [20]
    with KeywordWriter(tmp_path) as writer:
        writer.add([Entry(60, 6, [], ["egg"])])
    assert {*keys(KeywordIndex(tmp_path).search(query("egg"), 9))} == {20, 60}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit on file sizes needs Linux")
def test_a_full_disk_is_an_os_error_and_loses_nothing(tmp_path):
    write(tmp_path, ENTRIES)
    code = (
        "import resource, signal; from pathlib import Path; from retrievers.engines.local.keyword_writer import *\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "try:\n"
        f"    with KeywordWriter(Path({str(tmp_path)!r})) as writer:\n"
        "        writer.add(Entry(n, n, [], [f'w{n * i}' for i in range(50)]) for n in range(2_000))\n"
        "except OSError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("Expected to write the keyword index to"), done.stderr
    assert keys(KeywordIndex(tmp_path).search(query("egg"), 9)) == [20]


@pytest.mark.parametrize("suffix", [".term", ".idx", ".pos", ".fast", ".fieldnorm", "meta.json", ".managed.json"])
@pytest.mark.parametrize("share", [0, 0.5])
def test_a_truncated_file_is_corrupt(tmp_path, suffix, share):
    write(tmp_path, ENTRIES)
    file = next(file for file in tmp_path.iterdir() if file.name.endswith(suffix))
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    with pytest.raises(CorruptIndexError, match="run qa-bot repair"):
        KeywordIndex(tmp_path)


@pytest.mark.parametrize("suffix", [".term", ".idx", ".pos", ".fast", ".fieldnorm", "meta.json"])
def test_a_missing_file_is_corrupt(tmp_path, suffix):
    write(tmp_path, ENTRIES)
    next(file for file in tmp_path.iterdir() if file.name.endswith(suffix)).unlink()
    with pytest.raises(CorruptIndexError, match="run qa-bot repair"):
        KeywordIndex(tmp_path).search(query("egg", phrases=((("boil", "egg"), 1.0, 0),)), 9)


def test_a_writer_refuses_a_corrupt_index(tmp_path):
    write(tmp_path, ENTRIES)
    (tmp_path / "meta.json").write_text("{")
    with pytest.raises(CorruptIndexError, match="run qa-bot repair"):
        KeywordWriter(tmp_path)
    (tmp_path / "meta.json").unlink()
    with pytest.raises(CorruptIndexError, match=r"files without meta\.json"):
        KeywordWriter(tmp_path)


def test_a_missing_folder_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match="run qa-bot add first"):
        KeywordIndex(tmp_path / "nowhere")


texts = st.lists(st.sampled_from("abcdef"), max_size=6)
changes = st.lists(
    st.tuples(st.lists(st.tuples(st.integers(0, 5), texts), max_size=6), st.sets(st.integers(0, 5))), max_size=4
)


@settings(max_examples=15)
@given(changes, st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=4))
def test_adding_and_deleting_against_a_dictionary(batches, terms):
    live = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "keyword")
        for number, (added, deleted) in enumerate([*batches, ([], set())]):
            entries = [Entry(100 * number + i, document, [], text) for i, (document, text) in enumerate(added)]
            with KeywordWriter(path) as writer:
                writer.delete(deleted)
                writer.add(entries)
            live = {key: value for key, value in live.items() if value[0] not in deleted}
            live |= {entry.key: (entry.document, entry.text) for entry in entries}
        index = KeywordIndex(path)
        hits = index.search(query(" ".join(terms)), 1_000)
    assert index.documents == len(live)
    assert key_pairs(hits) == {(key, d) for key, (d, text) in live.items() if set(text) & set(terms)}
    assert hits.scores.tolist() == sorted(hits.scores.tolist(), reverse=True)
    if not index.deleted and live:
        expected = bm25({key: text for key, (_, text) in live.items()}, [(term, 1.0) for term in terms])
        assert scores(hits) == pytest.approx(expected, rel=1e-4)


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
        writer.add([Entry(1, 1, [], ["report"], ["_rep", "repo", "epor", "port", "ort_"]), Entry(2, 2, [], ["port"])])
    index = KeywordIndex(tmp_path)
    assert keys(index.search(KeywordQuery((("port", 1.0),), "grams"), 9)) == [1]
    assert keys(index.search(query("port"), 9)) == [2]
