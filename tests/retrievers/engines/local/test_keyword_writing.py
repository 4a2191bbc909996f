"""The keyword index is changed: deletions, commits, clones, damaged and interrupted writes."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter, clone
from tests.retrievers.engines.local.keyword_entries import ENTRIES, bm25, key_pairs, keys, query, scores, texts, write


@pytest.fixture
def index(tmp_path):
    return write(tmp_path / "keyword", ENTRIES)


def contents(path):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in path.iterdir()}


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
