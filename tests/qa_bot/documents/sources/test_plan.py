"""The comparison of a folder with its last synchronisation, on files in a temporary folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qa_bot.documents.ingest.files.digest import file_digest
from qa_bot.documents.ingest.files.walk import File, files
from qa_bot.documents.ingest.records import Reject
from qa_bot.documents.sources import plan as plans
from qa_bot.documents.sources.listing import Listing
from qa_bot.documents.sources.plan import REJECTED, WHOLE, SyncPlan, compare
from qa_bot.home.store import SourceFile

SETTINGS = "s1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    for name in ("a.md", "b.md", "sub/c.md"):
        (root / name).write_text(f"text of {name}")
    return root


def row(folder: Path, path: str, **changes: object) -> SourceFile:
    """The state of a file as it would be stored now."""
    status = (folder / path).stat()
    stored = SourceFile(
        path, path, status.st_size, status.st_mtime_ns, file_digest(str(folder / path)), SETTINGS, WHOLE, 1
    )
    return stored._replace(**changes)


def rows_of(folder: Path) -> dict[str, SourceFile]:
    paths = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    return {path: row(folder, path) for path in paths}


def compared(folder: Path, rows: dict[str, SourceFile], **options: object) -> SyncPlan:
    return compare(rows, Listing(folder), **{"settings": SETTINGS, **options})


def lists(plan: SyncPlan) -> tuple[list[str], list[str], list[tuple[str, str]], list[str], int]:
    return plan.new, plan.changed, plan.moved, plan.deleted, plan.unchanged


def test_everything_is_new_at_first(folder: Path) -> None:
    plan = compared(folder, {})
    assert lists(plan) == (["a.md", "b.md", "sub/c.md"], [], [], [], 0)
    assert [*plan.states] == ["a.md", "b.md", "sub/c.md"]


def test_unchanged_files_are_not_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(folder)
    monkeypatch.setattr(plans, "file_digest", lambda _: pytest.fail("size and time are the same"))
    plan = compared(folder, rows)
    assert lists(plan) == ([], [], [], [], 3)
    assert (plan.is_empty, plan.documents) == (True, 3)


def test_changed_moved_deleted_and_new_files(folder: Path) -> None:
    rows = rows_of(folder)
    (folder / "a.md").write_text("another text")
    (folder / "sub/c.md").rename(folder / "d.md")
    (folder / "b.md").unlink()
    (folder / "e.md").write_text("new")
    assert lists(compared(folder, rows)) == (["e.md"], ["a.md"], [("sub/c.md", "d.md")], ["b.md"], 0)


def test_a_new_time_alone_is_noted(folder: Path) -> None:
    rows = rows_of(folder)
    os.utime(folder / "a.md", ns=(1, 1))
    plan = compared(folder, rows)
    assert lists(plan) == ([], [], [], [], 3)
    assert [(touched.path, touched.mtime_ns) for touched in plan.touched] == [("a.md", 1)]


def test_a_change_of_the_same_size_is_noticed_by_time(folder: Path) -> None:
    rows = rows_of(folder)
    (folder / "a.md").write_text("text of A.md")
    os.utime(folder / "a.md", ns=(1, 1))
    assert compared(folder, rows).changed == ["a.md"]


@pytest.mark.parametrize("changes", [{"outcome": REJECTED}, {"settings": "s0"}])
def test_rejected_files_and_other_settings_are_read_again(folder: Path, changes: dict[str, str]) -> None:
    rows = rows_of(folder)
    rows["b.md"] = row(folder, "b.md", **changes)
    plan = compared(folder, rows)
    assert (plan.again, [*plan.states], lists(plan)) == (["b.md"], ["b.md"], ([], [], [], [], 2))


def test_two_moved_copies_have_one_origin_each(folder: Path) -> None:
    (folder / "b.md").write_text("text of a.md")
    rows = rows_of(folder)
    (folder / "a.md").rename(folder / "x.md")
    (folder / "b.md").rename(folder / "y.md")
    assert compared(folder, rows).moved == [("a.md", "x.md"), ("b.md", "y.md")]


@pytest.mark.parametrize("empty", [True, False], ids=["empty", "missing"])
def test_an_empty_or_missing_source_deletes_nothing(folder: Path, empty: bool) -> None:
    rows = rows_of(folder)
    gone = folder.parent / "gone"
    if empty:
        gone.mkdir()
    plan = compared(gone, rows)
    assert lists(plan) == ([], [], [], [], 0)
    assert "nothing was deleted" in plan.error
    assert compared(gone, rows, allow_empty=True).deleted == ["a.md", "b.md", "sub/c.md"]


def test_a_missing_source_without_documents_is_no_error(folder: Path) -> None:
    plan = compared(folder.parent / "gone", {})
    assert (plan.error, [problem.where for problem in plan.problems]) == ("", [str(folder.parent / "gone")])


def test_files_below_an_unreadable_folder_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(folder)
    reject = Reject(str(folder / "sub"), "no rights")
    readable = [file for file in files(folder) if isinstance(file, File) and file.name == "b.md"]
    monkeypatch.setattr("qa_bot.documents.sources.listing.files", lambda _: iter([*readable, reject]))
    plan = compared(folder, rows)
    assert (plan.deleted, plan.problems) == (["a.md"], [reject])


def test_a_scope_compares_only_what_is_below(folder: Path) -> None:
    rows = {"sub/c.md": row(folder, "sub/c.md"), "sub/gone.md": row(folder, "sub/c.md")._replace(path="sub/gone.md")}
    plan = compare(rows, Listing(folder, "sub"), settings=SETTINGS)
    assert lists(plan) == ([], [], [], ["sub/gone.md"], 1)
    one = compare({}, Listing(folder, "sub/c.md"), settings=SETTINGS)
    assert one.new == ["sub/c.md"]


def test_a_new_file_where_one_was_that_moved(folder: Path) -> None:
    rows = rows_of(folder)
    (folder / "a.md").rename(folder / "sub" / "moved.md")
    (folder / "a.md").write_text("something else")
    plan = compared(folder, rows)
    assert lists(plan) == (["a.md"], [], [("a.md", "sub/moved.md")], [], 2)
    assert (plan.gone, [*plan.states]) == ([], ["a.md", "sub/moved.md"])


def test_swapped_files_and_chains_are_moved(folder: Path) -> None:
    rows = rows_of(folder)
    (folder / "a.md").rename(folder / "other")
    (folder / "b.md").rename(folder / "a.md")
    (folder / "other").rename(folder / "b.md")
    assert lists(compared(folder, rows)) == ([], [], [("b.md", "a.md"), ("a.md", "b.md")], [], 1)
    (folder / "sub/c.md").rename(folder / "sub/d.md")
    (folder / "b.md").rename(folder / "sub/c.md")
    plan = compared(folder, rows)
    assert lists(plan) == ([], [], [("sub/c.md", "sub/d.md"), ("b.md", "a.md"), ("a.md", "sub/c.md")], [], 0)
    assert plan.gone == ["b.md"]


def test_a_copy_of_what_a_file_was_before_is_where_it_moved(folder: Path) -> None:
    rows = rows_of(folder)
    for name in ("a copy.md", "another copy.md"):
        (folder / name).write_text("text of a.md")
    (folder / "a.md").write_text("changed")
    assert lists(compared(folder, rows)) == (["a.md", "another copy.md"], [], [("a.md", "a copy.md")], [], 2)


@pytest.mark.parametrize("text", ["", "This share is not mounted."])
def test_a_source_with_other_files_only_deletes_nothing(folder: Path, text: str) -> None:
    rows = rows_of(folder)
    other = folder.parent / "other"
    other.mkdir()
    (other / "NOT_MOUNTED").write_text(text)
    plan = compared(other, rows)
    assert (lists(plan), plan.states) == (([], [], [], [], 0), {})
    assert "it has none of the files that it had before; nothing was deleted" in plan.error
    assert compared(other, rows, removing=False).new == ["NOT_MOUNTED"]
    assert compared(other, rows, allow_empty=True).deleted == ["a.md", "b.md", "sub/c.md"]
    only = {"a.md": rows["a.md"]}
    assert bool(compared(other, only).error) == (not text)
    assert compared(other, {"a.md": rows["a.md"]._replace(documents=0)}).deleted == ["a.md"]


def test_a_folder_that_is_a_file_now_deletes_nothing(folder: Path) -> None:
    rows = {"a.md": row(folder, "a.md")}
    file = folder.parent / "file"
    file.write_text("text")
    assert "it is a file now; nothing was deleted" in compared(file, rows, is_folder=True).error
    assert "it is a folder now; nothing was deleted" in compared(folder, rows, is_folder=False).error
    assert compared(file, rows, is_folder=True, allow_empty=True).deleted == ["a.md"]
