"""Files of former generations are closed with the last question that uses them, without garbage collection."""

from __future__ import annotations

import gc
from pathlib import Path

from qa_bot.bot import Bot
from qa_bot.documents.sync import add

GENERATIONS = 20
OF_ONE_GENERATION = 13
"""Files of a segment that stay open; at least so many more would be open with one former generation."""


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
