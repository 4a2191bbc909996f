"""What a writer leaves behind: counts, documents in store and index, generations; also when it is killed halfway."""

from __future__ import annotations

import json
import os
import random
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
from qa_bot.documents.first_fill import rebuild_outdated
from qa_bot.documents.index_update import ChangeError, index_update
from qa_bot.documents.ingest.records import Limits, Record
from qa_bot.documents.reject_log import AddReport
from qa_bot.documents.sync import add, add_records, delete, repair, switch_encoder
from qa_bot.home import index
from qa_bot.home.config import Config
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.generations import CorruptGenerationError, Generations
from qa_bot.home.index import Index, Manifest
from qa_bot.home.sections import PassagesSection
from qa_bot.home.starter import ENCODER
from qa_bot.home.store import Store
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.text.analysis import ANALYSER_VERSION
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
def encoder() -> StaticEncoder:
    return StaticEncoder.load(ENCODER)


@pytest.fixture(scope="module")
def other_encoder(other_encoder_folder: Path) -> StaticEncoder:
    return StaticEncoder.load(other_encoder_folder)


@pytest.fixture
def place(tmp_path: Path) -> Home:
    """A home without anything in it."""
    return Home.open(tmp_path / "place")


@pytest.fixture
def four(place, encoder, write_lines) -> Home:
    """A home with `ROWS` in the collection "facts"."""
    add(place, CONFIG, encoder, [write_lines("four.jsonl", *ROWS)], collection="facts")
    return place


def counts(added: AddReport) -> tuple[int, int, int, int]:
    return added.added, added.updated, added.unchanged, added.rejected


def number(home: Home) -> int | None:
    return Generations(home.index).current_number()


def held(home: Home, config: Config = CONFIG) -> dict[str, tuple[str, str]]:
    """Documents of the store: text and collection by id; it must be what the index holds, passage for passage."""
    with Store.open(home.store_url(config)) as store:
        rows = list(store.stream_documents())
        stored = store.counts()
    generation = Generations(home.index).current()
    assert generation is not None
    index = Index(generation)
    assert (index.manifest.documents, index.manifest.passages) == (stored.documents, stored.passages)
    for row in rows:
        best = index.best_passages([row.key], None, {row.key: row.passages[-1].key})[row.key]
        assert best.passage.text == row.passages[-1].text
        assert best.passage.source.collection == row.collection
    return {row.external_id: (" ".join(p.text for p in row.passages), row.collection) for row in rows}


def by_keyword(home: Home, *terms: str) -> int:
    """How many passages hold one of the terms."""
    generation = Generations(home.index).current()
    assert generation is not None
    return len(Index(generation).keyword_hits(KeywordQuery(tuple((term, 1.0) for term in terms)), 100))


def by_vector(home: Home, encoder: StaticEncoder, text: str) -> list[float]:
    """Similarity of the nearest passages."""
    generation = Generations(home.index).current()
    assert generation is not None
    hits = Index(generation).dense_hits("bodies", encoder.encode([text], side="answer"), 10)[0]
    scores: list[float] = hits.scores.tolist()
    return scores


# --- add ------------------------------------------------------------------------------------------------------------


def test_adding_tells_what_became_of_each_record(place, encoder, write_lines) -> None:
    first = add(place, CONFIG, encoder, [write_lines("a.jsonl", *ROWS)], collection="facts")
    assert counts(first) == (4, 0, 0, 0)
    changed = {**ROWS[0], "text": "Sunlight falls on it from changing sides."}
    again = add(place, CONFIG, encoder, [write_lines("b.jsonl", changed, *ROWS[1:3], BREAD)], collection="facts")
    assert counts(again) == (1, 1, 2, 0)
    assert (again.passages, number(place)) == (2, 2)
    assert set(held(place)) == {"moon", "tides", "rust", "tea", "bread"}


def test_adding_the_same_again_publishes_nothing(four, encoder, write_lines) -> None:
    before = {path: path.stat().st_mtime_ns for path in four.index.rglob("*") if path.is_file()}
    assert counts(add(four, CONFIG, encoder, [write_lines("a.jsonl", *ROWS)], collection="facts")) == (0, 0, 4, 0)
    assert {path: path.stat().st_mtime_ns for path in four.index.rglob("*") if path.is_file()} == before


def test_a_changed_document_is_replaced_everywhere(four, encoder, write_lines) -> None:
    old, new = ROWS[2]["text"], "Lemon juice dissolves it overnight."
    assert by_vector(four, encoder, f"{ROWS[2]['title']}\n{old}")[0] > 0.99
    add(four, CONFIG, encoder, [write_lines("b.jsonl", {**ROWS[2], "text": new})], collection="facts")
    assert held(four)["rust"] == (new, "facts")
    assert (by_keyword(four, "vinegar", "wool"), by_keyword(four, "lemon")) == (0, 1)
    assert by_vector(four, encoder, f"{ROWS[2]['title']}\n{old}")[0] < 0.99
    assert by_vector(four, encoder, f"{ROWS[2]['title']}\n{new}")[0] > 0.99


def test_records_that_come_from_no_file_are_added_like_others(four, encoder) -> None:
    bread = Record("bread", BREAD["title"], BREAD["text"])
    for record, expected in (
        (bread, (1, 0, 0, 0)),
        (bread, (0, 0, 1, 0)),
        (replace(bread, text="Yeast does it."), (0, 1, 0, 0)),
        (replace(bread, text=" "), (0, 0, 0, 1)),
    ):
        assert counts(add_records(four, CONFIG, encoder, [record], collection="own")) == expected
    assert held(four)["bread"] == ("Yeast does it.", "own")
    assert number(four) == 3


def test_records_are_no_reason_to_encode_everything_anew(four, other_encoder) -> None:
    with pytest.raises(ChangeError, match="run `qa-bot use starter` first"):
        add_records(four, CONFIG, other_encoder, [Record("a", "t", "text")], collection="own")
    assert (number(four), set(held(four))) == (1, {"moon", "tides", "rust", "tea"})


def test_a_new_title_or_address_counts_as_a_change(four, encoder, write_lines) -> None:
    rows = [{**ROWS[0], "title": "Phases of the moon"}, {**ROWS[1], "url": "https://example.org/tides"}]
    assert counts(add(four, CONFIG, encoder, [write_lines("b.jsonl", *rows)], collection="facts")) == (0, 2, 0, 0)


def test_cutting_otherwise_replaces_all(four, encoder, write_lines) -> None:
    config = Config(passages=PassagesSection(characters=100))
    assert counts(add(four, config, encoder, [write_lines("b.jsonl", *ROWS)], collection="facts")) == (0, 4, 0, 0)


def test_an_id_that_repeats_is_rejected_where_it_stands(place, encoder, write_lines) -> None:
    path = write_lines("a.jsonl", ROWS[0], ROWS[1], {**ROWS[0], "text": "Another text."})
    added = add(place, CONFIG, encoder, [path])
    assert counts(added) == (2, 0, 0, 1)
    assert added.examples[0].where == f"{path}:3"
    assert "'moon' again; the first one is kept" in added.examples[0].reason
    assert held(place)["moon"][0] == ROWS[0]["text"]


@pytest.mark.parametrize("dry_run", [False, True])
def test_ids_are_told_apart_over_batches_and_files(place, encoder, write_lines, monkeypatch, dry_run: bool) -> None:
    monkeypatch.setattr("qa_bot.documents.record_sync.BATCH", 2)
    one, two = write_lines("a.jsonl", *ROWS), write_lines("b.jsonl", BREAD, *ROWS)
    assert counts(add(place, CONFIG, encoder, [one, two], dry_run=dry_run)) == (5, 0, 0, 4)


def test_an_id_lives_once_in_each_collection(four, encoder, write_lines) -> None:
    add(four, CONFIG, encoder, [write_lines("b.jsonl", {**ROWS[0], "text": "Astrologers disagree."})], collection="b")
    with Store.open(four.store_url(CONFIG)) as store:
        assert [(c.name, c.documents) for c in store.collections()] == [("b", 1), ("facts", 4)]
        assert len(store.find(["moon"])["moon"]) == 2


def test_near_duplicates_are_marked_and_kept(place, encoder, write_lines) -> None:
    text = " ".join(f"word{i}" for i in range(60))
    rows = [{"_id": "one", "title": "", "text": text}, {"_id": "two", "title": "", "text": text + "."}]
    added = add(place, CONFIG, encoder, [write_lines("a.jsonl", *rows)])
    assert (added.added, added.duplicates) == (2, 1)
    assert set(held(place)) == {"one", "two"}


def test_a_dry_run_tells_the_same_and_writes_nothing(four, encoder, write_lines) -> None:
    path = write_lines("b.jsonl", {**ROWS[0], "text": "New."}, *ROWS[1:], BREAD, "{broken", BREAD)
    before = {p: p.read_bytes() for p in four.path.rglob("*") if p.is_file() and "sqlite" not in p.name}
    told = add(four, CONFIG, encoder, [path], collection="facts", dry_run=True)
    assert {p: p.read_bytes() for p in four.path.rglob("*") if p.is_file() and "sqlite" not in p.name} == before
    assert counts(told) == (1, 1, 3, 2)
    assert held(four)["moon"][0] == ROWS[0]["text"]
    assert counts(add(four, CONFIG, encoder, [path], collection="facts")) == counts(told)


def test_a_dry_run_into_a_new_collection_makes_none(four, encoder, write_lines) -> None:
    told = add(four, CONFIG, encoder, [write_lines("b.jsonl", *ROWS)], collection="new", dry_run=True)
    assert counts(told) == (4, 0, 0, 0)
    with Store.open(four.store_url(CONFIG)) as store:
        assert [c.name for c in store.collections()] == ["facts"]


def test_all_rejects_are_in_a_file_and_some_in_the_report(place, encoder, write_lines) -> None:
    path = write_lines("a.jsonl", *ROWS, *["{"] * 30)
    added = add(place, CONFIG, encoder, [path])
    assert (added.rejected, len(added.examples)) == (30, 20)
    assert added.rejects_file is not None
    lines = [json.loads(line) for line in added.rejects_file.read_text().splitlines()]
    assert [line["where"] for line in lines] == [f"{path}:{i}" for i in range(5, 35)]
    assert added.as_dict()["rejects_file"] == str(added.rejects_file)


def test_without_rejects_there_is_no_file(four) -> None:
    assert not (four.path / "rejects").exists()


def test_a_record_without_text_is_rejected_and_replaces_nothing(four, encoder, tmp_path) -> None:
    (tmp_path / "squad").mkdir()
    path = tmp_path / "empty.html"
    path.write_text("<html><head><title></title></head><body><p> </p></body></html>")
    assert counts(add(four, CONFIG, encoder, [path]))[3] == 1
    assert number(four) == 1


def test_the_bound_on_all_bytes_is_over_all_paths(place, encoder, write_lines) -> None:
    paths = [write_lines(f"{i}.jsonl", {**BREAD, "_id": i, "text": "x" * 600}) for i in "abc"]
    added = add(place, CONFIG, encoder, paths, limits=Limits(total_bytes=1500))
    assert added.added == 2
    assert "Expected at most 1,500 bytes in the whole input" in added.examples[0].reason


def test_notices_are_bounded(place, encoder, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.documents.reject_log.NOTICES", 2)
    for i in range(4):
        (tmp_path / f"{i}.txt").write_bytes(b"caf\xe9 \xff and more text")
    added = add(place, CONFIG, encoder, [tmp_path / f"{i}.txt" for i in range(4)], format="text")
    assert (added.added, len(added.notices)) == (4, 2)


def test_what_is_not_there_is_told_before_anything_is_done(four, encoder, tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"Expected a file or a folder, but got .*nowhere"):
        add(four, CONFIG, encoder, [tmp_path / "nowhere"])
    with pytest.raises(ChangeError, match=r"Expected one of the formats jsonl, .*, but got 'docx'\."):
        add(four, CONFIG, encoder, [tmp_path], format="docx")
    assert number(four) == 1


# --- delete ---------------------------------------------------------------------------------------------------------


def test_deleting_removes_everywhere(four, encoder) -> None:
    assert delete(four, CONFIG, encoder, ids=["rust", "nobody"]) == (1, ["nobody"])
    assert set(held(four)) == {"moon", "tides", "tea"}
    assert by_keyword(four, "vinegar") == 0
    assert by_vector(four, encoder, f"{ROWS[2]['title']}\n{ROWS[2]['text']}")[0] < 0.99


def test_deleting_a_collection_leaves_the_others(four, encoder, write_lines) -> None:
    add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)], collection="kitchen")
    assert delete(four, CONFIG, encoder, collection="facts") == (4, [])
    assert held(four) == {"bread": (BREAD["text"], "kitchen")}


def test_an_id_is_deleted_from_every_collection(four, encoder, write_lines) -> None:
    add(four, CONFIG, encoder, [write_lines("b.jsonl", ROWS[0])], collection="copy")
    assert delete(four, CONFIG, encoder, ids=["moon"]) == (2, [])


def test_deleting_what_is_not_there_publishes_nothing(four, encoder) -> None:
    assert delete(four, CONFIG, encoder, ids=["nobody"]) == (0, ["nobody"])
    assert delete(four, CONFIG, encoder, collection="none") == (0, [])
    assert number(four) == 1


def test_a_home_can_be_emptied_asked_and_filled_again(four, encoder, write_lines) -> None:
    assert delete(four, CONFIG, encoder, collection="facts") == (4, [])
    assert held(four) == {}
    assert by_vector(four, encoder, "anything") == []
    with Bot.open(four.path, record=False) as bot:
        answer = bot.ask("Why does the moon have phases?")
        assert (answer.answered, answer.sources) == (False, ())
        assert bot.search("moon", engine="dense") == ()
    assert counts(add(four, CONFIG, encoder, [write_lines("b.jsonl", *ROWS)], collection="facts")) == (4, 0, 0, 0)
    assert set(held(four)) == {"moon", "tides", "rust", "tea"}


# --- generations ----------------------------------------------------------------------------------------------------


def test_two_generations_are_kept_and_what_is_unchanged_is_shared(four, encoder, write_lines) -> None:
    rows = [{**BREAD, "_id": str(i), "text": f"{BREAD['text']} {i}"} for i in range(4)]
    for i, row in enumerate(rows):
        add(four, CONFIG, encoder, [write_lines("b.jsonl", row)])
        assert number(four) == i + 2
    assert sorted(path.name for path in four.index.iterdir()) == ["00000004", "00000005", "CURRENT"]
    assert set(held(four)) == {"moon", "tides", "rust", "tea", "0", "1", "2", "3"}


def test_segments_stay_few(place, encoder, write_lines) -> None:
    for i in range(9):
        add(place, CONFIG, encoder, [write_lines("b.jsonl", {**BREAD, "_id": str(i), "text": f"Text {i}"})])
    generation = Generations(place.index).current()
    assert generation is not None
    assert len(Manifest.of(generation).segments) <= 4
    assert set(held(place)) == {str(i) for i in range(9)}


@pytest.mark.parametrize(("folded", "segments"), [(0, ("00000001", "00000002")), (512, ("00000002",))])
def test_a_small_collection_does_not_cause_a_large_one_to_be_written_twice(
    folded, segments, four, encoder, write_lines, monkeypatch
) -> None:
    monkeypatch.setattr(index, "FOLDED", folded)
    rows = [{**BREAD, "_id": str(i), "text": f"Text {i}"} for i in range(100)]
    add(four, CONFIG, encoder, [write_lines("b.jsonl", *rows)])
    generation = Generations(four.index).current()
    assert generation is not None
    assert Manifest.of(generation).segments == segments


def test_a_mostly_deleted_segment_is_rewritten(four, encoder, write_lines) -> None:
    delete(four, CONFIG, encoder, ids=["moon", "tides", "rust"])
    generation = Generations(four.index).current()
    assert generation is not None
    assert Manifest.of(generation).segments == ("00000002-merged",)
    assert set(held(four)) == {"tea"}


def test_a_second_writer_is_told_who_is_at_work(four, encoder, write_lines) -> None:
    with (
        index_update(four, CONFIG, encoder, action="add"),
        pytest.raises(WriterBusyError, match=f"add by process {os.getpid()}"),
    ):
        delete(four, CONFIG, encoder, ids=["moon"])
    assert set(held(four)) == {"moon", "tides", "rust", "tea"}


def test_an_error_leaves_the_old_generation_and_no_files(four, encoder, write_lines, monkeypatch) -> None:
    def items() -> Iterator[Record]:
        yield Record("bread", BREAD["title"], BREAD["text"])
        raise RuntimeError("halfway")

    monkeypatch.setattr("qa_bot.documents.sync.read", lambda *_args, **_options: items())
    monkeypatch.setattr("qa_bot.documents.record_sync.BATCH", 1)
    with pytest.raises(RuntimeError, match="halfway"):
        add(four, CONFIG, encoder, [four.path])
    monkeypatch.undo()
    assert sorted(path.name for path in four.index.iterdir()) == ["00000001", "CURRENT"]
    add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)], collection="facts")
    assert set(held(four)) == {"moon", "tides", "rust", "tea", "bread"}


# --- another analyser -----------------------------------------------------------------------------------------------


@pytest.fixture
def newer_analyser(four: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "ANALYSER_VERSION", "newer/2")


def manifest(home: Home) -> Manifest:
    generation = Generations(home.index).current()
    assert generation is not None
    return Manifest.of(generation)


@pytest.mark.usefixtures("newer_analyser")
def test_an_index_of_another_analyser_is_not_searched(four) -> None:
    generation = Generations(four.index).current()
    with pytest.raises(CorruptGenerationError, match="qa-bot-english/1, but this version has newer/2; run `qa-bot rep"):
        index.Index(generation)


@pytest.mark.usefixtures("newer_analyser")
def test_an_index_of_another_analyser_is_rebuilt_before_it_is_changed(four, encoder, write_lines) -> None:
    assert counts(add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)], collection="facts")) == (1, 0, 0, 0)
    assert delete(four, CONFIG, encoder, ids=["tea"]) == (1, [])
    assert manifest(four).analyser == "newer/2"
    assert set(held(four)) == {"moon", "tides", "rust", "bread"}


@pytest.mark.usefixtures("newer_analyser")
def test_a_home_of_another_analyser_is_rebuilt_once(four, encoder, caplog) -> None:
    assert rebuild_outdated(four, CONFIG, lambda: encoder)
    assert "it is rebuilt from the database" in caplog.text
    assert not rebuild_outdated(four, CONFIG, lambda: encoder)
    assert set(held(four)) == {"moon", "tides", "rust", "tea"}


def test_a_manifest_without_an_analyser_is_of_the_first_one(four) -> None:
    generation = Generations(four.index).current()
    assert generation is not None
    old = {name: value for name, value in generation.manifest.items() if name != "analyser"}
    assert Manifest.of(replace(generation, manifest=old)).analyser == "qa-bot-english/1" == ANALYSER_VERSION


# --- another encoder ------------------------------------------------------------------------------------------------


def test_using_another_encoder_encodes_everything_anew(four, encoder, other_encoder) -> None:
    text = f"{ROWS[2]['title']}\n{ROWS[2]['text']}"
    switch_encoder(four, CONFIG, other_encoder, name="other")
    assert by_vector(four, other_encoder, text)[0] > 0.99
    assert by_vector(four, encoder, text)[0] < 0.5
    generation = Generations(four.index).current()
    assert generation is not None
    manifest = Manifest.of(generation)
    assert (manifest.encoder, manifest.fingerprint) == ("other", other_encoder.fingerprint)
    assert set(held(four)) == {"moon", "tides", "rust", "tea"}


def test_adding_nothing_new_with_another_encoder_must_reencode(four, other_encoder, write_lines) -> None:
    added = add(four, CONFIG, other_encoder, [write_lines("a.jsonl", *ROWS)], collection="facts")
    assert counts(added) == (0, 0, 4, 0)
    assert by_vector(four, other_encoder, f"{ROWS[2]['title']}\n{ROWS[2]['text']}")[0] > 0.99


# --- repair ---------------------------------------------------------------------------------------------------------


def remove(path: Path) -> None:
    if path.is_dir():
        subprocess.run(["rm", "-r", str(path)], check=True)
    else:
        path.unlink()


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
    before = held(four)
    spoil(four.index)
    with pytest.raises((CorruptGenerationError, ChangeError), match="run `qa-bot repair`"):
        add(four, CONFIG, encoder, [write_lines("c.jsonl", {**BREAD, "_id": "c"})])
    with pytest.raises((CorruptGenerationError, ChangeError), match="run `qa-bot repair`"), Bot.open(four.path) as bot:
        bot.ask("Why?")
    assert repair(four, CONFIG, encoder) == 5
    assert held(four) == before
    add(four, CONFIG, encoder, [write_lines("c.jsonl", {**BREAD, "_id": "c"})], collection="facts")
    assert len(held(four)) == 6


def test_repair_of_an_empty_home_leaves_it_empty(place, encoder) -> None:
    assert repair(place, CONFIG, encoder) == 0
    assert number(place) is None


def test_a_lost_database_is_not_taken_for_an_empty_one(four, encoder, write_lines) -> None:
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

base, source, top, wanted = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), set(map(int, sys.argv[4:]))
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

for step in sorted(wanted) or [0]:
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
    """Two documents as they were, two changed, two new ones, one of them a near-duplicate."""
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
def test_a_kill_at_any_step_and_a_second_run_give_what_one_run_gives(four, encoder, changed, tmp_path) -> None:
    total = int(kill_at(four, changed, tmp_path / "whole", []))
    assert total > 40
    whole = Home.open(tmp_path / "whole" / "0")
    wanted, wanted_scores = held(whole), scores(whole, encoder)
    chosen = [*sorted(random.Random(0).sample(range(1, total - 8), 8)), total - 6, total - 3, total - 1]
    kill_at(four, changed, tmp_path / "killed", chosen)
    numbers = []
    for step in chosen:
        home = Home.open(tmp_path / "killed" / str(step))
        numbers.append(number(home))
        assert Generations(home.index).verify(deep=True) == []
        again = counts(add(home, CONFIG, encoder, [changed], collection="facts"))
        assert again == ((2, 2, 2, 0) if numbers[-1] == 1 else (0, 0, 6, 0)), step
        assert held(home) == wanted, step
        assert scores(home, encoder) == wanted_scores
        assert [path.name for path in home.index.iterdir() if path.suffix] == []
    assert numbers == sorted(numbers)
    assert set(numbers) == {1, 2}, "the old one up to a step, the new one from there on"


def test_a_kill_between_index_and_store_is_finished_by_repair_too(
    four, encoder, changed, tmp_path, monkeypatch
) -> None:
    def dying(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "finish", dying)
    with pytest.raises(KeyboardInterrupt):
        add(four, CONFIG, encoder, [changed], collection="facts")
    monkeypatch.undo()
    assert number(four) == 2
    (four.index / "CURRENT").write_text("garbage")
    assert repair(four, CONFIG, encoder) == 6
    assert held(four)["moon"] == ("New.", "facts")


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
def test_a_long_add_disturbs_nobody_and_can_be_interrupted(home, qa_bot, tmp_path) -> None:
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
    assert [each["name"] for each in qa_bot("status", "--json").json["collections"]] == ["starter"]
    assert qa_bot("search", "zorgon", "--engine", "keyword").code == 3
    assert qa_bot("doctor").code == 0


@pytest.mark.slow
def test_a_killed_add_is_cleared_up_by_the_next(home, qa_bot, tmp_path, write_lines) -> None:
    with adding_slowly(home, tmp_path) as process:
        process.kill()
    assert qa_bot("search", "zorgon", "--engine", "keyword").code == 3
    assert qa_bot("doctor").code == 0
    assert qa_bot("add", write_lines("b.jsonl", BREAD)).code == 0
    told = qa_bot("status", "--json").json
    assert [each["name"] for each in told["collections"]] == ["default", "starter"]
    assert sorted(path.name for path in (home / "index").iterdir()) == ["00000001", "00000002", "CURRENT"]


@pytest.mark.slow
def test_two_processes_at_the_first_use_both_answer(tmp_path) -> None:
    command = [sys.executable, "-m", "qa_bot", "--home", str(tmp_path / "new"), "search", "cats", "--json"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    told = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], told
    assert told[0][0] == told[1][0]
    assert number(Home.open(tmp_path / "new")) == 1


def test_a_removed_starter_collection_stays_away(home, qa_bot) -> None:
    assert qa_bot("delete", "--collection", "starter").code == 0
    assert qa_bot("ask", "Why do cats sleep all day?").code == 3
    assert qa_bot("status", "--json").json["documents"] == 0
