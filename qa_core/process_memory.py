"""Memory of a process that runs for long: glibc's allocator keeps what was freed, and this gives it back.

Other allocators (macOS, musl, Windows) are left alone.
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache

MOST_ARENAS = 2
"""Heaps of the allocator; by default there are eight for each core, and each keeps its own peak."""
_M_ARENA_MAX = -8  # of malloc.h


def bound_heaps() -> None:
    """Limit the number of heaps; to be called before threads begin."""
    if library := _glibc():
        library.mallopt(_M_ARENA_MAX, MOST_ARENAS)


def release_freed() -> bool:
    """Give freed memory back to the system, and return whether there was any; other threads go on meanwhile."""
    library = _glibc()
    return bool(library.malloc_trim(0)) if library else False


@cache
def _glibc() -> ctypes.CDLL | None:
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None
