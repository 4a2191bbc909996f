"""Files that are replaced as a whole."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from qa_bot.home.atomic import replacing


def test_the_file_is_there_when_it_is_whole_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new"
    with replacing(path) as file:
        file.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_error_leaves_the_old_file(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")

    def write() -> None:
        with replacing(path, force=True) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_there_is_kept_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    with pytest.raises(FileExistsError, match=r"which exists; name another, or add --force"), replacing(path):
        pass
    with replacing(path, force=True) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"


def test_one_that_came_in_between_is_kept_too(tmp_path: Path) -> None:
    path = tmp_path / "late"
    with pytest.raises(FileExistsError), replacing(path):
        path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [path]


def test_no_place_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError, match="which is none"), replacing(tmp_path, force=True):
        pass
    with pytest.raises(FileNotFoundError, match="Expected a folder for x, but got"), replacing(tmp_path / "no" / "x"):
        pass
