"""Before the first question: fills an empty home with the starter pack, finishes what a killed writer announced, and
rebuilds an index of another analyser."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from qa_bot.backup.older_schema import keep_before_upgrade
from qa_bot.home.checks.schema_version import is_older
from qa_bot.home.config import Config
from qa_bot.home.folder import Home, HomeError, WriterBusyError
from qa_bot.home.generations import Generations
from qa_bot.home.index import Manifest
from qa_bot.home.starter import COLLECTION, GRAPH, NAME
from qa_core.types import Encoder

log = logging.getLogger(__name__)

PATIENCE = 60
"""Seconds to wait for another process that is filling or rebuilding the home."""


def prepare(home: Home, config: Config, encoder: Callable[[], Encoder]) -> None:
    """Fill an empty home; or upgrade one of an older version and rebuild its index if necessary.

    See below for the errors.
    """
    finish_interrupted(home, config)
    _once(lambda: is_older(home, config), lambda: keep_before_upgrade(home, config))
    if not fill(home, config, encoder):
        rebuild_unreadable(home, config, encoder)


def finish_interrupted(home: Home, config: Config) -> None:
    """Finish or undo the commit of a killed writer, and remove what it left; if that fails, the next change does it."""
    roots = Generations(home.index), Generations(home.graph)
    if not any(root.has_remains() for root in roots):
        return
    try:
        with home.lock("recovery"):
            if any(root.announced() for root in roots):
                _finish_announced(home, config, roots)
            for root in roots:
                root.sweep()
    except (HomeError, OSError) as error:
        log.info("What a killed writer left stays for the next change: %s", error)


def _finish_announced(home: Home, config: Config, roots: Sequence[Generations]) -> None:
    from qa_bot.home.generations.commit import finish_announced  # late: an answer needs no SQLAlchemy
    from qa_bot.home.journal import open_store
    from qa_bot.home.store import StoreError

    try:
        with open_store(home, config) as store:
            finish_announced(store.commits, roots)
    except StoreError as error:
        raise HomeError(str(error)) from error


def fill(home: Home, config: Config, encoder: Callable[[], Encoder]) -> bool:
    """Add the starter collection to an empty home, and the starter graph if it has no graph; whether it was empty.

    A home that was ever written to has a generation, so a removed starter collection stays removed. If another
    process is filling the home, wait for it.

    Raises:
        WriterBusyError: the other process took more than a minute.
    """
    generations = Generations(home.index)

    def add_starter() -> None:
        from qa_bot.documents import sync

        facts = GRAPH if Generations(home.graph).current_number() is None else ()
        sync.add(home, config, encoder(), [COLLECTION], collection=NAME, as_sources=False, facts=facts)

    return _once(lambda: generations.current_number() is None, add_starter)


def rebuild_unreadable(home: Home, config: Config, encoder: Callable[[], Encoder]) -> bool:
    """Rebuild the index from the store if this version cannot search it; whether that was necessary.

    Raises:
        WriterBusyError: another process was writing for more than a minute.
        CorruptGenerationError: the index is damaged.
    """
    generations = Generations(home.index)

    def is_unreadable() -> bool:
        current = generations.current()
        return current is not None and not Manifest.of(current).is_readable

    def rebuild() -> None:
        from qa_bot.documents import sync

        log.warning("Another version of qa-bot analysed the texts of the index; it is rebuilt from the database.")
        sync.repair(home, config, encoder())

    return _once(is_unreadable, rebuild)


def _once(is_needed: Callable[[], bool], work: Callable[[], None]) -> bool:
    """Do the work if it is needed, unless another process does it first; whether this one did it."""
    end = time.monotonic() + PATIENCE
    while is_needed():
        try:
            work()
        except WriterBusyError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return True
    return False
