"""Space left on the disk of a folder."""

from __future__ import annotations

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


def disk_space(folder: Path) -> DiskSpace:
    """Raises OSError if the folder cannot be reached."""
    state = os.statvfs(folder)
    return DiskSpace(state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize)
