"""A sample of the points of `make faults`: after a failing disk, a kill or a loss of power a home is old or new, whole,
and the same command goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.disk import Mode, inodes_of, lose_power

ROOT = Path(__file__).parents[2]
SAMPLE = 3
"""Points of each operation, each with six kinds of faults; all of them take hours (`make faults`)."""


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "operations",
    [
        ("add", "update", "upload", "delete", "sync"),
        ("kg add", "use", "improve", "import", "repair"),
        ("migrate", "config set", "vote", "chat", "ask", "restore", "undo", "first fill"),
    ],
    ids=["documents", "generations", "turns and first use"],
)
def test_sampled_points_leave_a_whole_home(library: Path, operations: tuple[str, ...]) -> None:
    names = ",".join(operations)
    command = [sys.executable, "-m", "tests.faults.sweep", "--sample", str(SAMPLE), "--operations", names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=1400)
    assert done.returncode == 0, done.stdout + done.stderr


WRITER = """
import ctypes, os, sys
from pathlib import Path
home, record = Path(sys.argv[1]), Path(sys.argv[2])
at, mode = ctypes.c_long(int(sys.argv[3])), int(sys.argv[4])
ctypes.CDLL(None).faults_arm(str(home).encode(), str(record).encode(), at, mode, 5)
for name, is_synced in (("synced", True), ("unsynced", False)):
    with open(home / name, "w") as file:
        file.write("new")
        file.flush()
        if is_synced:
            os.fsync(file.fileno())
folder = os.open(home, os.O_RDONLY)
if sys.argv[5] == "folder":
    os.fsync(folder)
os.rename(home / "old", home / "renamed")
os.write(1, str(ctypes.CDLL(None).faults_counted()).encode())
"""


def written(library: Path, home: Path, *, at: int, mode: Mode, folder: str) -> tuple[int, str, Path]:
    """Exit code and output of a small writer on the disk, and the record of what it synced."""
    home.mkdir()
    (home / "old").write_text("old")
    record = home.with_name("record")
    record.mkdir()
    command = [sys.executable, "-c", WRITER, str(home), str(record), str(at), str(int(mode)), folder]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)
    return done.returncode, done.stdout + done.stderr, record


def test_the_disk_counts_fails_and_kills(library: Path, tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).mkdir()
    # two files are created and written, one is synced, one name is changed; syncing HOME itself is not below HOME
    assert written(library, tmp_path / "a" / "home", at=0, mode=Mode.COUNT, folder="")[:2] == (0, "6")
    code, output, _ = written(library, tmp_path / "b" / "home", at=3, mode=Mode.ONCE, folder="")
    assert code == 1
    assert "Input/output error" in output
    assert written(library, tmp_path / "c" / "home", at=3, mode=Mode.KILL, folder="")[0] == -9


@pytest.mark.parametrize(
    ("kind", "folder", "left"),
    [
        ("ordered", "", {"renamed": "old", "synced": "new", "unsynced": ""}),
        ("strict", "", {"old": "old"}),
        ("strict", "folder", {"old": "old", "synced": "new", "unsynced": ""}),
    ],
)
def test_a_loss_of_power_keeps_what_was_synced(library: Path, tmp_path: Path, kind, folder: str, left) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy"
    for path in (home, copy):
        path.mkdir()
        (path / "old").write_text("old")
    before = inodes_of(home, copy)
    record = tmp_path / "record"
    record.mkdir()
    command = [sys.executable, "-c", WRITER, str(home), str(record), "0", "0", folder]
    subprocess.run(command, capture_output=True, check=True, env={**os.environ, "LD_PRELOAD": str(library)}, timeout=60)
    lose_power(home, record, before, kind=kind, into=tmp_path / "after")
    assert {path.name: path.read_text() for path in (tmp_path / "after").iterdir()} == left
