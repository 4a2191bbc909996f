"""Every command and code block of the README and the guides is run, page by page, in a folder with example files."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = Path(__file__).with_name("files")
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# ([\w-]+\.toml)\n")
"""Begins settings that the commands below read from a file of that name."""
SERVER, PORT = "qa-bot serve", "8080"
TYPED = "> "
"""Begins a line that a user types into the command above."""
TIMEOUT = 120

pytestmark = pytest.mark.slow


class Block(NamedTuple):
    language: str
    text: str


def blocks(page: str) -> list[Block]:
    return [Block(*match.groups()) for match in BLOCK.finditer((ROOT / page).read_text(encoding="utf-8"))]


class Command(NamedTuple):
    text: str
    typed: str
    """Lines for its standard input."""
    shown: list[str]
    """Lines of its output that the page shows."""


def commands(block: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        typed = "".join(f"{line.removeprefix(TYPED)}\n" for line in lines if line.startswith(TYPED))
        shown = [line.rstrip("… ") for line in lines if line.strip(" …") and not line.startswith(TYPED)]
        yield Command(command, typed, shown)


class Shell:
    """Runs commands in a folder, over a home in it; servers run in the background until the page ends."""

    def __init__(self, folder: Path, home: Path) -> None:
        self._folder, self._servers = folder, list[subprocess.Popen[bytes]]()
        scripts = Path(sys.executable).parent
        self._port = _free_port()
        self._environment = {
            **os.environ,
            "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "QA_BOT_HOME": str(home),
            "COLUMNS": "80",
        }

    def run(self, command: str, typed: str = "") -> str:
        """What the command writes."""
        if command.startswith("make "):
            return self._checked(f"{command} --dry-run --directory {ROOT}")
        if command.startswith(SERVER):
            return self._serve(command)
        return self._checked(command.replace(PORT, str(self._port)), typed)

    def save(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, encoding="utf-8")

    def python(self, code: str) -> None:
        script = self._folder / "example.py"
        script.write_text(code.replace(PORT, str(self._port)), encoding="utf-8")
        self._checked(f"{sys.executable} {script}")

    def close(self) -> None:
        for server in self._servers:
            server.terminate()
            server.wait(TIMEOUT)

    def _checked(self, command: str, text: str = "") -> str:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self._folder,
            env=self._environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def _serve(self, command: str) -> str:
        command = command.replace(PORT, str(self._port))
        command += "" if "--port" in command else f" --port {self._port}"
        server = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=self._folder, env=self._environment)
        self._servers.append(server)
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end and server.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    return ""
            time.sleep(0.1)
        raise AssertionError(f"{command} did not start")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def shell(tmp_path: Path, home: Path) -> Iterator[Shell]:
    folder = Path(shutil.copytree(FILES, tmp_path / "page"))
    opened = Shell(folder, home)
    yield opened
    opened.close()


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_the_examples_of_a_page_work(page: str, shell: Shell) -> None:
    for block in blocks(page):
        match block.language:
            case "console":
                for command in commands(block.text):
                    out = " ".join(shell.run(command.text, command.typed).split())
                    for line in command.shown:
                        assert " ".join(line.split()) in out, command.text
            case "python":
                shell.python(block.text)
            case "toml":
                tomllib.loads(block.text)
                if named := NAMED.match(block.text):
                    shell.save(named[1], block.text)
            case "yaml":
                yaml.safe_load(block.text)
            case "text":
                pass  # what a reader sees, such as a log
            case language:
                raise AssertionError(f"{page}: expected a known language, but got a block of {language}")


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150
