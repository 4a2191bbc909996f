"""A home on a disk that is full, and on one that stalls: commands say so, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from qa_bot.cli.app import run
from qa_bot.documents import sync
from qa_bot.home import encoders
from qa_bot.home.config import load_config, set_value
from qa_bot.home.folder import Home
from qa_bot.home.journal import open_store
from tests.faults.disk import Mode
from tests.faults.homes import QUESTION, ROWS

MB = 1_000_000
STARTED = 60.0
"""Seconds after which a command that has not stalled has failed."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", f"size={24 * MB}", "tmpfs", place]
    done = subprocess.run(command, capture_output=True, text=True, check=False) if mount else None
    if done is None or done.returncode:
        reason = done.stderr.strip() if done else "there is no `mount`"
        pytest.skip(f"Expected the right to mount a small disk, but got: {reason}; run as root.")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def filled(home_path: Path, rows: Path) -> Home:
    """A home with four documents."""
    home = Home.open(home_path)
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    for name, value in (("ranking.effort", "low"), ("dense.improve", "false")):
        set_value(home.path, name, value)
    config = load_config(home.path)
    sync.add(home, config, encoders.resolve(encoders.STARTER, models=home.models), [rows], collection="facts")
    return home


def documents(home: Home) -> list[str]:
    with open_store(home, load_config(home.path)) as store:
        return sorted(
            row.external_id for info in store.collections() for row in store.stream_documents(collection=info.name)
        )


def turns(home: Home) -> list[str]:
    with open_store(home, load_config(home.path)) as store:
        return [turn.question for turn, _ in store.stream_turns()]


def more_rows(path: Path) -> Path:
    rows = [{"_id": f"more-{i}", "title": f"Number {i}", "text": f"Number {i} of many. " * 40} for i in range(300)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def fill_up(disk: Path, *, free: int) -> None:
    """Leave so many bytes, rounded up to pages."""
    with (disk / "filler").open("wb") as file:
        while (left := shutil.disk_usage(disk).free - free) > 0:
            file.write(b"\0" * min(left, MB))
            file.flush()


@pytest.mark.parametrize("free", [0, 4096, 300_000, 2 * MB])
def test_a_home_on_a_full_disk_answers_and_loses_nothing(
    small_disk: Path, tmp_path: Path, capsys, caplog, monkeypatch, free: int
) -> None:
    home = filled(small_disk / "home", tmp_path / "rows.jsonl")
    before, more = documents(home), more_rows(tmp_path / "more.jsonl")
    monkeypatch.setattr("qa_bot.home.doctor.LOW_DISK", MB)
    fill_up(small_disk, free=free)

    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["--home", str(home.path), *words])
        return code, *capsys.readouterr()

    code, out, _ = call("ask", QUESTION)
    assert (code, "two to three minutes" in out) == (0, True)
    was_recorded = "could not be recorded" not in caplog.text
    assert was_recorded == (free > 4096)
    code, out, err = call("add", str(more), "--collection", "more")
    assert code == 1
    assert "full" in err or "No space left" in err or "room" in err, err
    assert "Traceback" not in err
    assert err.count("\n") <= 3, "one line for people"

    (small_disk / "filler").unlink()
    assert documents(home) == before
    code, out, _ = call("doctor")
    assert code == 0, out
    assert turns(home) == [QUESTION] * was_recorded
    assert call("add", str(more), "--collection", "more")[0] == 0
    assert len(documents(home)) == len(before) + 300


def test_less_room_than_disk_refuse_is_named_at_once(small_disk: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    home = filled(small_disk / "home", tmp_path / "rows.jsonl")
    monkeypatch.setenv("QA_BOT_DISK__REFUSE", "50")
    fill_up(small_disk, free=6 * MB)
    assert run(["--home", str(home.path), "add", str(more_rows(tmp_path / "more.jsonl"))]) == 1
    assert "Expected at least 50 % of the disk free before anything is added, but got 24.8 %" in capsys.readouterr().err


WRITER = """
import ctypes, os, sys
from qa_bot.cli.app import run
library = ctypes.CDLL(None)
library.faults_arm(sys.argv[1].encode(), None, ctypes.c_long(int(sys.argv[2])), int(sys.argv[3]), 0)
code = run(["--home", sys.argv[1], *sys.argv[4:]])
library.faults_disarm()
library.faults_counted.restype = ctypes.c_long
os.write(1, str(library.faults_counted()).encode())
sys.exit(code)
"""


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.97])
def test_while_a_disk_stalls_questions_are_answered_and_other_writers_are_told(
    library: Path, tmp_path: Path, capsys, share: float
) -> None:
    more = more_rows(tmp_path / "more.jsonl")
    environment = {**os.environ, "LD_PRELOAD": str(library)}

    def writer(home: Home, at: int, mode: Mode) -> subprocess.Popen[str]:
        words = ("add", str(more), "--collection", "more")
        command = [sys.executable, "-c", WRITER, str(home.path), str(at), str(int(mode)), *words]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    home = filled(tmp_path / "home", tmp_path / "rows.jsonl")
    copy = Home(Path(shutil.copytree(home.path, tmp_path / "copy")))
    counted, _ = writer(copy, 0, Mode.COUNT).communicate()
    before, gate = documents(home), tmp_path / "home.stalled"
    stalled = writer(home, int(share * int(counted.splitlines()[-1])), Mode.STALL)
    try:
        end = time.monotonic() + STARTED
        while not gate.exists():
            assert stalled.poll() is None, "it ended before the chosen point"
            assert time.monotonic() < end
            time.sleep(0.01)
        assert run(["--home", str(home.path), "ask", QUESTION]) == 0
        assert "two to three minutes" in capsys.readouterr().out
        assert run(["--home", str(home.path), "delete", "--collection", "facts"]) == 1
        assert f"Expected to be the only writer, but add by process {stalled.pid}" in capsys.readouterr().err
        gate.unlink()
        stalled.communicate(timeout=STARTED)
    finally:
        gate.unlink(missing_ok=True)
        stalled.kill()
        stalled.wait()
    assert stalled.returncode == 0
    assert len(documents(home)) == len(before) + 300
    assert turns(home) == [QUESTION]
