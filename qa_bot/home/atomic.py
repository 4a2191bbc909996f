"""Files that are written beside their place and moved there when they are whole: never a part is seen."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path, *, force: bool = False) -> Iterator[IO[bytes]]:
    """A file to write, which nobody else may read, and which is at `path` on leaving; an error leaves what was there.

    Raises:
        FileExistsError: something is there already, and `force` is not set.
        OSError: the folder is missing or without rights, or the disk is full.
    """
    expect_free(path, force=force)
    descriptor, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    partial = Path(name)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        expect_free(path, force=force)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def expect_free(path: Path, *, force: bool) -> None:
    """Raises FileExistsError where something is at `path` and may not be replaced, OSError where nothing can be."""
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise FileExistsError(f"Expected a file to write, but got {path}, which is none; name another.")
    if path.exists() and not force:
        raise FileExistsError(f"Expected a new file, but got {path}, which exists; name another, or add --force.")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"Expected a folder for {path.name}, but got {path.parent}, which is none; make it.")
