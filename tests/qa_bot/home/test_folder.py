"""The folder of a home: its path, its rights, and the lock of the writer."""

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


def test_new_home_is_private_to_its_owner(tmp_path: Path) -> None:
    home = Home.open(tmp_path / "deep" / "home")
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
    assert (home.config_file.name, home.index.name, home.models.name) == ("qa-bot.toml", "index", "models")
    assert Home.open(home.path) == home


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701, 0o777])
def test_a_home_that_others_could_enter_becomes_private_and_says_so(tmp_path: Path, caplog, mode: int) -> None:
    path = tmp_path / "home"
    (path / "index" / "1").mkdir(parents=True)
    held = [path / "store.sqlite", path / "turns.jsonl", path / "qa-bot.toml", path / "index" / "1" / "manifest.json"]
    for file in (*held, path / "notes.txt", tmp_path / "outside"):
        file.write_text("x")
        file.chmod(0o644)
    (path / "index" / "link").symlink_to(tmp_path / "outside")
    path.chmod(mode)
    Home.open(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in held] == [0o600] * 4
    assert stat.S_IMODE((path / "notes.txt").stat().st_mode) == 0o644, "not one of ours, and nobody else gets there"
    assert stat.S_IMODE((tmp_path / "outside").stat().st_mode) == 0o644
    assert f"{path} (mode {mode:04o}); it is private now (0700)" in caplog.text
    caplog.clear()
    Home.open(path)
    assert caplog.text == ""


@pytest.mark.parametrize("kind", ["sticky", "the user's", "above the user's"])
def test_a_folder_that_is_more_than_a_home_stays_open(tmp_path: Path, monkeypatch, caplog, kind: str) -> None:
    mode = 0o1777 if kind == "sticky" else 0o755
    path = tmp_path / "folder"
    path.mkdir()
    path.chmod(mode)
    if kind != "sticky":
        monkeypatch.setenv("HOME", str(path if kind == "the user's" else path / "someone"))
    Home.open(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert "name another with --home" in caplog.text


def test_rights_that_cannot_be_changed_are_reported(tmp_path: Path, monkeypatch, caplog) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError(errno.EPERM, "not yours")

    tmp_path.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", refuse)
    Home.open(tmp_path)
    assert "mode 0755, and it cannot be changed" in caplog.text


def test_order_is_argument_variable_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QA_BOT_HOME", str(tmp_path / "variable"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "platform"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Home.open(tmp_path / "argument").path == tmp_path / "argument"
    assert Home.open(Path("~/mine")).path == tmp_path / "mine"
    assert Home.open().path == tmp_path / "variable"
    monkeypatch.delenv("QA_BOT_HOME")
    assert Home.open().path.name == "qa-bot"
    assert tmp_path in Home.open().path.parents


def test_relative_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Home.open(Path("home")).path == tmp_path / "home"


def test_file_instead_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(HomeError, match="a file in its place"):
            Home.open(path)


@pytest.mark.parametrize(
    ("number", "reason"),
    [(errno.EACCES, "no rights to it"), (errno.EROFS, "the disk is read-only"), (errno.ENOSPC, "No space left")],
)
def test_errors_of_creation_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(HomeError, match=reason):
        Home.open(tmp_path / "home")


def test_folder_without_rights_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:  # root ignores file modes
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    (tmp_path / "home").mkdir(mode=0o500)
    with pytest.raises(HomeError, match="no rights to it"):
        Home.open(tmp_path / "home")


def test_read_only_disk_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(module, "_read_only", lambda path: True)
    with pytest.raises(HomeError, match="the disk is read-only"):
        Home.open(tmp_path)


def test_store_is_in_the_home_by_default(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    assert home.store_url(load_config(tmp_path, environment={})) == f"sqlite:///{tmp_path}/store.sqlite"
    elsewhere = load_config(tmp_path, environment={}, flags={"store.url": "postgresql://h/x"})
    assert home.store_url(elsewhere) == "postgresql://h/x"


def assert_busy(home: Home, match: str) -> None:
    with pytest.raises(WriterBusyError, match=match), home.lock("delete"):
        pass


def assert_free(home: Home) -> None:
    with home.lock("delete"):
        pass


def test_second_writer_is_refused_and_names_the_first(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    with home.lock("add"):
        for _ in range(2):
            assert_busy(home, rf"add by process {os.getpid()} since \d\d:\d\d:\d\d")
    assert_free(home)


def test_lock_without_a_name_is_reported(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    with home.lock("add"):
        home.lock_file.write_text("")
        assert_busy(home, "another process is at work")


def test_lock_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    home.lock_file.mkdir()
    with pytest.raises(HomeError, match=r"Expected to write to .*lock"), home.lock("add"):
        pass


def test_nested_lock_of_the_same_writer(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    with home.lock("import"):
        with home.lock(None):
            pass
        assert_busy(home, "import by process")
    assert_free(home)


def test_an_error_frees_the_lock(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    with pytest.raises(KeyboardInterrupt), home.lock("add"):
        raise KeyboardInterrupt
    assert_free(home)


def test_lock_of_a_dead_process_is_free(tmp_path: Path) -> None:
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
        assert_busy(home, f"kg add by process {holder.pid} since")
        holder.kill()
    assert_free(home)
