"""Writers that are killed, and several processes at one home."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.documents.sync import add, repair
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.store import Store
from tests.qa_bot.documents.stored import (
    BREAD,
    CONFIG,
    ROWS,
    counts,
    generation_number,
    scores,
    stored_documents,
)

KILLED = """
import itertools, os, shutil, signal, sys
from pathlib import Path
from sqlalchemy import Engine, event
from qa_bot.documents.sync import add, delete
from qa_bot.home.config import Config
from qa_bot.home.starter import ENCODER
from qa_bot.home.folder import Home
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.text.analysis import ANALYSER_VERSION

base, source, top, steps = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), set(map(int, sys.argv[4:]))
encoder = StaticEncoder.load(ENCODER)
passed = itertools.count(1)

def passing(step):
    if next(passed) == step:
        os.kill(os.getpid(), signal.SIGKILL)

def killing(step):
    def wrap(original):
        def call(*args, **kwargs):
            passing(step)
            return original(*args, **kwargs)
        return call
    for name in ("fsync", "link", "rename", "replace", "mkdir", "unlink", "rmdir", "ftruncate"):
        setattr(os, name, wrap(getattr(os, name)))
    event.listen(Engine, "begin", lambda connection: passing(step))
    event.listen(Engine, "commit", lambda connection: passing(step))

def work(root):
    add(Home.open(root), Config(), encoder, [source], collection="facts")

for step in sorted(steps) or [0]:
    root = top / str(step)
    shutil.copytree(base, root)
    if not (child := os.fork()):
        killing(step)
        work(root)
        print(next(passed) - 1, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def kill_at(base: Home, source: Path, top: Path, steps: list[int]) -> str:
    top.mkdir()
    command = [sys.executable, "-c", KILLED, *map(str, (base.path, source, top, *steps))]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_killed_add_can_be_repeated_after_any_step(four, encoder, changed, tmp_path) -> None:
    total = int(kill_at(four, changed, tmp_path / "whole", []))
    assert total > 40
    whole = Home.open(tmp_path / "whole" / "0")
    expected, expected_scores = stored_documents(whole), scores(whole, encoder)
    chosen = [*sorted(random.Random(0).sample(range(1, total - 8), 8)), total - 6, total - 3, total - 1]
    kill_at(four, changed, tmp_path / "killed", chosen)
    numbers = []
    for step in chosen:
        home = Home.open(tmp_path / "killed" / str(step))
        numbers.append(generation_number(home))
        assert Generations(home.index).verify(deep=True) == []
        again = counts(add(home, CONFIG, encoder, [changed], collection="facts"))
        assert again == ((2, 2, 2, 0) if numbers[-1] == 1 else (0, 0, 6, 0)), step
        assert stored_documents(home) == expected, step
        assert scores(home, encoder) == expected_scores
        assert [path.name for path in home.index.iterdir() if path.suffix] == []
    assert numbers == sorted(numbers)
    assert set(numbers) == {1, 2}, "the old generation up to a step, then the new one"


def test_a_commit_that_dies_changes_nothing(four, encoder, changed, monkeypatch) -> None:
    def dying(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "finish", dying)
    with pytest.raises(KeyboardInterrupt):
        add(four, CONFIG, encoder, [changed], collection="facts")
    monkeypatch.undo()
    assert sorted(path.name for path in four.index.iterdir()) == ["00000001", "CURRENT"]
    assert (four.index / "CURRENT").read_text() == "00000001\n"
    (four.index / "CURRENT").write_text("garbage")
    assert repair(four, CONFIG, encoder) == 4
    assert stored_documents(four)["moon"] == (ROWS[0]["text"], "facts")


@contextmanager
def adding_slowly(home: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is in the middle of a long `add`."""
    path = folder / "long.jsonl"
    path.write_text("".join(f'{{"_id": "{i}", "text": "Zorgon number {i} is one of many."}}\n' for i in range(100_000)))
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "add", str(path), "--collection", "long"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            while process.poll() is None and not list((home / "index").glob("*.partial/keyword/meta.json")):
                time.sleep(0.02)
            yield process
        finally:
            process.kill()


@pytest.mark.slow
def test_long_add_does_not_block_readers_and_can_be_interrupted(home, qa_bot, tmp_path) -> None:
    with Bot.open(home) as bot, adding_slowly(home, tmp_path) as process:
        assert bot.ask("Why do cats sleep all day?").sources[0].document == "animals-cats-sleep"
        refused = qa_bot("delete", "animals-cats-sleep")
        assert refused.code == 1
        assert f"add by process {process.pid} since" in refused.err
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "Interrupted; the home is whole, and holds what was finished before.\n"
    assert [collection["name"] for collection in qa_bot("status", "--json").json["collections"]] == ["starter"]
    assert qa_bot("search", "zorgon", "--engine", "keyword").code == 3
    assert qa_bot("doctor").code == 0


@pytest.mark.slow
def test_next_add_cleans_up_after_a_killed_one(home, qa_bot, tmp_path, write_lines) -> None:
    with adding_slowly(home, tmp_path) as process:
        process.kill()
    assert qa_bot("search", "zorgon", "--engine", "keyword").code == 3
    assert qa_bot("doctor").code == 0
    assert qa_bot("add", write_lines("b.jsonl", BREAD)).code == 0
    status = qa_bot("status", "--json").json
    assert [collection["name"] for collection in status["collections"]] == ["default", "starter"]
    assert sorted(path.name for path in (home / "index").iterdir()) == ["00000001", "00000002", "CURRENT"]


@pytest.mark.slow
def test_two_processes_at_first_use(tmp_path) -> None:
    command = [sys.executable, "-m", "qa_bot", "--home", str(tmp_path / "new"), "search", "cats", "--json"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    assert generation_number(Home.open(tmp_path / "new")) == 1


def test_a_removed_starter_collection_stays_away(home, qa_bot) -> None:
    assert qa_bot("delete", "--collection", "starter").code == 0
    assert qa_bot("ask", "Why do cats sleep all day?").code == 3
    assert qa_bot("status", "--json").json["documents"] == 0
