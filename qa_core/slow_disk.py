"""Reports a disk that keeps a write waiting: on standard error of a command, in the log of a service."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

log = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds that a write to a disk may take without a word."""


@contextmanager
def reported_if_slow(path: Path | str) -> Iterator[None]:
    """Log a warning if the block waits longer than `PATIENCE` for the disk of `path`, and how long it took in all."""
    warning = Timer(PATIENCE, _warn, (path,))
    warning.daemon = True
    started = time.monotonic()
    warning.start()
    try:
        yield
    finally:
        warning.cancel()
        if (took := time.monotonic() - started) > PATIENCE:
            log.warning("The disk of %s took %.0f s for one write; is it failing, full, or a network away?", path, took)


def _warn(path: Path | str) -> None:
    log.warning("Waiting for the disk of %s, which has not finished a write for %g s …", path, PATIENCE)
