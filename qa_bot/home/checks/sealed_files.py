"""Checksums of files that no generation and no database holds: models, personas, configuration, token.

    HOME/checksums.json    {"files": {PATH: {"sha256", "bytes", "mtime_ns", "inode"}}, "sha256"}

A file is recorded when it is written or first checked. Later its content may differ in two ways. If its time and inode
are the same, no program has written it: it is damaged. Otherwise a program or a person has written it: that is damage
in `models`, whose files are never rewritten, and is only reported elsewhere, since people edit those files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from qa_core.atomic import atomic_file, remove_partial

RECORD = "checksums.json"
FOLDERS = ("models", "personas")
FILES = ("qa-bot.toml", "token")

_Records = Mapping[str, Mapping[str, Any]]


class ChangedFiles(NamedTuple):
    """Relative paths; `damaged` ones were not changed by a person, `edited` ones may have been."""

    damaged: list[str]
    edited: list[str]


def seal(home: Path) -> None:
    """Record the files that are not recorded yet, and those that people edit; a read-only home stays unchanged."""
    known = _read(home)
    records = {name: _record(home / name, known.get(name)) for name in _names(home)}
    for name in (name for name in records if name.startswith("models/") and name in known):
        records[name] = dict(known[name])
    missing = {name: dict(record) for name, record in known.items() if name.startswith("models/")}
    _write(home, missing | records)


def changed(home: Path) -> ChangedFiles:
    """Compare all recorded files; new ones are no change."""
    damaged, edited = list[str](), list[str]()
    for name, known in _read(home).items():
        path = home / name
        present = _record(path, None) if path.is_file() else None
        if present is not None and present["sha256"] == known.get("sha256"):
            continue
        is_same_state = present is not None and all(present[key] == known.get(key) for key in ("mtime_ns", "inode"))
        (damaged if is_same_state or name.startswith("models/") else edited).append(name)
    return ChangedFiles(damaged, edited)


def forget(home: Path, names: list[str]) -> None:
    """Leave files out of the record, such as those that are made anew."""
    _write(home, {name: dict(record) for name, record in _read(home).items() if name not in names})


def check_files(home: Path) -> str:
    """Raises OSError if a file is damaged; without the record, says that no file could be compared."""
    present = sum(1 for _ in _names(home))
    if present and not (home / RECORD).exists():
        return f"{present:,} files, none of them compared: {RECORD} is missing, and is made when every check passes"
    if not _is_whole(home):
        raise OSError(f"{home / RECORD} is damaged; run `qa-bot repair`, which makes it anew.")
    changes = changed(home)
    if changes.damaged:
        names = ", ".join(changes.damaged)
        raise OSError(f"{names} differ from what was written; run `qa-bot repair`.")
    count = len(_read(home))
    edited = f"; changed since they were last checked: {', '.join(changes.edited)}" if changes.edited else ""
    return f"{count:,} files{edited}"


def _names(home: Path) -> Iterator[str]:
    for name in FILES:
        if (home / name).is_file():
            yield name
    for folder in FOLDERS:
        for path in sorted((home / folder).rglob("*")):
            if path.is_file() and not any(part.startswith(".") or part.endswith(".part") for part in path.parts):
                yield path.relative_to(home).as_posix()


def _record(path: Path, known: Mapping[str, Any] | None) -> dict[str, Any]:
    state = path.stat()
    record: dict[str, Any] = {"bytes": state.st_size, "mtime_ns": state.st_mtime_ns, "inode": state.st_ino}
    if known is not None and all(known.get(key) == value for key, value in record.items()):
        return dict(known)
    with path.open("rb") as file:
        return {**record, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _is_whole(home: Path) -> bool:
    try:
        content = json.loads((home / RECORD).read_bytes())
        return bool(content["sha256"] == _digest(content["files"]))
    except FileNotFoundError:
        return True
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _read(home: Path) -> _Records:
    """Empty if there is no record, or a damaged one."""
    if not (home / RECORD).is_file() or not _is_whole(home):
        return {}
    files: _Records = json.loads((home / RECORD).read_bytes())["files"]
    return files


def _write(home: Path, records: _Records) -> None:
    if records == _read(home) and _is_whole(home):
        return
    content = {"files": records, "sha256": _digest(records)}
    with suppress(OSError):
        remove_partial(home / RECORD)
    with suppress(OSError), atomic_file(home / RECORD, private=True) as file:
        file.write(json.dumps(content, indent=1, sort_keys=True).encode())


def _digest(records: _Records) -> str:
    return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()
