"""Time of questions filtered to 1 % of the documents, compared with the same questions over all.

    python benchmarks/filtered_search.py [--documents 100000] [--questions 200]

Synthetic texts: 40 words a document, drawn from 20,000 by Zipf's law. One document in a hundred is in the folder
`small`. Each question is searched three times with and without the filter; its time is the shortest. Prints a line of
JSON an engine: the shortest list of the filtered questions, the median milliseconds, and their ratio.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from qa_bot.answering.scope import EVERYTHING, Scope
from qa_bot.answering.stages.retrieve import SearchMode
from qa_bot.bot import Bot
from qa_bot.documents.ingest.records import Record
from qa_bot.documents.sync import add_records

WORDS, DOCUMENT_WORDS, QUESTION_WORDS = 20_000, 40, 6
EVERY = 100
"""One document in so many is in the folder `small`."""
SMALL = Scope(under=("small",))
REPEATS = 3
LETTERS = np.array([*"abcdefghijklmnopqrstuvwxyz"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--top", type=int, default=100)
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    words = ["".join(random.choice(LETTERS, size=random.integers(4, 10))) for _ in range(WORDS)]
    with tempfile.TemporaryDirectory(prefix="qa-bot-filter-") as folder:
        records = (_record(number, _text(words, DOCUMENT_WORDS, random)) for number in range(arguments.documents))
        with Bot.open(Path(folder)) as bot:
            add_records(bot.home, bot.config, bot.encoder, records, collection="made")
        questions = [_text(words, QUESTION_WORDS, random) for _ in range(arguments.questions)]
        with Bot.open(Path(folder)) as bot:
            for engine in get_args(SearchMode):
                sys.stdout.write(json.dumps(_measured(bot, engine, questions, arguments.top)) + "\n")


def _record(number: int, text: str) -> Record:
    folder = "large" if number % EVERY else "small"
    return Record(f"{folder}/{number}.txt", f"Note {number}", text)


def _text(words: Sequence[str], length: int, random: np.random.Generator) -> str:
    ranks = random.zipf(1.3, length) % WORDS
    return " ".join(words[rank] for rank in ranks.tolist()) + "."


def _measured(bot: Bot, engine: SearchMode, questions: Sequence[str], top: int) -> dict[str, object]:
    fewest, times = top, np.zeros((2, len(questions)))
    for column, question in enumerate(questions):
        for row, scope in enumerate((EVERYTHING, SMALL)):
            seconds = []
            for _ in range(REPEATS):
                started = time.perf_counter()
                candidates = bot.search(question, engine=engine, top=top, scope=scope)
                seconds.append(time.perf_counter() - started)
            times[row, column] = min(seconds)
            if scope is SMALL:
                assert all(one.passage.source.document.startswith("small/") for one in candidates)
                fewest = min(fewest, len(candidates))
    every, small = np.median(times, axis=1) * 1000
    return {
        "engine": engine,
        "fewest": fewest,
        "all_ms": round(every, 2),
        "small_ms": round(small, 2),
        "ratio": round(small / every, 2),
    }


if __name__ == "__main__":
    main()
