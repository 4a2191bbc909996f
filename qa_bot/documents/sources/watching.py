"""Keeps documents in step as files change. The only file that imports watchfiles."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from qa_bot.documents.reject_log import AddReport
from qa_bot.documents.sources.places import FILE_KINDS
from qa_bot.home.folder import WriterBusyError
from qa_bot.home.store import Source, StoreError

log = logging.getLogger(__name__)

DEBOUNCE = 1000
"""Milliseconds of changes that become one generation …"""
QUIET = 300
"""… or fewer, after so many milliseconds without a change."""
TICK = 1.0
"""Seconds between two looks at files that were added alone, …"""
LISTING = 10.0
"""… between two looks for new sources, …"""
RETRY = 1.0
"""… and to wait while another process writes."""


@dataclass(slots=True)
class Watcher:
    """Synchronises sources once, and again whenever files in them change.

    `synchronise` gets the names of the sources that changed; `ignored` is a folder whose changes do not count.
    """

    list_sources: Callable[[], list[Source]]
    synchronise: Callable[[Sequence[str]], AddReport]
    ignored: Path
    stop: Event = field(default_factory=Event)

    def run(self, report: Callable[[AddReport], None], *, started: Callable[[int], None] = lambda _: None) -> None:
        """Watch until `stop` is set or Ctrl-C; `report` gets every synchronisation with a change, reject or error.

        Args:
            started: called with the number of sources that are watched.
        """
        watched, missing = self._watched(), dict[Path, str]()
        started(len(watched))
        while not self.stop.is_set():
            before, missing = missing, self._missing()
            # deletes nothing, but says that they are unreachable
            self._synchronise(sorted(name for place, name in missing.items() if place not in before), report)
            self._watch(watched, report)
            watched = self._watched()

    def _watched(self) -> dict[Path, str]:
        """Names of the sources that exist, by place."""
        return {place: name for place, name in self._places().items() if place.exists()}

    def _missing(self) -> dict[Path, str]:
        """Names of the sources that do not exist, such as those on an unmounted share."""
        return {place: name for place, name in self._places().items() if not place.exists()}

    def _places(self) -> dict[Path, str]:
        return {Path(source.place): source.name for source in self.list_sources() if source.kind in FILE_KINDS}

    def _watch(self, watched: Mapping[Path, str], report: Callable[[AddReport], None]) -> None:
        """Synchronise all sources and then those that change; return when there are others, or `stop` is set."""
        folders = [place for place in watched if place.is_dir()]
        stamps = {place: _stamp(place) for place in watched if place not in folders}
        is_first, listed = True, time.monotonic()
        for paths in self._changes(folders):
            changed = {place for place in folders if any(self._counts(path, place) for path in paths)}
            changed |= {place for place, before in stamps.items() if _stamp(place) != before}
            stamps = {place: _stamp(place) for place in stamps}
            if changed and not is_first and self._watched() != watched:  # renamed or removed meanwhile
                return
            self._synchronise(sorted({watched[place] for place in (watched if is_first else changed)}), report)
            is_first = False
            if time.monotonic() - listed > LISTING:
                if self._watched() != watched:
                    return
                listed = time.monotonic()

    def _changes(self, folders: Sequence[Path]) -> Iterator[set[str]]:
        """Paths that changed since the last batch, at least once a tick; the first batch comes after watching began."""
        if not folders:
            while not self.stop.is_set():
                yield set()
                self.stop.wait(TICK)
            return
        from watchfiles import watch

        logging.getLogger("watchfiles").setLevel(logging.WARNING)  # it logs every batch
        batches = watch(
            *folders,
            debounce=DEBOUNCE,
            step=QUIET,
            stop_event=self.stop,
            rust_timeout=int(TICK * 1000),
            yield_on_timeout=True,
        )
        for batch in batches:
            yield {path for _, path in batch}

    def _counts(self, path: str, place: Path) -> bool:
        """Whether a changed path is a file that `add` would read."""
        changed = Path(path)
        if not changed.is_relative_to(place) or changed.is_relative_to(self.ignored):
            return False
        return not any(part.startswith(".") for part in changed.relative_to(place).parts)

    def _synchronise(self, names: Sequence[str], report: Callable[[AddReport], None]) -> None:
        """Synchronise sources; wait while another process writes."""
        while names and not self.stop.is_set():
            try:
                done = self.synchronise(names)
            except WriterBusyError:
                self.stop.wait(RETRY)
                continue
            except (StoreError, OSError, ValueError) as error:
                log.warning("The sources %s could not be synchronised: %s", ", ".join(names), error)
                return
            if done.changed or done.rejected or done.errors:
                report(done)
            return


@contextmanager
def in_background(watcher: Watcher, report: Callable[[AddReport], None]) -> Iterator[None]:
    """Run a watcher in a thread; a synchronisation in progress is finished at the end."""
    thread = Thread(target=watcher.run, args=[report], name="watch-sources")
    thread.start()
    try:
        yield
    finally:
        watcher.stop.set()
        thread.join()


def _stamp(file: Path) -> tuple[int, ...] | None:
    try:
        status = os.stat(file)  # noqa: PTH116  # half the time of `Path.stat`
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
