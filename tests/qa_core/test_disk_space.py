"""Space on a disk, compared with the standard library."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from qa_core.disk_space import DiskSpace, disk_space, system_error


def test_size_and_free_share(tmp_path: Path) -> None:
    space = disk_space(tmp_path)
    assert space.size == shutil.disk_usage(tmp_path).total
    assert 0 <= space.free <= space.size
    assert space.percent == pytest.approx(100 * space.free / space.size)


def test_percent() -> None:
    assert DiskSpace(5, 200).percent == 2.5
    assert DiskSpace(0, 0).percent == 100.0, "some network file systems do not tell"


@pytest.mark.parametrize(
    ("free", "words"),
    [(0, "0 KB"), (102_400, "102 KB"), (51_200_000, "51 MB"), (999_999, "1 MB"), (1_900_000_000, "1.9 GB")],
)
def test_free_space_in_words(free: int, words: str) -> None:
    assert DiskSpace(free, 10**12).free_in_words == words


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        disk_space(tmp_path / "none")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "Expected to use the disk, but got: the disk is full; make"),
        (OSError(errno.EIO, "Input/output error", "/a/b"), "Expected to read or write /a/b, but got: the disk failed;"),
        (OSError(errno.ENOENT, "No such file", "/a"), "Expected to read or write /a, but got: No such file; check the"),
        (OSError("Expected one thing, but got another."), "Expected one thing, but got another."),
    ],
)
def test_an_error_of_the_system_says_what_to_do(error: OSError, message: str) -> None:
    assert system_error(error).startswith(message)
    assert "Errno" not in system_error(error)
