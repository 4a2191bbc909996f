"""Ctrl-C that is not lost: Python drops an exception that is raised in a finaliser or a weak reference's callback.

Pressed in one of these few microseconds, which come thousands of times in a long `add`, it would do nothing. So it is
remembered, and whatever reports progress asks for it.
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
def remembered() -> Iterator[None]:
    """Within, Ctrl-C also counts for `go_on`; nothing changes where it is ignored or handled otherwise."""
    global _pressed
    _pressed = False
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    told = sys.unraisablehook
    signal.signal(signal.SIGINT, _press)
    sys.unraisablehook = lambda lost: None if lost.exc_type is KeyboardInterrupt else told(lost)
    try:
        yield
    finally:
        sys.unraisablehook = told
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _pressed = False


def go_on() -> None:
    """Raises KeyboardInterrupt where Ctrl-C was pressed and came to nothing."""
    if _pressed:
        raise KeyboardInterrupt


def _press(number: int, frame: FrameType | None) -> None:
    global _pressed
    _pressed = True
    signal.default_int_handler(number, frame)
