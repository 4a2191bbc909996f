"""Errors of the service: `{"error": {"code", "message", "request_id"}}`, with `Retry-After` if waiting helps."""

from __future__ import annotations

from math import ceil
from typing import Any

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    417: "expectation_failed",
    422: "invalid",
    426: "upgrade_required",
    429: "too_many_requests",
    500: "internal",
    503: "overloaded",
    504: "deadline",
    507: "insufficient_storage",
}
"""Status of an error → its code."""
UNAVAILABLE = "unavailable"
"""Code of a 503 that comes from a lost home or store, not from many questions."""


class ServiceError(Exception):
    """An error that is sent to the client."""

    def __init__(self, status: int, message: str, *, retry_after: float | None = None, code: str = "") -> None:
        """Args: `code` is by default that of the status."""
        super().__init__(message)
        self.status, self.message, self.retry_after = status, message, retry_after
        self.code = code or CODES[status]

    @property
    def headers(self) -> dict[str, str]:
        if self.status == 401:
            return {"WWW-Authenticate": "Bearer"}
        if self.status == 426:
            return {"Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        return {} if self.retry_after is None else {"Retry-After": str(max(1, ceil(self.retry_after)))}

    def as_dict(self, request_id: str) -> dict[str, Any]:
        return {"error": {"code": self.code, "message": self.message, "request_id": request_id}}
