"""What the project ships so that a first question finds an answer: a collection, a graph, an encoder, and questions
that confidence is fitted on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from qa_bot.config import Config
from qa_bot.generations import Generations
from qa_bot.home import Home, WriterBusy
from qa_core.types import Encoder

FOLDER = Path(__file__).parent
COLLECTION = FOLDER / "collection.jsonl"
QUESTIONS = FOLDER / "questions.jsonl"
GRAPH = sorted((FOLDER / "graph").glob("*.ttl"))
FACT_QUESTIONS = FOLDER / "graph_questions.jsonl"
NAME = "starter"
NAMESPACE = "https://qa-bot.org/kg/"
"""Where the IRIs of the starter graph begin."""
PATIENCE = 60
"""Seconds to wait for another process that is filling the home."""


def fill(home: Home, config: Config, encoder: Callable[[], Encoder]) -> bool:
    """Give an empty home the starter collection, and the starter graph where it has no graph; whether it was empty.

    A home that was ever written to has a generation, so that a removed starter collection stays removed. Where
    another process is at the home's first use already, this one waits for it.

    Raises:
        WriterBusy: a minute was not enough.
    """
    generations = Generations(home.index)
    given_up = time.monotonic() + PATIENCE
    while generations.current_number() is None:
        from qa_bot import graph  # late: a filled home does not need the writers
        from qa_bot.changes import add

        try:
            if Generations(home.graph).current_number() is None:
                graph.add(home, GRAPH)
            add(home, config, encoder(), [COLLECTION], collection=NAME)
        except WriterBusy:
            if time.monotonic() > given_up:
                raise
            time.sleep(0.1)
        else:
            return True
    return False
