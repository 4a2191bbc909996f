"""The entry point: what the process is before any command runs."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")


def open_to_others(folder: Path) -> list[str]:
    """Files and folders with rights for group or others."""
    paths = (folder, *folder.rglob("*"))
    return [str(path) for path in paths if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o077]


@pytest.mark.slow
def test_all_that_commands_write_is_private_whatever_the_umask(tmp_path: Path) -> None:
    home, documents = tmp_path / "home", tmp_path / "documents.jsonl"
    documents.write_text(json.dumps({"_id": "a", "title": "Cats", "text": "Cats sleep all day."}) + "\n")
    for arguments in (
        ["add", str(documents), "--no-improve"],
        ["ask", "Why do cats sleep all day?"],
        ["config", "set", "answer.limit", "500"],
        ["config", "new-token"],
        ["status"],
        ["export", str(home / "out.zip")],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "qa_bot", "--home", str(home), *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            umask=0o000,
            check=False,
        )
        assert done.returncode in (0, 3), done.stderr
        assert open_to_others(home) == [], arguments


def test_garbage_is_searched_rarely_at_the_start_and_not_at_the_end() -> None:
    code = """
import gc, sys
from qa_bot.__main__ import NEW_OBJECTS, main
sys.argv = ["qa-bot", "--version"]
try:
    main()
except SystemExit as end:
    print(end.code, gc.get_threshold()[0] == NEW_OBJECTS, gc.get_freeze_count() > 1000)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[1:] == ["0 True True"], done.stderr


@pytest.mark.parametrize(
    ("arguments", "encoding", "stdin"),
    [
        (["chat", "--json"], "utf-8", b"\xff\xfe cats\nWhy do cats sleep all day?\n"),
        (["ask", "Warum heißt die Katze Ɓélla → so?"], "ascii", b""),
        (["search", "Ɓélla"], "latin-1", b""),
    ],
)
def test_what_an_encoding_lacks_is_replaced(home, arguments, encoding, stdin) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "qa_bot", "--home", str(home), *arguments],
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert done.returncode in (0, 3), done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"), [(["chat"], 0), (["ask", "-"], 3), (["config", "set", "serve.token", "-"], 2)]
)
def test_a_closed_input_is_empty(home, arguments, code) -> None:
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), *arguments]
    close = "import os, subprocess, sys; os.close(0); sys.exit(subprocess.call(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", close, *command], capture_output=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
