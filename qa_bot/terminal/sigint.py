"""Ctrl-C that is never lost: Python drops an exception raised in a finaliser or in a weak reference's callback.

A long `add` runs thousands of these per second, and a Ctrl-C in one of them would do nothing. So a handler records
the signal, and every progress report checks for it.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_pressed = False


@contextmanager
def deferred_sigint() -> Iterator[None]:
    """Record Ctrl-C for `check_interrupt`; does nothing if SIGINT is ignored or handled otherwise."""
    global _pressed
    _pressed = False
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    previous = sys.unraisablehook
    signal.signal(signal.SIGINT, _press)
    sys.unraisablehook = lambda lost: None if lost.exc_type is KeyboardInterrupt else previous(lost)
    try:
        yield
    finally:
        sys.unraisablehook = previous
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _pressed = False


def check_interrupt() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed and its exception was dropped."""
    if _pressed:
        raise KeyboardInterrupt


def _press(number: int, frame: FrameType | None) -> None:
    global _pressed
    _pressed = True
    signal.default_int_handler(number, frame)
