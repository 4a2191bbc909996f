"""Makes better vectors while a service is idle: in a thread of low priority, which pauses while a question runs."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from qa_bot.documents.improving import Improver, is_to_improve
from qa_bot.home.config import Config
from qa_bot.home.folder import Home, WriterBusyError

log = logging.getLogger(__name__)

IDLE = 5.0
"""Seconds without a question before the work begins …"""
PAUSE = 1.0
"""… and before it goes on after a question."""
LONGEST_PAUSE = 30.0
"""Seconds of such a pause after which the work is put off until the service is idle again: its encoder takes 30 to 45
MB, and what is done is kept."""
CHECK = 2.0
"""Seconds between two checks whether there is work."""
RETRY = 60.0
"""Seconds to wait after a failure."""
NICENESS = 10
"""Of the thread and of those that the encoder starts."""


class IdleImprover:
    """Improves a home again and again, until stopped."""

    def __init__(self, home: Home, config: Callable[[], Config], idle: Callable[[], float]) -> None:
        """Args: `idle` tells for how many seconds no question has been in work, 0 while one is."""
        self._home, self._config, self._idle = home, config, idle
        self.stop = threading.Event()
        self.progress: float | None = None
        """Share of the better vectors that is made; None while none are being made."""

    def run(self, improved: Callable[[], None]) -> None:
        """Look for work until `stop` is set; `improved` is called after each switch to better vectors."""
        with suppress(OSError, AttributeError):  # priorities of threads are Linux's
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        wait = CHECK
        while not self.stop.wait(wait):
            wait = CHECK
            try:
                if self._has_work() and self._improve():
                    improved()
            except WriterBusyError:  # another process makes them
                wait = RETRY
            except Exception as error:
                log.warning("Better vectors could not be made: %s", error)
                wait = RETRY

    def _has_work(self) -> bool:
        config = self._config()
        return self._idle() >= IDLE and is_to_improve(self._home, config)

    def _improve(self) -> bool:
        """Whether the better vectors were finished."""
        try:
            with Improver(self._home, self._config()) as improver:
                for made in improver.run():
                    self.progress = made.passages / made.of if made.of else None
                    if not self._goes_on():
                        return False
            return True
        finally:
            self.progress = None

    def _goes_on(self) -> bool:
        """Wait while questions are in work; false if that takes too long, or after `stop`."""
        end = time.monotonic() + LONGEST_PAUSE
        while self._idle() < PAUSE and time.monotonic() < end and not self.stop.wait(PAUSE / 10):
            pass
        return self._idle() >= PAUSE and not self.stop.is_set()


@contextmanager
def improving_when_idle(improver: IdleImprover, improved: Callable[[], None]) -> Iterator[None]:
    """Run an improver in a thread; a batch in progress is finished at the end."""
    thread = threading.Thread(target=improver.run, args=[improved], name="improve")
    thread.start()
    try:
        yield
    finally:
        improver.stop.set()
        thread.join()
