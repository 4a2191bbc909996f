"""The service that runs over a home: where it listens, and what it says of its health.

HOME/service.json          URL and process of the service, while it runs
"""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from qa_bot.home.folder import Home
from qa_core.atomic import atomic_file

HEALTH = "/api/admin/health"
SECONDS = 3.0
"""Time limit for a service's answer."""
LONGEST = 4_000_000
"""Bytes of an answer that are read at most."""


@contextmanager
def announced_service(home: Home, url: str) -> Iterator[None]:
    """Record in the home that a service of this process listens at `url`, until the end.

    Of several services over one home the last one is recorded. A home that cannot be written to has no record.
    """
    record = {"url": url, "pid": os.getpid()}
    with suppress(OSError), atomic_file(_file(home), private=True) as out:
        out.write(json.dumps(record).encode())
    try:
        yield
    finally:
        if _recorded(home) == record:
            _file(home).unlink(missing_ok=True)


def service_health(home: Home, token: str) -> dict[str, Any] | None:
    """The health of the running service over this home; None if no service answers."""
    record = _recorded(home)
    if record is None or not _is_alive(record["pid"]):
        return None
    try:
        return _fetch(record["url"], token)
    except (OSError, ValueError, http.client.HTTPException):
        return None


def _fetch(url: str, token: str) -> dict[str, Any] | None:
    """Raises OSError, ValueError or HTTPException if what answers is not the service."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        connection.request("GET", HEALTH, headers=headers)
        reply = connection.getresponse()
        payload = json.loads(reply.read(LONGEST))
        return payload if reply.status == 200 and isinstance(payload, dict) else None
    finally:
        connection.close()


def _recorded(home: Home) -> dict[str, Any] | None:
    try:
        record = json.loads(_file(home).read_text("utf-8"))
        return {"url": str(record["url"]), "pid": int(record["pid"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    return True


def _file(home: Home) -> Path:
    return home.path / "service.json"
