"""The newest version of qa-bot that has written to a home, so that an older one can name it.

HOME/written-by    the version, such as 0.2.0
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from qa_core.atomic import atomic_file, remove_partial

FILE = "written-by"
_VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){1,3}")


def note_version(home: Path) -> None:
    """Note this version if no newer one is noted; the only writer of the home calls it. Nothing on a full disk."""
    from importlib.metadata import version  # late: only writers need it

    this, noted = version("qa-bot"), noted_version(home)
    if noted and _parts(noted) >= _parts(this):
        return
    with suppress(OSError):
        remove_partial(home / FILE)
        with atomic_file(home / FILE, private=True) as file:
            file.write(f"{this}\n".encode())


def noted_version(home: Path) -> str:
    """The version that wrote the home; "" if the file is missing or does not hold a version."""
    try:
        text = (home / FILE).read_text("ascii", "replace").strip()
    except OSError:
        return ""
    return text if _VERSION.fullmatch(text) else ""


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))
