"""Files of former generations are closed with the last question that uses them, without garbage collection."""

from __future__ import annotations

import gc
import time
from itertools import count
from pathlib import Path

import pytest

from qa_bot.answering.deadline import Deadline
from qa_bot.bot import Bot
from qa_bot.documents.sync import add

GENERATIONS = 20
OF_ONE_GENERATION = 13
"""Files of a segment that stay open; at least so many more would be open with one former generation."""


@pytest.mark.slow
def test_open_files_do_not_grow_with_generations(home: Path, write_lines) -> None:
    opened = []
    with Bot.open(home, record=False) as bot:
        bot.ask("Why do cats sleep all day?")
        gc.collect()
        gc.disable()
        try:
            for number in range(GENERATIONS):
                path = write_lines("one.jsonl", {"_id": f"z{number}", "text": f"Zorgon number {number}."})
                add(bot.home, bot.config, bot.encoder, [path], as_sources=False)
                bot.search("zorgon", engine="keyword")
                opened.append(len(list(Path("/proc/self/fd").iterdir())))
        finally:
            gc.enable()
    assert opened[-1] - opened[0] < OF_ONE_GENERATION, opened


@pytest.mark.slow
def test_open_files_are_as_many_after_questions_without_time(home: Path, write_lines) -> None:
    """A stage that overran kept its generation open until the next garbage collection."""
    opened, skipped = [], 0
    with Bot.open(home, record=False) as bot:
        bot.ask("Why do cats sleep all day?")
        gc.collect()
        gc.disable()
        try:
            for number in range(2 * GENERATIONS):
                path = write_lines("one.jsonl", {"_id": f"z{number % 9}", "text": f"Zorgon number {number}."})
                add(bot.home, bot.config, bot.encoder, [path], as_sources=False)
                skipped += len(bot.ask(f"What is the number of zorgon {number}?", deadline=_short()).skipped)
                opened.append(_open_files(limit=opened[0] + OF_ONE_GENERATION if opened else 0))
        finally:
            gc.enable()
    assert skipped > GENERATIONS / 2, "of many questions a stage overran"
    assert max(opened) < opened[0] + OF_ONE_GENERATION, opened


def _short() -> Deadline:
    """A deadline that comes nearer with each look at it."""
    looks = count()
    return Deadline.after(1.0, now=lambda: next(looks) * 0.02)


def _open_files(*, limit: int) -> int:
    """The number of open files, when it is below the limit: the thread of a stage that overran may still run."""
    for _ in range(500):
        if (files := len(list(Path("/proc/self/fd").iterdir()))) < limit:
            return files
        time.sleep(0.01 if limit else 0)
    return files
