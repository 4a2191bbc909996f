"""Memory of a process that runs for long: what glibc's allocator keeps though it was freed, and large tables on disk.

Other allocators (macOS, musl, Windows) are left alone.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import tempfile
from array import array
from collections.abc import Sequence
from functools import cache

MOST_ARENAS = 2
"""Heaps of the allocator; by default there are eight for each core, and each keeps its own peak."""
OWN_MAPPING = 4 * 1024**2
"""Bytes from which on a block is outside the heaps and goes back when it is freed. Without a value of ours the
allocator raises its own (128 KB) up to 32 MB, and the heaps keep holes of freed tables between blocks in use."""
_M_ARENA_MAX, _M_MMAP_THRESHOLD = -8, -3  # of malloc.h


def bound_heaps(arenas: int = MOST_ARENAS) -> None:
    """Limit the number of heaps and the blocks in them; to be called before threads begin.

    One is enough for a single question: with it a cold answer takes 1 to 2 MB less, and as long.
    """
    if library := _glibc():
        library.mallopt(_M_ARENA_MAX, arenas)
        library.mallopt(_M_MMAP_THRESHOLD, OWN_MAPPING)


def release_freed() -> bool:
    """Give freed memory back to the system, and return whether there was any; other threads go on meanwhile."""
    library = _glibc()
    return bool(library.malloc_trim(0)) if library else False


def on_disk(table: array[int]) -> Sequence[int]:
    """A table for reading, mapped from a temporary file without a name: only what is read takes memory, and the system
    may take that back. If no file can be written, the table itself.
    """
    try:
        with tempfile.TemporaryFile() as file:
            table.tofile(file)
            file.flush()
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return mapped.cast(table.typecode)  # type: ignore[arg-type, return-value]  # the stubs know only some formats
    except OSError:
        return table


@cache
def _glibc() -> ctypes.CDLL | None:
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None
