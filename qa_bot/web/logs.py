"""Structured logs: an object a line for programs, a readable line on a terminal; questions only where that is wanted.

An event is a log record with fields: `event(log, "request", status=200)`. While a request is served its id stands in
every event, also in those of tasks that it began.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TextIO

import orjson
from aiohttp.http_exceptions import HttpProcessingError

FIELDS = "fields"
"""Attribute of a log record that holds the fields of its event."""


@dataclass(slots=True)
class Served:
    """The request that is being served, and what is known of it when its line is written."""

    request_id: str
    fields: dict[str, Any] = field(default_factory=dict)


_served: ContextVar[Served | None] = ContextVar("served", default=None)


@contextmanager
def serving(request_id: str) -> Iterator[Served]:
    """Everything logged within belongs to this request."""
    served = Served(request_id)
    before = _served.set(served)
    try:
        yield served
    finally:
        _served.reset(before)


def note(**fields: object) -> None:
    """Have these stand in the line of the request that is being served; without one nothing happens."""
    if served := _served.get():
        served.fields.update(fields)


def event(log: logging.Logger, name: str, level: int = logging.INFO, **fields: object) -> None:
    """Log something that happened, with the id of the request that it happened in."""
    if not log.isEnabledFor(level):
        return
    served = _served.get()
    known = {} if served is None else {"request_id": served.request_id}
    log.log(level, name, extra={FIELDS: {**known, **fields}}, stacklevel=2)


class AsJson(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {"time": _time(record), "level": record.levelname.lower()}
        fields = getattr(record, FIELDS, None)
        if fields is None:
            told |= {"event": "log", "logger": record.name, "message": record.getMessage(), **_request_id()}
        else:
            told |= {"event": record.getMessage(), **fields}
        if record.exc_info:
            told["trace"] = self.formatException(record.exc_info)
        return orjson.dumps(told, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


class AsLine(logging.Formatter):
    """`12:30:01 INFO request route=/api/ask status=200 seconds=0.012`."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, FIELDS, None) or _request_id()
        parts = [f"{datetime.fromtimestamp(record.created).astimezone():%H:%M:%S}", record.levelname]
        parts += [record.getMessage(), *(f"{name}={_shown(value)}" for name, value in fields.items())]
        trace = [self.formatException(record.exc_info)] if record.exc_info else []
        return "\n".join([" ".join(parts), *trace])


def configure(stream: TextIO | None = None) -> None:
    """Write the logs of this process to `stream` (stderr), in the form that its reader needs."""
    stream = sys.stderr if stream is None else stream
    handler = logging.StreamHandler(stream)
    handler.setFormatter(AsLine() if stream.isatty() else AsJson())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("qa_bot").setLevel(logging.INFO)


def server_log() -> logging.Logger:
    """The logger that aiohttp is given: requests that are no HTTP are a client's fault and no trace of ours."""
    log = logging.getLogger("qa_bot.web.http")
    if _calm not in log.filters:
        log.addFilter(_calm)
    return log


def _calm(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        record.levelno, record.levelname, record.exc_info = logging.INFO, "INFO", None
        record.msg, record.args = "refused", None
        setattr(record, FIELDS, {"status": error.code, "reason": type(error).__name__})
    return True


def _request_id() -> dict[str, str]:
    served = _served.get()
    return {} if served is None else {"request_id": served.request_id}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _shown(value: object) -> str:
    """One word: nobody breaks a line, or makes up a field, by what they send."""
    text = str(value)
    return text if text.isascii() and text.isprintable() and text and not {" ", '"', "="} & set(text) else repr(text)
