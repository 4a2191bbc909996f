"""Backups by `[backup] every`: when one is due, and doing it in an idle service."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from qa_bot.backup.manifest import BackupError
from qa_bot.backup.writing import Written, backup
from qa_bot.home.checks.last_backup import LastBackup, last_backup
from qa_bot.home.config import Config, ConfigError
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.generations import CorruptGenerationError
from qa_bot.home.store import StoreError

log = logging.getLogger(__name__)

IDLE = 5.0
"""Seconds without a question before a backup begins."""
CHECK = 10.0
"""Seconds between two looks at the clock."""
RETRY = 600.0
"""Seconds to wait after a failure."""
UNITS = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*([mhdw])")


def seconds_of(duration: str) -> float:
    """The seconds of a duration such as `6h` or `1d`; 0 for none. Raises ConfigError."""
    if not duration.strip():
        return 0.0
    match = _DURATION.fullmatch(duration.strip().lower())
    if match is None or not float(match[1]):
        raise ConfigError(
            f"Expected a number with m, h, d or w for backup.every, such as 6h or 1d, but got {duration!r}."
        )
    return float(match[1]) * UNITS[match[2]]


def is_due(config: Config, last: LastBackup | None, now: float) -> bool:
    """Whether the time since the last backup is over; a last backup in the future counts as due."""
    every = seconds_of(config.backup.every)
    if not every or not config.backup.to:
        return False
    return last is None or not 0 <= now - last.made < every


def backup_when_due(home: Home, config: Config) -> Written | None:
    """Write a backup if one is due; a failure is a warning, since the command before it succeeded."""
    try:
        if is_due(config, last_backup(home), time.time()):
            return backup(home, config, Path(config.backup.to), keep=config.backup.keep)
    except WriterBusyError:  # the other one, or the next command, will do it
        return None
    except (BackupError, ConfigError, CorruptGenerationError, StoreError, OSError) as error:
        log.warning("The backup that is due could not be written: %s", error)
    return None


class ScheduledBackups:
    """Writes backups of a served home when they are due and no question is in work."""

    def __init__(self, home: Home, config: Callable[[], Config], idle: Callable[[], float]) -> None:
        """Args: `idle` tells for how many seconds no question has been in work, 0 while one is."""
        self._home, self._config, self._idle = home, config, idle
        self.stop = threading.Event()

    def run(self, written: Callable[[Written], None] = lambda _: None, *, check: float = CHECK) -> None:
        """Look at the clock until `stop` is set."""
        wait = check
        while not self.stop.wait(wait):
            wait = check
            config = self._config()
            try:
                if self._idle() < IDLE or not is_due(config, last_backup(self._home), time.time()):
                    continue
            except ConfigError as error:
                log.warning("%s", error)
                wait = RETRY
                continue
            if (done := backup_when_due(self._home, config)) is not None:
                written(done)
            else:
                wait = RETRY


@contextmanager
def backing_up_when_idle(backups: ScheduledBackups, written: Callable[[Written], None]) -> Iterator[None]:
    """Run scheduled backups in a thread; one in progress is finished at the end."""
    thread = threading.Thread(target=backups.run, args=[written], name="backup")
    thread.start()
    try:
        yield
    finally:
        backups.stop.set()
        thread.join()
