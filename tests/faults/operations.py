"""The operations that are interrupted: commands on the base home, and the states that they may leave."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from qa_bot.bot import Bot
from qa_bot.cli.app import run
from qa_bot.documents.sources.uploads import Upload, upload
from qa_bot.home.folder import Home, HomeError
from qa_bot.home.store import StoreError
from tests.faults.homes import QUESTION, VOTED, State, Workplace, extract_old_home, old_home_state, state_of

Act = Callable[[Workplace, Path], int]
"""Runs on a home, and returns an exit code."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An act, and the acts that do a part of it: a crash may leave what any of them leaves."""

    name: str
    act: Act
    parts: tuple[Act, ...] = ()
    begins_with: str = "base"
    """`base`, `old` for a home of version 0.1, `empty`, `changed` since it was backed up, or `restored`."""
    repeats: bool = False
    """Whether doing it again adds the same once more, as a second question does."""
    read: Callable[[Home], State] = state_of

    def home(self, workplace: Workplace) -> Path:
        return workplace.folder / self.begins_with


def command(*words: str, typed: str = "") -> Act:
    """A command line; the name of an input file is replaced by its path, and `typed` is its standard input."""

    def act(workplace: Workplace, home: Path) -> int:
        if typed:
            reading, writing = os.pipe()
            os.write(writing, typed.encode())
            os.close(writing)
            os.dup2(reading, 0)
            sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        names = {name: str(path) for name, path in workplace.files.items()}
        return run(["--home", str(home), *(names.get(word, word) for word in words)])

    return act


def vote(workplace: Workplace, home: Path) -> int:
    """A vote as the service records it; errors that it tells the client have exit code 1."""
    try:
        with Bot.open(home) as bot:
            bot.vote(VOTED, "down", "wrong")
    except (StoreError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def send(workplace: Workplace, home: Path) -> int:
    """An upload as the service stores it; errors that it tells the client have exit code 1."""
    try:
        with Bot.open(home) as bot:
            outcome = upload(bot.home, bot.config, bot.encoder, [Upload("sent.jsonl", workplace.files["more.jsonl"])])
    except (StoreError, HomeError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0 if outcome.report.accepted else 1


def opened_state(home: Home) -> State:
    """Of a home that is opened first, which finishes an exchange, as it does for every command."""
    return state_of(Home.open(home.path))


ASK = command("ask", QUESTION)
OPERATIONS = (
    Operation("add", command("add", "more.jsonl", "--collection", "more")),
    Operation("update", command("add", "rows.jsonl", "--sync")),
    Operation("upload", send),
    Operation("delete", command("delete", "--collection", "facts")),
    Operation("sync", command("sync")),
    Operation("kg add", command("kg", "add", "new.nt")),
    Operation("use", command("use", "starter-copy")),
    Operation("improve", command("improve")),
    Operation("import", command("import", "archive")),
    Operation("migrate", command("migrate"), begins_with="old", read=old_home_state),
    Operation("repair", command("repair")),
    Operation("config set", command("config", "set", "answer.limit", "500")),
    Operation("vote", vote, repeats=True),
    Operation(
        "chat",
        command("chat", typed=f"{QUESTION}\n/up good\n"),
        parts=(command("chat", typed=f"{QUESTION}\n"),),
        repeats=True,
    ),
    Operation("ask", ASK, repeats=True),
    Operation("restore", command("restore", "backups"), begins_with="changed", read=opened_state),
    Operation("undo", command("restore", "--undo"), begins_with="restored", repeats=True, read=opened_state),
    Operation("first fill", ASK, parts=(command("search", QUESTION),), begins_with="empty", repeats=True),
)


def prepare_homes(workplace: Workplace) -> None:
    """The homes that operations begin with."""
    workplace.build()
    extract_old_home(workplace.folder / "old")
    _prepare_restored(workplace)
    Home.open(workplace.folder / "empty")
    Path(workplace.folder / "empty" / "qa-bot.toml").write_text('[ranking]\neffort = "low"\n')


def _prepare_restored(workplace: Workplace) -> None:
    """A home that was changed after a backup of it, and one that was restored from that backup."""
    changed, restored = workplace.folder / "changed", workplace.folder / "restored"
    workplace.files["backups"] = workplace.folder / "input" / "backups"
    shutil.copytree(workplace.base, changed, symlinks=True)
    for words in (("backup", "backups"), ("delete", "--collection", "facts")):
        assert command(*words)(workplace, changed) == 0, words
    shutil.copytree(changed, restored, symlinks=True)
    assert command("restore", "backups")(workplace, restored) == 0
