from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from qa_bot.home import folder as module
from qa_bot.home.config import load_config
from qa_bot.home.folder import Home, HomeError, WriterBusyError


def test_a_home_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    home = Home.open(tmp_path / "deep" / "home")
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
    assert (home.config_file.name, home.index.name, home.models.name) == ("qa-bot.toml", "index", "models")
    assert Home.open(home.path) == home


def test_the_argument_goes_before_the_variable_and_that_before_the_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QA_BOT_HOME", str(tmp_path / "variable"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "platform"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Home.open(tmp_path / "argument").path == tmp_path / "argument"
    assert Home.open(Path("~/mine")).path == tmp_path / "mine"
    assert Home.open().path == tmp_path / "variable"
    monkeypatch.delenv("QA_BOT_HOME")
    assert Home.open().path.name == "qa-bot"
    assert tmp_path in Home.open().path.parents


def test_a_relative_home_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Home.open(Path("home")).path == tmp_path / "home"


def test_a_file_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(HomeError, match="a file in its place"):
            Home.open(path)


@pytest.mark.parametrize(
    ("number", "told"),
    [(errno.EACCES, "no rights to it"), (errno.EROFS, "the disk is read-only"), (errno.ENOSPC, "No space left")],
)
def test_a_folder_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, told: str
) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(HomeError, match=told):
        Home.open(tmp_path / "home")


def test_a_folder_without_rights_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:  # whom no mode stops
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    (tmp_path / "home").mkdir(mode=0o500)
    with pytest.raises(HomeError, match="no rights to it"):
        Home.open(tmp_path / "home")


def test_a_read_only_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(module, "_read_only", lambda path: True)
    with pytest.raises(HomeError, match="the disk is read-only"):
        Home.open(tmp_path)


def test_the_store_is_in_the_home_unless_named(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    assert home.store_url(load_config(tmp_path, environment={})) == f"sqlite:///{tmp_path}/store.sqlite"
    elsewhere = load_config(tmp_path, environment={}, flags={"store.url": "postgresql://h/x"})
    assert home.store_url(elsewhere) == "postgresql://h/x"


def test_a_second_writer_is_told_of_the_first(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    with home.lock("add"):
        with (
            pytest.raises(WriterBusyError, match=rf"add by process {os.getpid()} since \d\d:\d\d:\d\d"),
            home.lock("delete"),
        ):
            pass
        with pytest.raises(WriterBusyError, match="add by process"), home.lock("delete"):
            pass
    with home.lock("delete"):
        pass


def test_a_holder_that_has_not_signed_yet_is_told_too(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    with home.lock("add"):
        home.lock_file.write_text("")
        with pytest.raises(WriterBusyError, match="another process is at work"), home.lock("delete"):
            pass


def test_a_lock_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    home.lock_file.mkdir()
    with pytest.raises(HomeError, match=r"Expected to write to .*lock"), home.lock("add"):
        pass


def test_who_holds_the_lock_goes_on(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    with home.lock("import"):
        with home.lock(None):
            pass
        with pytest.raises(WriterBusyError, match="import by process"), home.lock("add"):
            pass
    with home.lock("add"):
        pass


def test_an_error_frees_the_lock(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    with pytest.raises(KeyboardInterrupt), home.lock("add"):
        raise KeyboardInterrupt
    with home.lock("add"):
        pass


def test_a_dead_holder_blocks_nobody(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    code = (
        "import sys; from pathlib import Path; from qa_bot.home.folder import Home\n"
        "with Home.open(Path(sys.argv[1])).lock('kg add'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(WriterBusyError, match=f"kg add by process {holder.pid} since"), home.lock("add"):
            pass
        holder.kill()
    with home.lock("add"):
        pass
