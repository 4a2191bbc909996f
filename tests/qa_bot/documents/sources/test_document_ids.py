"""Ids of documents from files: paths below their source, collisions, and former ids."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from qa_bot.documents.ingest.records import Record
from qa_bot.documents.sync import (
    add,
    add_records,
    delete,
    list_sources,
    remove_source,
)
from qa_bot.home.folder import Home
from qa_bot.home.store import Store
from qa_core.encoders.static_encoder import StaticEncoder
from tests.qa_bot.documents.sources.folders import CONFIG, TEXTS, Add, judged, names, stored, vote_on, write

FIXTURE = Path(__file__).parents[3] / "fixtures" / "home-0.1.zip"


def test_ids_are_paths_below_the_source(empty_home: Home, added: Add, docs: Path) -> None:
    added(docs)
    assert {*stored(empty_home)} == {*TEXTS}
    (info,) = list_sources(empty_home, CONFIG)
    assert (info.source.name, info.source.kind, info.source.place) == ("docs", "folder", str(docs))
    assert (info.files, info.documents, info.passages, info.source.error) == (2, 2, 2, "")
    assert info.source.synced is not None


def test_documents_know_the_path_of_their_file(empty_home: Home, added: Add, docs: Path) -> None:
    with zipfile.ZipFile(docs / "old.zip", "w") as archive:
        archive.writestr("attic/hat.md", "A hat of felt.")
    write(docs, {"facts.jsonl": '{"id": "f1", "title": "Boats", "text": "Boats float."}'})
    added(docs)
    with Store.open(empty_home.store_url(CONFIG)) as store:
        paths = {document.external_id: document.details.path for document in store.stream_documents()}
    assert paths == {
        "rust.md": "rust.md",
        "sub/tea.txt": "sub/tea.txt",
        "old.zip!attic/hat.md": "old.zip!attic/hat.md",
        "f1": "facts.jsonl",
    }


def test_one_folder_by_any_path_is_one_source(
    empty_home: Home, added: Add, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(docs)
    (tmp_path / "link").symlink_to(docs)
    monkeypatch.chdir(docs.parent)
    monkeypatch.setenv("HOME", str(docs.parent))
    for path in ("docs", "docs/", "../one/docs", tmp_path / "link", "~/docs"):
        report = added(Path(path)) if path != "~/docs" else added(Path("~/docs").expanduser())
        assert (report.unchanged, report.added, report.updated) == (2, 0, 0)
    assert names(empty_home) == ["docs"]


def test_two_folders_with_the_same_files_both_stay(empty_home: Home, added: Add, synced: Add, tmp_path: Path) -> None:
    one, two = (write(tmp_path / name / "docs", {"README.md": f"About {name}."}) for name in ("hr", "it"))
    added(one)
    added(two)
    expected = {"README.md": "About hr.", "it/docs/README.md": "About it."}
    assert stored(empty_home) == expected
    assert names(empty_home) == ["docs", "it/docs"]
    write(two, {"NEW.md": "Also new."})
    added(two)
    synced()
    assert stored(empty_home) == {**expected, "it/docs/NEW.md": "Also new."}


def test_two_folders_of_one_command_both_stay(empty_home: Home, added: Add, tmp_path: Path) -> None:
    paths = [write(tmp_path / name, {"README.md": f"About {name}."}) for name in ("hr", "it")]
    assert added(*paths).added == 2
    assert stored(empty_home) == {"README.md": "About hr.", "it/README.md": "About it."}


def test_a_file_that_collides_later_gets_the_name_of_its_source(
    empty_home: Home, added: Add, synced: Add, tmp_path: Path
) -> None:
    one, two = write(tmp_path / "hr", {"a.md": "A of hr."}), write(tmp_path / "it", {"b.md": "B of it."})
    added(one, two)
    write(two, {"a.md": "A of it."})
    for _ in range(2):
        synced()
        assert stored(empty_home) == {"a.md": "A of hr.", "b.md": "B of it.", "it/a.md": "A of it."}
    (one / "a.md").unlink()
    write(one, {"c.md": "C."})
    write(two, {"a.md": "Changed."})
    synced()
    assert stored(empty_home) == {"c.md": "C.", "b.md": "B of it.", "it/a.md": "Changed."}


def test_two_single_files_of_one_name(empty_home: Home, added: Add, tmp_path: Path) -> None:
    for name in ("hr", "it"):
        added(write(tmp_path / name, {"README.md": f"About {name}."}) / "README.md")
    assert stored(empty_home) == {"README.md": "About hr.", "it/README.md": "About it."}
    assert names(empty_home) == ["README.md", "it/README.md"]


def test_names_of_sources_are_printable(empty_home: Home, added: Add, tmp_path: Path) -> None:
    for name in ("hr", "i\nt"):
        added(write(tmp_path / name / "a\nb", {"README.md": f"About {name}."}))
    assert names(empty_home) == ["a\\nb", "i\\nt/a\\nb"]
    assert {*stored(empty_home)} == {"README.md", "i\\nt/a\\nb/README.md"}


def test_members_of_two_archives(empty_home: Home, added: Add, tmp_path: Path) -> None:
    for name in ("hr", "it"):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr("README.md", f"About {name}.")
        added(tmp_path / f"{name}.zip")
    assert stored(empty_home) == {"README.md": "About hr.", "it.zip/README.md": "About it."}


def test_a_file_in_an_added_folder_is_that_folders(empty_home: Home, added: Add, docs: Path) -> None:
    added(docs, collection="team")
    write(docs, {"sub/tea.txt": "Five minutes."})
    report = added(docs / "sub" / "tea.txt")
    assert (report.updated, names(empty_home)) == (1, ["docs"])
    assert stored(empty_home) == {**TEXTS, "sub/tea.txt": "Five minutes."}


def test_an_outer_folder_takes_over_and_ids_stay(empty_home: Home, added: Add, synced: Add, docs: Path) -> None:
    added(docs / "sub")
    added(docs / "rust.md")
    assert added(docs).added == 0
    assert ({*stored(empty_home)}, names(empty_home)) == ({"tea.txt", "rust.md"}, ["docs"])
    write(docs, {"sub/tea.txt": "Five minutes.", "sub/new.md": "New."})
    synced()
    assert stored(empty_home) == {
        "tea.txt": "Five minutes.",
        "rust.md": TEXTS["rust.md"],
        "sub/new.md": "New.",
    }


def test_files_of_one_path_that_both_change_keep_their_ids(
    empty_home: Home, added: Add, synced: Add, tmp_path: Path
) -> None:
    one, two = write(tmp_path / "a", {"x.txt": "Zinc."}), write(tmp_path / "b", {"y.txt": "Lead."})
    added(one, two)
    write(one, {"log.txt": "Iron."})
    synced()
    write(two, {"log.txt": "Tin."})
    synced()
    write(one, {"log.txt": "Iron again."})
    write(two, {"log.txt": "Tin again."})
    for _ in range(2):
        assert synced().rejected == 0
        assert stored(empty_home) == {
            "x.txt": "Zinc.",
            "y.txt": "Lead.",
            "log.txt": "Iron again.",
            "b/log.txt": "Tin again.",
        }


@pytest.mark.parametrize("dry_run", [False, True])
def test_new_files_of_one_path_in_one_sync_all_come_in(
    empty_home: Home, added: Add, synced: Add, tmp_path: Path, *, dry_run: bool
) -> None:
    one, two = write(tmp_path / "a", {"x.txt": "Zinc."}), write(tmp_path / "b", {"y.txt": "Lead."})
    added(one, two)
    write(one, {"log.txt": "Iron."})
    write(two, {"log.txt": "Tin."})
    if dry_run:
        report = added(one, two, dry_run=True)
        assert (report.added, report.rejected) == (2, 0)
        return
    assert synced().rejected == 0
    assert {"log.txt": "Iron.", "b/log.txt": "Tin."}.items() <= stored(empty_home).items()


def test_members_of_two_archives_of_one_command(empty_home: Home, added: Add, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.zip" for name in ("hr", "it")]
    for text in ("About", "More about"):
        for path in paths:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("README.md", f"{text} {path.stem}.")
        assert added(*paths).rejected == 0
        assert stored(empty_home) == {"README.md": f"{text} hr.", "it.zip/README.md": f"{text} it."}


def test_an_outer_folder_with_files_of_the_same_name(empty_home: Home, added: Add, synced: Add, tmp_path: Path) -> None:
    outer = write(tmp_path / "p", {"README.md": "Outer.", "docs/README.md": "Inner.", "docs/late.md": "Inner late."})
    added(outer / "docs")
    assert added(outer).rejected == 0
    expected = {"README.md": "Inner.", "late.md": "Inner late.", "p/README.md": "Outer."}
    assert stored(empty_home) == expected
    write(outer, {"late.md": "Late.", "docs/late.md": "Inner later."})
    for _ in range(2):
        assert synced().rejected == 0
        assert stored(empty_home) == {**expected, "late.md": "Inner later.", "p/late.md": "Late."}


def test_a_file_of_an_outer_folder_that_collides_later(
    empty_home: Home, added: Add, synced: Add, tmp_path: Path
) -> None:
    outer = write(tmp_path / "p", {"a.md": "Outer.", "docs/README.md": "Inner."})
    added(outer / "docs")
    added(outer)
    write(outer, {"README.md": "Outer late.", "docs/README.md": "Inner again."})
    for _ in range(2):
        assert synced().rejected == 0
        assert stored(empty_home) == {"a.md": "Outer.", "README.md": "Inner again.", "p/README.md": "Outer late."}


def test_a_file_that_moves_to_the_path_of_its_id_keeps_it(
    empty_home: Home, added: Add, synced: Add, tmp_path: Path
) -> None:
    outer = write(tmp_path / "p", {"a.md": "Outer.", "docs/README.md": "Inner."})
    added(outer / "docs")
    added(outer)
    (outer / "docs" / "README.md").rename(outer / "README.md")
    synced()
    assert stored(empty_home) == {"a.md": "Outer.", "README.md": "Inner."}


def test_a_later_source_replaces_records_of_data_until_it_is_removed(
    empty_home: Home, encoder: StaticEncoder, added: Add, synced: Add, tmp_path: Path
) -> None:
    one, two = (write(tmp_path / name, {f"{name}.jsonl": f'{{"id": "1", "text": "{name}"}}'}) for name in "ab")
    added(one)
    assert added(two).updated == 1
    for _ in range(2):
        synced()
        assert stored(empty_home) == {"1": "b"}
    remove_source(empty_home, CONFIG, encoder, "b")
    synced()
    assert stored(empty_home) == {"1": "a"}


@pytest.mark.parametrize("is_one_command", [True, False])
def test_a_record_of_data_does_not_replace_a_file_of_another_source(
    empty_home: Home, encoder: StaticEncoder, added: Add, synced: Add, tmp_path: Path, *, is_one_command: bool
) -> None:
    folder = write(tmp_path / "p", {"a.md": "Bees dance."})
    lines = "".join(f'{{"id": "{id_}", "text": "Ants march {id_}."}}\n' for id_ in ("a.md", "2"))
    data = write(tmp_path, {"one.jsonl": lines}) / "one.jsonl"
    for paths in [[folder, data]] if is_one_command else [[folder], [data]]:
        assert added(*paths).rejected == 0
    expected = {"a.md": "Bees dance.", "one.jsonl/a.md": "Ants march a.md.", "2": "Ants march 2."}
    for _ in range(2):
        assert stored(empty_home) == expected
        data.write_text(f"{lines}\n")
        assert synced().rejected == 0
    remove_source(empty_home, CONFIG, encoder, "p")
    synced()
    assert {*stored(empty_home)} == {"one.jsonl/a.md", "2"}


def test_an_id_that_comes_twice_in_a_source_is_rejected_with_the_first_place(
    empty_home: Home, added: Add, docs: Path
) -> None:
    write(docs, {"a.jsonl": '{"id": "1", "text": "a"}'})
    added(docs)
    write(docs, {"b.jsonl": '{"id": "1", "text": "b"}\n{"id": "2", "text": "b2"}\n{"id": "2", "text": "b3"}'})
    report = added(docs / "b.jsonl")
    a, b = f"{docs / 'a.jsonl'}:1", f"{docs / 'b.jsonl'}:2"
    assert [reject.reason for reject in report.examples] == [
        f"Expected ids that differ, but got {id_!r} again; the first one, of {first}, is kept. Rename this one."
        for id_, first in (("1", a), ("2", b))
    ]
    assert {"1": "a", "2": "b2"}.items() <= stored(empty_home).items()


def test_a_home_of_0_1_gets_one_document_a_file(tmp_path: Path, encoder: StaticEncoder) -> None:
    with zipfile.ZipFile(FIXTURE) as archive:
        archive.extractall(tmp_path / "home")
    home, section = Home.open(tmp_path / "home"), "bicycles.md#mending-a-flat-tyre"
    vote_on(home, section, "workshop")
    notes = write(tmp_path / "notes", {"bicycles.md": "# Bicycle corner\n\n## Brakes\n\nTwo millimetres.\n"})
    report = add(home, CONFIG, encoder, [notes], collection="workshop")
    assert (report.added, report.removed) == (1, 2)
    assert [id_ for id_ in stored(home) if "bicycles" in id_] == ["bicycles.md"]
    assert judged(home, tmp_path / "votes.qrels.tsv").count("bicycles.md") == 1
    assert add(home, CONFIG, encoder, [notes]).unchanged == 1
    assert delete(home, CONFIG, encoder, ids=[section]) == (1, [])


def test_documents_without_a_source_are_taken_up(
    empty_home: Home, encoder: StaticEncoder, added: Add, docs: Path
) -> None:
    record = Record("rust.md", "rust", "Sand it.", where="/nowhere/docs/rust.md:1")
    add_records(empty_home, CONFIG, encoder, [record], collection="default")
    assert added(docs).updated == 1
    assert stored(empty_home) == TEXTS


def test_documents_of_another_file_that_exists_stay(
    empty_home: Home, encoder: StaticEncoder, added: Add, docs: Path, tmp_path: Path
) -> None:
    other = write(tmp_path / "other", {"rust.md": "Sand it."}) / "rust.md"
    add_records(
        empty_home, CONFIG, encoder, [Record("rust.md", "", "Sand it.", where=f"{other}:1")], collection="default"
    )
    added(docs)
    assert stored(empty_home) == {
        "rust.md": "Sand it.",
        "docs/rust.md": TEXTS["rust.md"],
        "sub/tea.txt": TEXTS["sub/tea.txt"],
    }
