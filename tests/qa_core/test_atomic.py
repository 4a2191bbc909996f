"""Files and folders are replaced as a whole or not at all."""

from __future__ import annotations

import stat
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from qa_core.atomic import atomic_file, atomic_folder, atomic_path, current_folder, rename_folder


def entries(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "new") as file:
        file.write(b"whole")
        assert not (tmp_path / "new").exists()
    assert entries(tmp_path) == {"new": "whole"}


@pytest.mark.parametrize(("private", "mode"), [(True, 0o600), (False, 0o644)])
def test_only_the_owner_may_read_a_private_file(tmp_path: Path, private: bool, mode: int) -> None:
    with atomic_file(tmp_path / "new", private=private):
        assert all(stat.S_IMODE(path.stat().st_mode) & ~0o022 == mode for path in tmp_path.iterdir())
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) & ~0o022 == mode


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("atomic", [atomic_file, atomic_path])
def test_an_error_leaves_the_old_file(
    tmp_path: Path, error: type[BaseException], atomic: Callable[[Path], AbstractContextManager[Any]]
) -> None:
    (tmp_path / "old").write_text("old")
    with pytest.raises(error), atomic(tmp_path / "old"):
        raise error
    assert entries(tmp_path) == {"old": "old"}


def test_a_writer_may_take_a_path(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    with atomic_path(tmp_path / "old") as partial:
        partial.write_text("new")
    assert entries(tmp_path) == {"old": "new"}


def test_an_existing_file_is_replaced_only_if_allowed(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_text("old")
    message = r"which exists; name another, or add --force"
    with pytest.raises(FileExistsError, match=message), atomic_file(path, overwrite=False):
        pass
    with atomic_file(path) as file:
        file.write(b"new")
    assert entries(tmp_path) == {"old": "new"}


def test_a_file_that_appears_during_the_write_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError), atomic_file(tmp_path / "late", overwrite=False):
        (tmp_path / "late").write_text("theirs")
    assert entries(tmp_path) == {"late": "theirs"}


def test_a_file_needs_a_folder_and_a_free_name(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError, match="is not a file"), atomic_file(tmp_path):
        pass
    with pytest.raises(FileNotFoundError, match="Expected a folder for x, but"), atomic_file(tmp_path / "no" / "x"):
        pass


def test_a_folder_carries_over_the_files_that_it_does_not_replace(tmp_path: Path) -> None:
    for content in ("old", "new"):
        with atomic_folder(tmp_path / "model", ("a", "b")) as new:
            (new / "a").write_text(content)
        if content == "old":
            (tmp_path / "model" / "b").write_text("old")
            (tmp_path / "model" / "runs").mkdir()
            (tmp_path / "model" / "runs" / "a").write_text("theirs")
    assert entries(tmp_path) == {"model/a": "new", "model/runs/a": "theirs"}


def test_a_folder_is_replaced_whole_without_names(tmp_path: Path) -> None:
    for name in ("old", "new"):
        with atomic_folder(tmp_path / "index") as new:
            (new / name).write_text(name)
    assert entries(tmp_path) == {"index/new": "new"}


def test_an_error_leaves_the_old_folder(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "a").write_text("old")
    with pytest.raises(OSError, match="disk full"), atomic_folder(tmp_path / "index") as new:  # noqa: PT012
        (new / "a").write_text("new")
        raise OSError("disk full")
    assert entries(tmp_path) == {"index/a": "old"}


def test_the_old_folder_survives_a_crash_between_the_renames(tmp_path: Path) -> None:
    (tmp_path / ".index.old").mkdir()
    (tmp_path / ".index.old" / "kept").write_text("old")
    (tmp_path / ".index.new").mkdir()
    (tmp_path / ".index.new" / "part").write_text("half")
    assert current_folder(tmp_path / "index") == tmp_path / ".index.old"
    with atomic_folder(tmp_path / "index", ("a",)) as new:
        (new / "a").write_text("new")
    assert current_folder(tmp_path / "index") == tmp_path / "index"
    assert entries(tmp_path) == {"index/a": "new", "index/kept": "old"}


def test_a_folder_of_another_program_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("years of work")
    message = r"without README\.md, or one with a beside"
    with pytest.raises(ValueError, match=message), atomic_folder(tmp_path, ("a", "README.md")):
        pass
    with pytest.raises(ValueError, match="but got the file"), atomic_folder(tmp_path / "README.md"):
        pass
    assert entries(tmp_path) == {"README.md": "years of work"}


def test_a_filled_folder_gets_its_name(tmp_path: Path) -> None:
    (tmp_path / "part" / "inner").mkdir(parents=True)
    (tmp_path / "part" / "inner" / "a").write_text("a")
    rename_folder(tmp_path / "part", tmp_path / "final")
    assert entries(tmp_path) == {"final/inner/a": "a"}
