"""Adding, deleting and repairing: counts, documents in store and index, generations, and killed writers."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.documents.first_fill import rebuild_unreadable
from qa_bot.documents.index_update import ChangeError, index_update
from qa_bot.documents.ingest.records import Limits, Record
from qa_bot.documents.reject_log import AddReport
from qa_bot.documents.sync import add, add_records, delete, repair, switch_encoder
from qa_bot.home import index, index_writer
from qa_bot.home.config import Config
from qa_bot.home.doctor import run_checks
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.generations import CorruptGenerationError, Generation, Generations
from qa_bot.home.index import Index, Manifest
from qa_bot.home.sections import PassagesSection
from qa_bot.home.store import Store
from qa_core.encoders.static_encoder import StaticEncoder
from retrievers.engines.index import KeywordQuery

CONFIG = Config()
ROWS = [
    {"_id": "moon", "title": "Why does the moon have phases?", "text": "We see changing parts of its sunlit half."},
    {"_id": "tides", "title": "What causes the tides?", "text": "The pull of the moon lifts the sea."},
    {"_id": "rust", "title": "How do I remove rust?", "text": "Rub it with vinegar and fine steel wool."},
    {"_id": "tea", "title": "How long should tea steep?", "text": "Green tea needs two to three minutes."},
]
BREAD = {"_id": "bread", "title": "Why does dough rise?", "text": "Yeast gives off gas that the dough holds."}


@pytest.fixture(scope="module")
def other_encoder(other_encoder_folder: Path) -> StaticEncoder:
    return StaticEncoder.load(other_encoder_folder)


@pytest.fixture
def four(empty_home, encoder, write_lines) -> Home:
    """A home with `ROWS` in the collection "facts"."""
    add(empty_home, CONFIG, encoder, [write_lines("four.jsonl", *ROWS)], collection="facts")
    return empty_home


def counts(added: AddReport) -> tuple[int, int, int, int]:
    return added.added, added.updated, added.unchanged, added.rejected


def number(home: Home) -> int | None:
    return Generations(home.index).current_number()


def generation_of(home: Home) -> Generation:
    generation = Generations(home.index).current()
    assert generation is not None
    return generation


def manifest(home: Home) -> Manifest:
    return Manifest.of(generation_of(home))


def stored_documents(home: Home, config: Config = CONFIG) -> dict[str, tuple[str, str]]:
    """Id → text and collection of the documents in the store; the index must hold the same passages."""
    with Store.open(home.store_url(config)) as store:
        rows = list(store.stream_documents())
        stored = store.counts()
    index = Index(generation_of(home))
    assert (index.manifest.documents, index.manifest.passages) == (stored.documents, stored.passages)
    for row in rows:
        best = index.best_passages([row.key], None, {row.key: row.passages[-1].key})[row.key]
        assert best.passage.text == row.passages[-1].text
        assert best.passage.source.collection == row.collection
    return {row.external_id: (" ".join(p.text for p in row.passages), row.collection) for row in rows}


def by_keyword(home: Home, *terms: str) -> int:
    """Number of passages with one of the terms."""
    return len(Index(generation_of(home)).keyword_hits(KeywordQuery(tuple((term, 1.0) for term in terms)), 100))


def by_vector(home: Home, encoder: StaticEncoder, text: str) -> list[float]:
    """Similarities of the nearest passages."""
    hits = Index(generation_of(home)).dense_hits("bodies", encoder.encode([text], side="answer"), 10)[0]
    scores: list[float] = hits.scores.tolist()
    return scores


# --- add ------------------------------------------------------------------------------------------------------------


def test_add_counts_new_changed_and_unchanged_records(empty_home, encoder, write_lines) -> None:
    first = add(empty_home, CONFIG, encoder, [write_lines("a.jsonl", *ROWS)], collection="facts")
    assert counts(first) == (4, 0, 0, 0)
    changed = {**ROWS[0], "text": "Sunlight falls on it from changing sides."}
    again = add(empty_home, CONFIG, encoder, [write_lines("b.jsonl", changed, *ROWS[1:3], BREAD)], collection="facts")
    assert counts(again) == (1, 1, 2, 0)
    assert (again.passages, number(empty_home)) == (2, 2)
    assert set(stored_documents(empty_home)) == {"moon", "tides", "rust", "tea", "bread"}


def test_adding_the_same_again_publishes_nothing(four, encoder, write_lines) -> None:
    before = {path: path.stat().st_mtime_ns for path in four.index.rglob("*") if path.is_file()}
    assert counts(add(four, CONFIG, encoder, [write_lines("a.jsonl", *ROWS)], collection="facts")) == (0, 0, 4, 0)
    assert {path: path.stat().st_mtime_ns for path in four.index.rglob("*") if path.is_file()} == before


def test_a_changed_document_is_replaced_everywhere(four, encoder, write_lines) -> None:
    old, new = ROWS[2]["text"], "Lemon juice dissolves it overnight."
    assert by_vector(four, encoder, f"{ROWS[2]['title']}\n{old}")[0] > 0.99
    add(four, CONFIG, encoder, [write_lines("b.jsonl", {**ROWS[2], "text": new})], collection="facts")
    assert stored_documents(four)["rust"] == (new, "facts")
    assert (by_keyword(four, "vinegar", "wool"), by_keyword(four, "lemon")) == (0, 1)
    assert by_vector(four, encoder, f"{ROWS[2]['title']}\n{old}")[0] < 0.99
    assert by_vector(four, encoder, f"{ROWS[2]['title']}\n{new}")[0] > 0.99


def test_adding_records_without_a_file(four, encoder) -> None:
    bread = Record("bread", BREAD["title"], BREAD["text"])
    for record, expected in (
        (bread, (1, 0, 0, 0)),
        (bread, (0, 0, 1, 0)),
        (replace(bread, text="Yeast does it."), (0, 1, 0, 0)),
        (replace(bread, text=" "), (0, 0, 0, 1)),
    ):
        assert counts(add_records(four, CONFIG, encoder, [record], collection="own")) == expected
    assert stored_documents(four)["bread"] == ("Yeast does it.", "own")
    assert number(four) == 3


def test_records_for_another_encoder_are_refused(four, other_encoder) -> None:
    with pytest.raises(ChangeError, match="run `qa-bot use starter` first"):
        add_records(four, CONFIG, other_encoder, [Record("a", "t", "text")], collection="own")
    assert (number(four), set(stored_documents(four))) == (1, {"moon", "tides", "rust", "tea"})


def test_a_new_title_or_address_counts_as_a_change(four, encoder, write_lines) -> None:
    rows = [{**ROWS[0], "title": "Phases of the moon"}, {**ROWS[1], "url": "https://example.org/tides"}]
    assert counts(add(four, CONFIG, encoder, [write_lines("b.jsonl", *rows)], collection="facts")) == (0, 2, 0, 0)


def test_other_passage_settings_replace_all(four, encoder, write_lines) -> None:
    config = Config(passages=PassagesSection(characters=100))
    assert counts(add(four, config, encoder, [write_lines("b.jsonl", *ROWS)], collection="facts")) == (0, 4, 0, 0)


def test_repeated_id_is_rejected_with_its_line(empty_home, encoder, write_lines) -> None:
    path = write_lines("a.jsonl", ROWS[0], ROWS[1], {**ROWS[0], "text": "Another text."})
    added = add(empty_home, CONFIG, encoder, [path])
    assert counts(added) == (2, 0, 0, 1)
    assert added.examples[0].where == f"{path}:3"
    assert "'moon' again; the first one is kept" in added.examples[0].reason
    assert stored_documents(empty_home)["moon"][0] == ROWS[0]["text"]


@pytest.mark.parametrize("dry_run", [False, True])
def test_repeated_ids_are_noticed_across_batches_and_files(
    empty_home, encoder, write_lines, monkeypatch, dry_run: bool
) -> None:
    monkeypatch.setattr("qa_bot.documents.record_sync.BATCH", 2)
    one, two = write_lines("a.jsonl", *ROWS), write_lines("b.jsonl", BREAD, *ROWS)
    assert counts(add(empty_home, CONFIG, encoder, [one, two], dry_run=dry_run)) == (5, 0, 0, 4)


def test_one_id_in_two_collections(four, encoder, write_lines) -> None:
    add(four, CONFIG, encoder, [write_lines("b.jsonl", {**ROWS[0], "text": "Astrologers disagree."})], collection="b")
    with Store.open(four.store_url(CONFIG)) as store:
        assert [(c.name, c.documents) for c in store.collections()] == [("b", 1), ("facts", 4)]
        assert len(store.find(["moon"])["moon"]) == 2


def test_near_duplicates_are_marked_and_kept(empty_home, encoder, write_lines) -> None:
    text = " ".join(f"word{i}" for i in range(60))
    rows = [{"_id": "one", "title": "", "text": text}, {"_id": "two", "title": "", "text": text + "."}]
    added = add(empty_home, CONFIG, encoder, [write_lines("a.jsonl", *rows)])
    assert (added.added, added.duplicates) == (2, 1)
    assert set(stored_documents(empty_home)) == {"one", "two"}


def test_dry_run_reports_the_same_and_writes_nothing(four, encoder, write_lines) -> None:
    path = write_lines("b.jsonl", {**ROWS[0], "text": "New."}, *ROWS[1:], BREAD, "{broken", BREAD)
    before = {p: p.read_bytes() for p in four.path.rglob("*") if p.is_file() and "sqlite" not in p.name}
    planned = add(four, CONFIG, encoder, [path], collection="facts", dry_run=True)
    assert {p: p.read_bytes() for p in four.path.rglob("*") if p.is_file() and "sqlite" not in p.name} == before
    assert counts(planned) == (1, 1, 3, 2)
    assert stored_documents(four)["moon"][0] == ROWS[0]["text"]
    assert counts(add(four, CONFIG, encoder, [path], collection="facts")) == counts(planned)


def test_dry_run_creates_no_collection(four, encoder, write_lines) -> None:
    planned = add(four, CONFIG, encoder, [write_lines("b.jsonl", *ROWS)], collection="new", dry_run=True)
    assert counts(planned) == (4, 0, 0, 0)
    with Store.open(four.store_url(CONFIG)) as store:
        assert [c.name for c in store.collections()] == ["facts"]


def test_rejects_file_has_all_rejects_and_the_report_some(empty_home, encoder, write_lines) -> None:
    path = write_lines("a.jsonl", *ROWS, *["{"] * 30)
    added = add(empty_home, CONFIG, encoder, [path])
    assert (added.rejected, len(added.examples)) == (30, 20)
    assert added.rejects_file is not None
    lines = [json.loads(line) for line in added.rejects_file.read_text().splitlines()]
    assert [line["where"] for line in lines] == [f"{path}:{i}" for i in range(5, 35)]
    assert added.as_dict()["rejects_file"] == str(added.rejects_file)


def test_without_rejects_there_is_no_file(four) -> None:
    assert not (four.path / "rejects").exists()


def test_a_record_without_text_is_rejected_and_replaces_nothing(four, encoder, tmp_path) -> None:
    path = tmp_path / "empty.html"
    path.write_text("<html><head><title></title></head><body><p> </p></body></html>")
    assert counts(add(four, CONFIG, encoder, [path]))[3] == 1
    assert number(four) == 1


def test_limit_on_total_bytes_covers_all_paths(empty_home, encoder, write_lines) -> None:
    paths = [write_lines(f"{i}.jsonl", {**BREAD, "_id": i, "text": "x" * 600}) for i in "abc"]
    added = add(empty_home, CONFIG, encoder, paths, limits=Limits(total_bytes=1500))
    assert added.added == 2
    assert "Expected at most 1,500 bytes in the whole input" in added.examples[0].reason


def test_notices_are_bounded(empty_home, encoder, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.documents.reject_log.NOTICES", 2)
    for i in range(4):
        (tmp_path / f"{i}.txt").write_bytes(b"caf\xe9 \xff and more text")
    added = add(empty_home, CONFIG, encoder, [tmp_path / f"{i}.txt" for i in range(4)], format="text")
    assert (added.added, len(added.notices)) == (4, 2)


def test_missing_path_and_unknown_format_are_refused_first(four, encoder, tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"Expected a file or a folder, but got .*nowhere"):
        add(four, CONFIG, encoder, [tmp_path / "nowhere"])
    with pytest.raises(ChangeError, match=r"Expected one of the formats jsonl, .*, but got 'exe'\."):
        add(four, CONFIG, encoder, [tmp_path], format="exe")
    assert number(four) == 1


FOOTER = "Northwind Labs, registered in Gdansk under number 4711. All rights reserved."


def write_pages(folder: Path, numbers: range) -> Path:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        text = f"# Page {number}\n\nThis page tells of subject{number}.\n\n{FOOTER}\n"
        (folder / f"p{number:02}.md").write_text(text)
    return folder


def documents_with(home: Home, word: str) -> set[str]:
    with Bot.open(home.path) as bot:
        return {match.passage.source.document for match in bot.search(word, engine="keyword", top=50)}


def test_boilerplate_is_searched_in_the_first_document_only(empty_home, encoder, tmp_path) -> None:
    folder = write_pages(tmp_path / "pages", range(12))
    assert counts(add(empty_home, CONFIG, encoder, [folder])) == (12, 0, 0, 0)
    assert documents_with(empty_home, "registered") == {"p00.md"}
    assert documents_with(empty_home, "subject7") == {"p07.md"}
    write_pages(folder, range(12, 14))
    add(empty_home, CONFIG, encoder, [folder])  # what repeats is remembered
    assert documents_with(empty_home, "registered") == {"p00.md"}
    assert all(check.ok for check in run_checks(empty_home, CONFIG))


# --- delete ---------------------------------------------------------------------------------------------------------


def test_deleting_removes_everywhere(four, encoder) -> None:
    assert delete(four, CONFIG, encoder, ids=["rust", "nobody"]) == (1, ["nobody"])
    assert set(stored_documents(four)) == {"moon", "tides", "tea"}
    assert by_keyword(four, "vinegar") == 0
    assert by_vector(four, encoder, f"{ROWS[2]['title']}\n{ROWS[2]['text']}")[0] < 0.99


def test_deleting_a_collection_leaves_the_others(four, encoder, write_lines) -> None:
    add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)], collection="kitchen")
    assert delete(four, CONFIG, encoder, collection="facts") == (4, [])
    assert stored_documents(four) == {"bread": (BREAD["text"], "kitchen")}


def test_an_id_is_deleted_from_every_collection(four, encoder, write_lines) -> None:
    add(four, CONFIG, encoder, [write_lines("b.jsonl", ROWS[0])], collection="copy")
    assert delete(four, CONFIG, encoder, ids=["moon"]) == (2, [])


def test_deleting_unknown_ids_publishes_nothing(four, encoder) -> None:
    assert delete(four, CONFIG, encoder, ids=["nobody"]) == (0, ["nobody"])
    assert delete(four, CONFIG, encoder, collection="none") == (0, [])
    assert number(four) == 1


def test_home_can_be_emptied_and_filled_again(four, encoder, write_lines) -> None:
    assert delete(four, CONFIG, encoder, collection="facts") == (4, [])
    assert stored_documents(four) == {}
    assert by_vector(four, encoder, "anything") == []
    with Bot.open(four.path, record=False) as bot:
        answer = bot.ask("Why does the moon have phases?")
        assert (answer.answered, answer.sources) == (False, ())
        assert bot.search("moon", engine="dense") == ()
    assert counts(add(four, CONFIG, encoder, [write_lines("b.jsonl", *ROWS)], collection="facts")) == (4, 0, 0, 0)
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "tea"}


# --- generations ----------------------------------------------------------------------------------------------------


def test_two_generations_are_kept(four, encoder, write_lines) -> None:
    rows = [{**BREAD, "_id": str(i), "text": f"{BREAD['text']} {i}"} for i in range(4)]
    for i, row in enumerate(rows):
        add(four, CONFIG, encoder, [write_lines("b.jsonl", row)])
        assert number(four) == i + 2
    assert sorted(path.name for path in four.index.iterdir()) == ["00000004", "00000005", "CURRENT"]
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "tea", "0", "1", "2", "3"}


def test_segments_stay_few(empty_home, encoder, write_lines) -> None:
    for i in range(9):
        add(empty_home, CONFIG, encoder, [write_lines("b.jsonl", {**BREAD, "_id": str(i), "text": f"Text {i}"})])
    assert len(manifest(empty_home).segments) <= 4
    assert set(stored_documents(empty_home)) == {str(i) for i in range(9)}


@pytest.mark.parametrize(("folded", "segments"), [(0, ("00000001", "00000002")), (512, ("00000002",))])
def test_a_small_collection_does_not_cause_a_large_one_to_be_written_twice(
    folded, segments, four, encoder, write_lines, monkeypatch
) -> None:
    monkeypatch.setattr(index_writer, "FOLDED", folded)
    rows = [{**BREAD, "_id": str(i), "text": f"Text {i}"} for i in range(100)]
    add(four, CONFIG, encoder, [write_lines("b.jsonl", *rows)])
    assert manifest(four).segments == segments


def test_a_mostly_deleted_segment_is_rewritten(four, encoder, write_lines) -> None:
    delete(four, CONFIG, encoder, ids=["moon", "tides", "rust"])
    assert manifest(four).segments == ("00000002-merged",)
    assert set(stored_documents(four)) == {"tea"}


def test_second_writer_is_refused_and_names_the_first(four, encoder, write_lines) -> None:
    with (
        index_update(four, CONFIG, encoder, action="add"),
        pytest.raises(WriterBusyError, match=f"add by process {os.getpid()}"),
    ):
        delete(four, CONFIG, encoder, ids=["moon"])
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "tea"}


def test_an_error_leaves_the_old_generation_and_no_files(four, encoder, write_lines, monkeypatch) -> None:
    def items() -> Iterator[Record]:
        yield Record("bread", BREAD["title"], BREAD["text"])
        raise RuntimeError("halfway")

    monkeypatch.setattr("qa_bot.documents.sources.source_run.Reading.path", lambda *_args, **_options: items())
    monkeypatch.setattr("qa_bot.documents.record_sync.BATCH", 1)
    with pytest.raises(RuntimeError, match="halfway"):
        add(four, CONFIG, encoder, [four.path])
    monkeypatch.undo()
    assert sorted(path.name for path in four.index.iterdir()) == ["00000001", "CURRENT"]
    add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)], collection="facts")
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "tea", "bread"}


# --- another analyser -----------------------------------------------------------------------------------------------


@pytest.fixture
def newer_analyser(four: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "ANALYSER_VERSION", "newer/2")
    monkeypatch.setattr(index_writer, "ANALYSER_VERSION", "newer/2")
    monkeypatch.setattr(index, "READABLE_ANALYSERS", frozenset())


@pytest.mark.usefixtures("newer_analyser")
def test_an_index_of_another_analyser_is_not_searched(four) -> None:
    with pytest.raises(CorruptGenerationError, match="qa-bot/2, but this version has newer/2; run `qa-bot rep"):
        index.Index(generation_of(four))


@pytest.mark.usefixtures("newer_analyser")
def test_an_index_of_another_analyser_is_rebuilt_before_it_is_changed(four, encoder, write_lines) -> None:
    assert counts(add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)], collection="facts")) == (1, 0, 0, 0)
    assert delete(four, CONFIG, encoder, ids=["tea"]) == (1, [])
    assert manifest(four).analyser == "newer/2"
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "bread"}


@pytest.mark.usefixtures("newer_analyser")
def test_a_home_of_another_analyser_is_rebuilt_once(four, encoder, caplog) -> None:
    assert rebuild_unreadable(four, CONFIG, lambda: encoder)
    assert "it is rebuilt from the database" in caplog.text
    assert not rebuild_unreadable(four, CONFIG, lambda: encoder)
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "tea"}


def test_a_manifest_without_an_analyser_is_of_the_first_one(four) -> None:
    generation = generation_of(four)
    old = {name: value for name, value in generation.manifest.items() if name != "analyser"}
    assert Manifest.of(replace(generation, manifest=old)).analyser == "qa-bot-english/1"


# --- another encoder ------------------------------------------------------------------------------------------------


def test_switching_the_encoder_reencodes_everything(four, encoder, other_encoder) -> None:
    text = f"{ROWS[2]['title']}\n{ROWS[2]['text']}"
    switch_encoder(four, CONFIG, other_encoder, name="other")
    assert by_vector(four, other_encoder, text)[0] > 0.99
    assert by_vector(four, encoder, text)[0] < 0.5
    assert (manifest(four).encoder, manifest(four).fingerprint) == ("other", other_encoder.fingerprint)
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "tea"}


def test_adding_nothing_new_with_another_encoder_must_reencode(four, other_encoder, write_lines) -> None:
    added = add(four, CONFIG, other_encoder, [write_lines("a.jsonl", *ROWS)], collection="facts")
    assert counts(added) == (0, 0, 4, 0)
    assert by_vector(four, other_encoder, f"{ROWS[2]['title']}\n{ROWS[2]['text']}")[0] > 0.99


# --- repair ---------------------------------------------------------------------------------------------------------


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda index: (index / "CURRENT").write_text("garbage"),
        lambda index: (index / "CURRENT").write_bytes(b""),
        lambda index: remove(index / "CURRENT"),
        lambda index: remove(index / "00000002"),
        lambda index: remove(index / "00000002" / "manifest.json"),
        lambda index: (index / "00000002" / "manifest.json").write_text("{"),
        lambda index: [remove(path) for path in index.iterdir()],
        lambda index: remove(index),
    ],
    ids=["garbage", "empty", "no CURRENT", "no folder", "no manifest", "cut manifest", "nothing", "no index"],
)
def test_repair_rebuilds_from_the_store(four, encoder, write_lines, spoil) -> None:
    add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)], collection="facts")
    before = stored_documents(four)
    spoil(four.index)
    with pytest.raises((CorruptGenerationError, ChangeError), match="run `qa-bot repair`"):
        add(four, CONFIG, encoder, [write_lines("c.jsonl", {**BREAD, "_id": "c"})])
    with pytest.raises((CorruptGenerationError, ChangeError), match="run `qa-bot repair`"), Bot.open(four.path) as bot:
        bot.ask("Why?")
    assert repair(four, CONFIG, encoder) == 5
    assert stored_documents(four) == before
    add(four, CONFIG, encoder, [write_lines("c.jsonl", {**BREAD, "_id": "c"})], collection="facts")
    assert len(stored_documents(four)) == 6


def test_repair_of_an_empty_home_leaves_it_empty(empty_home, encoder) -> None:
    assert repair(empty_home, CONFIG, encoder) == 0
    assert number(empty_home) is None


def test_lost_database_is_reported(four, encoder, write_lines) -> None:
    for path in four.path.glob("store.sqlite*"):
        path.unlink()
    for change in (
        lambda: add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)]),
        lambda: repair(four, CONFIG, encoder),
    ):
        with pytest.raises(ChangeError, match="but got an empty one; put back a copy of it"):
            change()
    assert by_keyword(four, "vinegar") == 1


# --- killed ---------------------------------------------------------------------------------------------------------

KILLED = """
import itertools, os, shutil, signal, sys
from pathlib import Path
from sqlalchemy import Engine, event
from qa_bot.documents.sync import add, delete
from qa_bot.home.config import Config
from qa_bot.home.starter import ENCODER
from qa_bot.home.folder import Home
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.text.analysis import ANALYSER_VERSION

base, source, top, steps = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), set(map(int, sys.argv[4:]))
encoder = StaticEncoder.load(ENCODER)
passed = itertools.count(1)

def passing(step):
    if next(passed) == step:
        os.kill(os.getpid(), signal.SIGKILL)

def killing(step):
    def wrap(original):
        def call(*args, **kwargs):
            passing(step)
            return original(*args, **kwargs)
        return call
    for name in ("fsync", "link", "rename", "replace", "mkdir", "unlink", "rmdir", "ftruncate"):
        setattr(os, name, wrap(getattr(os, name)))
    event.listen(Engine, "begin", lambda connection: passing(step))
    event.listen(Engine, "commit", lambda connection: passing(step))

def work(root):
    add(Home.open(root), Config(), encoder, [source], collection="facts")

for step in sorted(steps) or [0]:
    root = top / str(step)
    shutil.copytree(base, root)
    if not (child := os.fork()):
        killing(step)
        work(root)
        print(next(passed) - 1, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture
def changed(write_lines) -> Path:
    """Two unchanged documents, two changed ones, and two new ones that are near-duplicates."""
    long = " ".join(f"word{i}" for i in range(60))
    rows = [{**ROWS[0], "text": "New."}, ROWS[1], {**ROWS[2], "title": "Rust"}, ROWS[3], {**BREAD, "text": long}]
    return write_lines("changed.jsonl", *rows, {"_id": "twin", "title": "", "text": f"{long}."})


def kill_at(base: Home, source: Path, top: Path, steps: list[int]) -> str:
    top.mkdir()
    command = [sys.executable, "-c", KILLED, *map(str, (base.path, source, top, *steps))]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def scores(home: Home, encoder: StaticEncoder) -> list[list[float]]:
    return [by_vector(home, encoder, text) for text in ("moon and sun", "word1 word2", "rust")]


@pytest.mark.slow
def test_killed_add_can_be_repeated_after_any_step(four, encoder, changed, tmp_path) -> None:
    total = int(kill_at(four, changed, tmp_path / "whole", []))
    assert total > 40
    whole = Home.open(tmp_path / "whole" / "0")
    expected, expected_scores = stored_documents(whole), scores(whole, encoder)
    chosen = [*sorted(random.Random(0).sample(range(1, total - 8), 8)), total - 6, total - 3, total - 1]
    kill_at(four, changed, tmp_path / "killed", chosen)
    numbers = []
    for step in chosen:
        home = Home.open(tmp_path / "killed" / str(step))
        numbers.append(number(home))
        assert Generations(home.index).verify(deep=True) == []
        again = counts(add(home, CONFIG, encoder, [changed], collection="facts"))
        assert again == ((2, 2, 2, 0) if numbers[-1] == 1 else (0, 0, 6, 0)), step
        assert stored_documents(home) == expected, step
        assert scores(home, encoder) == expected_scores
        assert [path.name for path in home.index.iterdir() if path.suffix] == []
    assert numbers == sorted(numbers)
    assert set(numbers) == {1, 2}, "the old generation up to a step, then the new one"


def test_repair_finishes_a_kill_between_index_and_store(four, encoder, changed, tmp_path, monkeypatch) -> None:
    def dying(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "finish", dying)
    with pytest.raises(KeyboardInterrupt):
        add(four, CONFIG, encoder, [changed], collection="facts")
    monkeypatch.undo()
    assert number(four) == 2
    (four.index / "CURRENT").write_text("garbage")
    assert repair(four, CONFIG, encoder) == 6
    assert stored_documents(four)["moon"] == ("New.", "facts")


# --- other processes ------------------------------------------------------------------------------------------------


@contextmanager
def adding_slowly(home: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is in the middle of a long `add`."""
    path = folder / "long.jsonl"
    path.write_text("".join(f'{{"_id": "{i}", "text": "Zorgon number {i} is one of many."}}\n' for i in range(100_000)))
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "add", str(path), "--collection", "long"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            while process.poll() is None and not list((home / "index").glob("*.partial/keyword/meta.json")):
                time.sleep(0.02)
            yield process
        finally:
            process.kill()


@pytest.mark.slow
def test_long_add_does_not_block_readers_and_can_be_interrupted(home, qa_bot, tmp_path) -> None:
    with Bot.open(home) as bot, adding_slowly(home, tmp_path) as process:
        assert bot.ask("Why do cats sleep all day?").sources[0].document == "animals-cats-sleep"
        refused = qa_bot("delete", "animals-cats-sleep")
        assert refused.code == 1
        assert f"add by process {process.pid} since" in refused.err
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "Interrupted; nothing half-done was kept.\n"
    assert [collection["name"] for collection in qa_bot("status", "--json").json["collections"]] == ["starter"]
    assert qa_bot("search", "zorgon", "--engine", "keyword").code == 3
    assert qa_bot("doctor").code == 0


@pytest.mark.slow
def test_next_add_cleans_up_after_a_killed_one(home, qa_bot, tmp_path, write_lines) -> None:
    with adding_slowly(home, tmp_path) as process:
        process.kill()
    assert qa_bot("search", "zorgon", "--engine", "keyword").code == 3
    assert qa_bot("doctor").code == 0
    assert qa_bot("add", write_lines("b.jsonl", BREAD)).code == 0
    status = qa_bot("status", "--json").json
    assert [collection["name"] for collection in status["collections"]] == ["default", "starter"]
    assert sorted(path.name for path in (home / "index").iterdir()) == ["00000001", "00000002", "CURRENT"]


@pytest.mark.slow
def test_two_processes_at_first_use(tmp_path) -> None:
    command = [sys.executable, "-m", "qa_bot", "--home", str(tmp_path / "new"), "search", "cats", "--json"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    assert number(Home.open(tmp_path / "new")) == 1


def test_a_removed_starter_collection_stays_away(home, qa_bot) -> None:
    assert qa_bot("delete", "--collection", "starter").code == 0
    assert qa_bot("ask", "Why do cats sleep all day?").code == 3
    assert qa_bot("status", "--json").json["documents"] == 0
