"""Adding, deleting and repairing: counts, documents in store and index, generations, and killed writers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.documents.index_update import ChangeError, index_update
from qa_bot.documents.ingest.records import Limits, Record
from qa_bot.documents.sync import add, add_records, delete
from qa_bot.home import index_writer
from qa_bot.home.config import Config
from qa_bot.home.doctor import run_checks
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.sections import PassagesSection
from qa_bot.home.store import Store
from tests.qa_bot.documents.stored import (
    BREAD,
    CONFIG,
    ROWS,
    by_keyword,
    by_vector,
    counts,
    generation_number,
    manifest,
    stored_documents,
)


def test_add_counts_new_changed_and_unchanged_records(empty_home, encoder, write_lines) -> None:
    first = add(empty_home, CONFIG, encoder, [write_lines("a.jsonl", *ROWS)], collection="facts")
    assert counts(first) == (4, 0, 0, 0)
    changed = {**ROWS[0], "text": "Sunlight falls on it from changing sides."}
    again = add(empty_home, CONFIG, encoder, [write_lines("b.jsonl", changed, *ROWS[1:3], BREAD)], collection="facts")
    assert counts(again) == (1, 1, 2, 0)
    assert (again.passages, generation_number(empty_home)) == (2, 2)
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
    assert generation_number(four) == 3


def test_records_for_another_encoder_are_refused(four, other_encoder) -> None:
    with pytest.raises(ChangeError, match="run `qa-bot use starter` first"):
        add_records(four, CONFIG, other_encoder, [Record("a", "t", "text")], collection="own")
    assert (generation_number(four), set(stored_documents(four))) == (1, {"moon", "tides", "rust", "tea"})


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
    assert f"'moon' again; the first one, of {path}:1, is kept" in added.examples[0].reason
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


def test_rejects_file_has_all_rejects_and_the_report_some(empty_home, encoder, write_lines, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.documents.reject_log.LISTED", 20)
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
    assert generation_number(four) == 1


def test_limit_on_total_bytes_covers_all_paths(empty_home, encoder, write_lines) -> None:
    paths = [write_lines(f"{i}.jsonl", {**BREAD, "_id": i, "text": "x" * 600}) for i in "abc"]
    added = add(empty_home, CONFIG, encoder, paths, limits=Limits(total_bytes=1500))
    assert added.added == 2
    assert "Expected at most 1,500 bytes in the whole input" in added.examples[0].reason


def test_notices_are_bounded(empty_home, encoder, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.documents.reject_log.LISTED", 2)
    for i in range(4):
        (tmp_path / f"{i}.txt").write_bytes(b"caf\xe9 \xff and more text")
    added = add(empty_home, CONFIG, encoder, [tmp_path / f"{i}.txt" for i in range(4)], format="text")
    assert (added.added, len(added.notices)) == (4, 2)


def test_missing_path_and_unknown_format_are_refused_first(four, encoder, tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"Expected a file or a folder, but got .*nowhere"):
        add(four, CONFIG, encoder, [tmp_path / "nowhere"])
    with pytest.raises(ChangeError, match=r"Expected one of the formats jsonl, .*, but got 'exe'\."):
        add(four, CONFIG, encoder, [tmp_path], format="exe")
    assert generation_number(four) == 1


FOOTER = "Northwind Labs, registered in Gdansk under number 4711. All rights reserved."


def write_pages(folder: Path, numbers: range) -> Path:
    folder.mkdir(exist_ok=True)
    for page in numbers:
        text = f"# Page {page}\n\nThis page tells of subject{page}.\n\n{FOOTER}\n"
        (folder / f"p{page:02}.md").write_text(text)
    return folder


def documents_with(home: Home, word: str) -> set[str]:
    with Bot.open(home.path) as bot:
        return {match.passage.source.document for match in bot.search(word, engine="keyword", top=50)}


@pytest.mark.parametrize("batch", [1, 5, 500])
def test_boilerplate_is_searched_in_the_first_document_only(
    empty_home, encoder, tmp_path, monkeypatch, batch: int
) -> None:
    monkeypatch.setattr("qa_bot.documents.record_sync.BATCH", batch)
    folder = write_pages(tmp_path / "pages", range(12))
    assert counts(add(empty_home, CONFIG, encoder, [folder])) == (12, 0, 0, 0)
    assert documents_with(empty_home, "registered") == {"p00.md"}
    assert documents_with(empty_home, "subject7") == {"p07.md"}
    write_pages(folder, range(12, 14))
    add(empty_home, CONFIG, encoder, [folder])  # what repeats is remembered
    assert documents_with(empty_home, "registered") == {"p00.md"}
    assert all(check.ok for check in run_checks(empty_home, CONFIG))


def test_pages_with_blocks_of_others_replace_their_former_ones_later(
    empty_home, encoder, tmp_path, write_lines, monkeypatch
) -> None:
    folder = write_pages(tmp_path / "pages", range(12))
    add(empty_home, CONFIG, encoder, [folder])
    for page in range(2, 12):
        (folder / f"p{page:02}.md").write_text(f"# Page {page}\n\nThis page now tells of matter{page}.\n\n{FOOTER}\n")
    monkeypatch.setattr("qa_bot.documents.record_sync.BATCH", 3)
    monkeypatch.setattr("qa_bot.documents.record_sync.WAITING", 4)
    assert counts(add(empty_home, CONFIG, encoder, [folder])) == (0, 10, 2, 0)
    assert "matter7" in stored_documents(empty_home)["p07.md"][0]
    assert (by_keyword(empty_home, "matter7"), by_keyword(empty_home, "subject7")) == (1, 0)
    assert documents_with(empty_home, "registered") == {"p00.md"}
    assert len(stored_documents(empty_home)) == 12


def test_an_id_of_a_page_that_waits_is_taken(empty_home, encoder, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.documents.record_sync.BATCH", 1)
    page = f"# Page\n\nThis page tells of it.\n\n{FOOTER}\n"
    records = [Record(id_, "Page", page, where=f"{n}.md:1", markdown=True) for n, id_ in enumerate(["a", "b", "b"])]
    monkeypatch.setattr("qa_bot.documents.sync.read", lambda *_args, **_options: iter(records))
    added = add(empty_home, CONFIG, encoder, [tmp_path], as_sources=False)
    assert counts(added) == (2, 0, 0, 1)
    assert "got 'b' again; the first one, of 1.md:1, is kept" in added.examples[0].reason


def test_a_title_that_repeats_gives_way_to_the_heading(empty_home, encoder, tmp_path) -> None:
    (tmp_path / "pages").mkdir()
    for page in range(12):
        heading = f"<h1>Page {page}</h1>" if page != 5 else "<h2>Page 5</h2>"
        html = f"<title>ACME Help</title>{heading}<p>This page tells of subject{page}."
        (tmp_path / "pages" / f"p{page:02}.html").write_text(html)
    add(empty_home, CONFIG, encoder, [tmp_path / "pages"])
    with Bot.open(empty_home.path) as bot:
        matches = bot.search("subject", engine="keyword", top=50) or bot.search("page tells", engine="keyword", top=50)
    sources = {match.passage.source.document: match.passage for match in matches}
    titles = {name: passage.source.title for name, passage in sources.items()}
    assert titles == {f"p{page:02}.html": "ACME Help" if page in {0, 5} else f"Page {page}" for page in range(12)}, (
        "the first page keeps the title, and one without a heading of level 1"
    )
    assert sources["p07.html"].place.heading == ()


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
    assert generation_number(four) == 1


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


def test_two_generations_are_kept(four, encoder, write_lines) -> None:
    rows = [{**BREAD, "_id": str(i), "text": f"{BREAD['text']} {i}"} for i in range(4)]
    for i, row in enumerate(rows):
        add(four, CONFIG, encoder, [write_lines("b.jsonl", row)])
        assert generation_number(four) == i + 2
    assert sorted(path.name for path in four.index.iterdir()) == ["00000004", "00000005", "CURRENT"]
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "tea", "0", "1", "2", "3"}


@pytest.mark.slow
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
        add(four, CONFIG, encoder, [write_lines("a.jsonl", BREAD)])
    monkeypatch.undo()
    assert sorted(path.name for path in four.index.iterdir()) == ["00000001", "CURRENT"]
    add(four, CONFIG, encoder, [write_lines("b.jsonl", BREAD)], collection="facts")
    assert set(stored_documents(four)) == {"moon", "tides", "rust", "tea", "bread"}
