"""Space left on the disk of a folder, and what its errors mean."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NamedTuple


class DiskSpace(NamedTuple):
    """Bytes that this user may still write, and bytes of the whole disk."""

    free: int
    size: int

    @property
    def percent(self) -> float:
        """Free share of the disk in percent; 100 if the file system does not tell its size."""
        return 100.0 * self.free / self.size if self.size else 100.0

    @property
    def free_in_words(self) -> str:
        """`51 MB`, `1.9 GB`."""
        if self.free >= 999_500_000:
            return f"{self.free / 1e9:,.1f} GB"
        return f"{self.free / 1e6:.0f} MB" if self.free >= 999_500 else f"{self.free / 1e3:.0f} KB"


def disk_space(folder: Path) -> DiskSpace:
    """Raises OSError if the folder cannot be reached."""
    state = os.statvfs(folder)
    return DiskSpace(state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize)


_REASONS = {
    errno.ENOSPC: "the disk is full; make room",
    errno.EDQUOT: "your share of the disk is used up; make room",
    errno.EIO: "the disk failed; check it",
    errno.EROFS: "the disk is read-only; mount it for writing",
}


def reason_of(error: OSError) -> str:
    """Why the system refused, and what to do if a disk is the reason; one line."""
    return _REASONS.get(error.errno or 0) or error.strerror or str(error)


def system_error(error: OSError) -> str:
    """A sentence about an error of the system: what it hit, if that is known, the reason, and what to do."""
    if error.strerror is None:  # its message is a sentence
        return str(error)
    place = f"read or write {error.filename}" if error.filename is not None else "use the disk"
    if error.errno in _REASONS:
        return f"Expected to {place}, but got: {reason_of(error)}, then run the command again."
    return str(error) if error.filename is None else f"Expected to {place}, but got: {error.strerror}; check the path."
