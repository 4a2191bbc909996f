"""The first fill of an empty home: the starter collection and the starter graph."""

from __future__ import annotations

import time
from collections.abc import Callable

from qa_bot.home.config import Config
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.generations import Generations
from qa_bot.home.starter import COLLECTION, GRAPH, NAME
from qa_core.types import Encoder

PATIENCE = 60
"""Seconds to wait for another process that is filling the home."""


def fill(home: Home, config: Config, encoder: Callable[[], Encoder]) -> bool:
    """Give an empty home the starter collection, and the starter graph where it has no graph; whether it was empty.

    A home that was ever written to has a generation, so that a removed starter collection stays removed. Where
    another process is at the home's first use already, this one waits for it.

    Raises:
        WriterBusyError: a minute was not enough.
    """
    generations = Generations(home.index)
    given_up = time.monotonic() + PATIENCE
    while generations.current_number() is None:
        from qa_bot.documents import graph
        from qa_bot.documents.sync import add

        try:
            if Generations(home.graph).current_number() is None:
                graph.add(home, GRAPH)
            add(home, config, encoder(), [COLLECTION], collection=NAME)
        except WriterBusyError:
            if time.monotonic() > given_up:
                raise
            time.sleep(0.1)
        else:
            return True
    return False
