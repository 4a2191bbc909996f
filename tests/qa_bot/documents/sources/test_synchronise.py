"""Sources of a home: ids of documents, what a synchronisation adds and removes, and what stays of earlier homes."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from qa_bot.documents.index_update import ChangeError
from qa_bot.documents.reject_log import AddReport
from qa_bot.documents.sync import (
    delete,
    list_sources,
    move_source,
    remove_source,
    rename_source,
    synchronise,
)
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.sections import PassagesSection
from qa_bot.home.store import Store
from qa_core.encoders.static_encoder import StaticEncoder
from tests.qa_bot.documents.sources.folders import CONFIG, TEXTS, Add, names, stored, write


def lists(report: AddReport) -> tuple[list[str], list[str], list[tuple[str, str]], list[str]]:
    (source,) = report.sources
    return source.new, source.changed, source.moved, source.deleted


def test_sync_follows_new_changed_moved_and_deleted_files(
    empty_home: Home, added: Add, synced: Add, docs: Path
) -> None:
    write(docs, {"old.md": "Outdated."})
    added(docs)
    generation = Generations(empty_home.index).current_number() or 0
    (docs / "sub" / "tea.txt").rename(docs / "tee.txt")
    (docs / "old.md").unlink()
    write(docs, {"rust.md": "Use lemon.", "new.md": "New."})
    planned = synced(dry_run=True)
    expected = (["new.md"], ["rust.md"], [("sub/tea.txt", "tee.txt")], ["old.md"])
    assert (lists(planned), {*stored(empty_home)}) == (expected, {*TEXTS, "old.md"})
    report = synced()
    assert (lists(report), report.removed, report.added, report.updated) == (expected, 2, 2, 1)
    assert stored(empty_home) == {"new.md": "New.", "rust.md": "Use lemon.", "tee.txt": TEXTS["sub/tea.txt"]}
    assert Generations(empty_home.index).current_number() == generation + 1
    assert lists(synced()) == ([], [], [], [])
    assert Generations(empty_home.index).current_number() == generation + 1


def test_add_removes_only_if_it_is_wanted(empty_home: Home, added: Add, docs: Path) -> None:
    added(docs)
    (docs / "rust.md").unlink()
    added(docs)
    assert {*stored(empty_home)} == {*TEXTS}
    assert added(docs, removing=True).removed == 1
    assert {*stored(empty_home)} == {"sub/tea.txt"}


def test_lines_that_left_a_file_go_at_the_next_sync(
    empty_home: Home, added: Add, synced: Add, write_lines: Callable[..., Path]
) -> None:
    rows = [{"_id": name, "title": name, "text": f"Text of {name}."} for name in "ab"]
    added(write_lines("a.jsonl", *rows))
    added(write_lines("a.jsonl", rows[0]))
    assert {*stored(empty_home)} == {"a", "b"}
    synced()
    assert {*stored(empty_home)} == {"a"}


def test_an_empty_source_deletes_nothing(empty_home: Home, added: Add, synced: Add, docs: Path) -> None:
    added(docs)
    docs.rename(docs.with_name("away"))
    (error,) = synced().errors
    assert "does not exist" in error or "No such file" in error
    assert "name its new place with `qa-bot sources move`" in error
    docs.mkdir()
    assert "it has no files any more; nothing was deleted" in synced().errors[0]
    assert ({*stored(empty_home)}, list_sources(empty_home, CONFIG)[0].source.error) == ({*TEXTS}, synced().errors[0])
    assert (synced(allow_empty=True).removed, stored(empty_home)) == (2, {})
    docs.rmdir()
    report = synced()
    assert (report.errors, list_sources(empty_home, CONFIG)[0].source.error) == ([], "")
    assert "`qa-bot sources remove` forgets the source" in report.notices[0].message


def test_the_other_sources_are_synchronised_beside_a_missing_one(
    empty_home: Home, added: Add, synced: Add, docs: Path, tmp_path: Path
) -> None:
    other = write(tmp_path / "other", {"x.md": "X."})
    added(docs, other)
    docs.rename(docs.with_name("away"))
    write(other, {"x.md": "Y."})
    report = synced()
    assert (report.updated, len(report.errors), stored(empty_home)["x.md"]) == (1, 1, "Y.")


def test_a_rejected_file_keeps_its_documents_and_says_so(empty_home: Home, added: Add, synced: Add, docs: Path) -> None:
    added(docs)
    (docs / "rust.md").write_bytes(b"")
    for _ in range(2):
        report = synced()
        assert report.rejected == 1
        assert report.examples[0].reason.endswith("It keeps 1 document from before.")
        assert {*stored(empty_home)} == {*TEXTS}
    assert "1 rejected, first" in list_sources(empty_home, CONFIG)[0].source.error
    write(docs, {"rust.md": "Mended."})
    assert (synced().rejected, stored(empty_home)["rust.md"]) == (0, "Mended.")
    assert list_sources(empty_home, CONFIG)[0].source.error == ""


def test_a_new_source_of_which_all_is_rejected_is_not_remembered(empty_home: Home, added: Add, docs: Path) -> None:
    path = docs / "rust.md"
    assert added(path, format="jsonl").rejected == 1
    assert names(empty_home) == []
    assert added(path).added == 1
    assert (names(empty_home), stored(empty_home)) == (["rust.md"], {"rust.md": TEXTS["rust.md"]})
    assert added(path, format="jsonl").rejected == 1
    assert stored(empty_home) == {"rust.md": TEXTS["rust.md"]}


def test_adding_one_file_leaves_the_errors_of_its_source(empty_home: Home, added: Add, docs: Path) -> None:
    write(docs, {"a.jsonl": "broken"})
    added(docs)
    (before,) = list_sources(empty_home, CONFIG)
    assert "1 rejected" in before.source.error
    write(docs, {"rust.md": "Use lemon."})
    assert added(docs / "rust.md").updated == 1
    (after,) = list_sources(empty_home, CONFIG)
    assert (after.source.error, after.source.synced) == (before.source.error, before.source.synced)


def test_records_that_are_not_stored_are_rejected_again_until_they_are(
    empty_home: Home, added: Add, synced: Add, docs: Path
) -> None:
    write(docs, {"a.jsonl": '{"id": "1", "text": "One."}'})
    added(docs)
    write(docs, {"b.jsonl": '{"id": "1", "text": "Two."}\n{"id": "2\\u0007", "text": "Bell."}'})
    for _ in range(2):
        assert synced().rejected == 2
        assert "2 rejected, first" in list_sources(empty_home, CONFIG)[0].source.error
        assert stored(empty_home)["1"] == "One."
    (docs / "a.jsonl").unlink()
    assert (synced().rejected, stored(empty_home)["1"]) == (1, "Two.")


def test_a_record_that_becomes_blank_keeps_its_document(empty_home: Home, added: Add, synced: Add, docs: Path) -> None:
    write(docs, {"a.jsonl": "".join(f'{{"id": "{id_}", "text": "Text {id_}."}}\n' for id_ in "123")})
    added(docs)
    write(docs, {"a.jsonl": '{"id": "1", "text": "\\u200b "}\n{"id": "2", "text": "New."}'})
    for _ in range(2):
        assert synced().rejected == 1
        assert stored(empty_home) == {**TEXTS, "1": "Text 1.", "2": "New."}
    write(docs, {"a.jsonl": '{"id": "2", "text": "New."}'})
    assert (synced().rejected, stored(empty_home)) == (0, {**TEXTS, "2": "New."})


def test_other_settings_read_everything_again(empty_home: Home, encoder: StaticEncoder, added: Add, docs: Path) -> None:
    added(docs)
    config = Config(passages=PassagesSection(characters=100))
    report = synchronise(empty_home, config, encoder)
    assert (report.updated, lists(report)) == (2, ([], [], [], []))


def test_a_deleted_document_stays_deleted_until_it_is_added(
    empty_home: Home, encoder: StaticEncoder, added: Add, synced: Add, docs: Path
) -> None:
    added(docs)
    delete(empty_home, CONFIG, encoder, ids=["rust.md"])
    synced()
    assert {*stored(empty_home)} == {"sub/tea.txt"}
    added(docs)
    assert {*stored(empty_home)} == {*TEXTS}


def test_a_deleted_record_stays_deleted_if_its_file_is_read_again(
    empty_home: Home, encoder: StaticEncoder, added: Add, synced: Add, docs: Path
) -> None:
    lines = "".join(f'{{"id": "{id_}", "text": "Text {id_}."}}\n' for id_ in "12")
    write(docs, {"a.jsonl": f"{lines}broken"})
    added(docs)
    delete(empty_home, CONFIG, encoder, ids=["1", "rust.md"])
    other = Config(passages=PassagesSection(characters=100))
    assert synchronise(empty_home, other, encoder).unchanged == 0
    assert synced().unchanged == 0
    (docs / "a.jsonl").rename(docs / "b.jsonl")
    (docs / "rust.md").rename(docs / "iron.md")
    for _ in range(2):
        synced()
        assert {*stored(empty_home)} == {"sub/tea.txt", "2"}
    write(docs, {"b.jsonl": f"{lines}"})
    synced()
    assert {*stored(empty_home)} == {"sub/tea.txt", "1", "2"}
    added(docs)
    assert {*stored(empty_home)} == {"sub/tea.txt", "1", "2", "iron.md"}


def test_an_unchanged_file_does_not_count_deleted_documents(
    empty_home: Home, encoder: StaticEncoder, added: Add, synced: Add, docs: Path
) -> None:
    added(docs)
    delete(empty_home, CONFIG, encoder, ids=["rust.md"])
    assert synced().unchanged == 1


def test_a_failed_run_leaves_neither_source_nor_state(
    empty_home: Home, added: Add, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qa_bot.documents.sources.source_run.Reading.path", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        added(docs)
    monkeypatch.undo()
    assert names(empty_home) == []
    monkeypatch.setattr("qa_bot.home.generations.Generations.prepare", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        added(docs)
    monkeypatch.undo()
    assert added(docs).added == 2


def test_renaming_keeps_ids(empty_home: Home, added: Add, synced: Add, tmp_path: Path) -> None:
    for name in ("hr", "it"):
        added(write(tmp_path / name, {"README.md": f"About {name}."}))
    for name in ("hr", "it"):
        write(tmp_path / name, {"late.md": f"Late {name}."})
    synced()
    rename_source(empty_home, CONFIG, "it", "computers")
    rename_source(empty_home, CONFIG, "computers", "computing")
    assert names(empty_home) == ["computing", "hr"]
    assert synced("computing").unchanged == 2
    write(tmp_path / "it", {"late.md": "Later."})
    assert synced("computing").updated == 1
    assert {*stored(empty_home)} == {"README.md", "it/README.md", "late.md", "it/late.md"}
    with pytest.raises(ChangeError, match="Expected a new name"):
        rename_source(empty_home, CONFIG, "computing", "hr")
    with pytest.raises(ChangeError, match="got 'it'; there is: computing, hr"):
        synced("it")


def test_removing_a_source_removes_its_documents(
    empty_home: Home, encoder: StaticEncoder, added: Add, docs: Path, tmp_path: Path
) -> None:
    added(docs, write(tmp_path / "other", {"x.md": "X."}))
    assert remove_source(empty_home, CONFIG, encoder, "docs") == 2
    assert (stored(empty_home), names(empty_home)) == ({"x.md": "X."}, ["other"])
    assert added(docs).added == 2


def test_files_of_the_same_path_are_read_again_after_a_removal(
    empty_home: Home, encoder: StaticEncoder, added: Add, synced: Add, docs: Path, tmp_path: Path
) -> None:
    added(docs, write(tmp_path / "other", {"x.md": "X."}))
    (one, two) = list_sources(empty_home, CONFIG)
    with Store.open(empty_home.store_url(CONFIG)) as store:  # as earlier versions left it: the other source has it
        row = store.sources.files(one.source.id)["rust.md"]
        store.sources.save_files(two.source.id, [row])
        (document,) = store.sources.of_files(one.source.id, ["rust.md"])
        store.sources.claim(two.source.id, "rust.md", [document.document])
    remove_source(empty_home, CONFIG, encoder, "other")
    assert {*stored(empty_home)} == {"sub/tea.txt"}
    synced()
    assert {*stored(empty_home)} == {*TEXTS}


def test_deleting_a_collection_forgets_its_sources(
    empty_home: Home, encoder: StaticEncoder, added: Add, docs: Path
) -> None:
    added(docs, collection="team")
    delete(empty_home, CONFIG, encoder, collection="team")
    assert names(empty_home) == []


def test_a_source_that_is_elsewhere_now_keeps_its_documents(
    empty_home: Home, added: Add, synced: Add, docs: Path, tmp_path: Path
) -> None:
    added(docs)
    write(tmp_path / "papers", {"a.md": "Bees dance."})
    added(tmp_path / "papers")
    moved = docs.rename(tmp_path / "moved")
    move_source(empty_home, CONFIG, "docs", moved)
    report = synced("docs")
    assert (report.unchanged, report.added, report.removed, report.errors) == (2, 0, 0, [])
    for name, place, message in [
        ("docs", tmp_path / "papers", "Expected a place without a source"),
        ("docs", moved / "rust.md", "Expected another place for the folder docs"),
        ("nothing", moved, "but got 'nothing'; there is: docs, papers"),
    ]:
        with pytest.raises(ChangeError, match=message):
            move_source(empty_home, CONFIG, name, place)
    with pytest.raises(FileNotFoundError):
        move_source(empty_home, CONFIG, "docs", tmp_path / "gone")


def test_an_archive_that_is_empty_now_keeps_its_documents(
    empty_home: Home, added: Add, synced: Add, tmp_path: Path
) -> None:
    path = tmp_path / "arc.zip"

    def fill(**texts: str) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in texts.items():
                archive.writestr(f"{name}.md", text)

    fill(a="Bees dance.", b="Ants march.")
    added(path)
    fill()
    for _ in range(2):
        report = synced()
        assert (report.rejected, report.removed, len(stored(empty_home))) == (1, 0, 2)
        assert "It keeps 2 documents from before." in report.examples[0].reason
    assert (synced(allow_empty=True).removed, stored(empty_home)) == (2, {})


def test_a_dry_run_counts_documents_that_left_their_files(
    empty_home: Home, added: Add, synced: Add, docs: Path
) -> None:
    write(docs, {"a.jsonl": "".join(f'{{"id": "{id_}", "text": "Text {id_}."}}\n' for id_ in "123")})
    added(docs)
    write(docs, {"a.jsonl": '{"id": "1", "text": "Text 1."}\n{"id": "3", "text": "New."}'})
    (docs / "rust.md").rename(docs / "oxide.md")
    write(docs, {"rust.md": "Another."})
    dry = synced(dry_run=True)
    assert {*stored(empty_home)} == {*TEXTS, "1", "2", "3"}
    report = synced()
    counts = [(one.added, one.updated, one.unchanged, one.removed) for one in (dry, report)]
    assert counts == [(1, 2, 2, 1)] * 2
