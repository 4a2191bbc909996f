"""Structured logs: a JSON object a line, or a readable line on a terminal; questions are logged only on request.

An event is a log record with fields: `event(log, "request", status=200)`. During a request its id is added to every
event, also in tasks that the request started.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

import orjson
from aiohttp.http_exceptions import HttpProcessingError

LogFormat = Literal["auto", "json", "text"]
"""As `[serve] log_format`."""
FIELDS = "fields"
"""Attribute of a log record with the fields of its event."""


@dataclass(slots=True)
class Served:
    """The current request, and the fields of its log line."""

    request_id: str
    fields: dict[str, Any] = field(default_factory=dict)


_served: ContextVar[Served | None] = ContextVar("served", default=None)


@contextmanager
def serving(request_id: str) -> Iterator[Served]:
    """Add this request's id to everything logged within."""
    served = Served(request_id)
    token = _served.set(served)
    try:
        yield served
    finally:
        _served.reset(token)


def name_request(request_id: str) -> None:
    """Add this id to everything that the current task logs from now on, for a request that no handler serves."""
    _served.set(Served(request_id))


def note(**fields: object) -> None:
    """Add fields to the log line of the current request; does nothing outside a request."""
    if served := _served.get():
        served.fields.update(fields)


def event(log: logging.Logger, name: str, level: int = logging.INFO, **fields: object) -> None:
    """Log an event, with the id of the current request."""
    if not log.isEnabledFor(level):
        return
    served = _served.get()
    known = {} if served is None else {"request_id": served.request_id}
    log.log(level, name, extra={FIELDS: {**known, **fields}}, stacklevel=2)


class AsJson(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {"time": _time(record), "level": record.levelname.lower()}
        fields = getattr(record, FIELDS, None)
        if fields is None:
            entry |= {"event": "log", "logger": record.name, "message": record.getMessage(), **_request_id()}
        else:
            entry |= {"event": record.getMessage(), **fields}
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        try:
            return orjson.dumps(entry, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
        except orjson.JSONEncodeError:  # a file name that is not UTF-8, or a very large number
            return json.dumps(entry, default=str)


class AsLine(logging.Formatter):
    """`12:30:01 INFO request route=/api/ask status=200 seconds=0.012`; lines of a traceback are indented."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, FIELDS, None) or _request_id()
        parts = [f"{datetime.fromtimestamp(record.created).astimezone():%H:%M:%S}", record.levelname]
        parts += [_printable(record.getMessage()), *(f"{name}={_shown(value)}" for name, value in fields.items())]
        trace = self.formatException(record.exc_info).splitlines() if record.exc_info else []
        return "\n".join([" ".join(parts), *(f"    {_printable(line)}" for line in trace)])


def configure(stream: TextIO | None = None, *, log_format: LogFormat = "auto") -> None:
    """Write the logs of this process to `stream` (default stderr)."""
    stream = sys.stderr if stream is None else stream
    as_text = stream.isatty() if log_format == "auto" else log_format == "text"
    handler = logging.StreamHandler(stream)
    handler.setFormatter(AsLine() if as_text else AsJson())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("qa_bot").setLevel(logging.INFO)


def server_log() -> logging.Logger:
    """The logger for aiohttp: invalid HTTP is the client's error, so it is logged without a traceback."""
    log = logging.getLogger("qa_bot.web.http")
    if _calm not in log.filters:
        log.addFilter(_calm)
    return log


def _calm(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        record.levelno, record.levelname, record.exc_info = logging.INFO, "INFO", None
        record.msg, record.args = "refused", None
        setattr(record, FIELDS, {"status": error.code, "reason": type(error).__name__, **_request_id()})
    return True


def _request_id() -> dict[str, str]:
    served = _served.get()
    return {} if served is None else {"request_id": served.request_id}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _printable(text: str) -> str:
    """The text with line breaks and other control characters escaped, so that it stays one line."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _shown(value: object) -> str:
    """The value as one word, so that a client's text cannot break a line or add a field."""
    text = str(value)
    return text if text.isascii() and text.isprintable() and text and not {" ", '"', "="} & set(text) else repr(text)
