"""Requests as they arrive: `Expect` is answered after the access rules, and invalid HTTP gets the usual headers.

aiohttp answers `Expect` before any middleware runs, and its replies to malformed HTTP pass none. So its server makes
requests of this class instead.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from aiohttp import HttpVersion11, hdrs, web
from aiohttp.http_parser import RawRequestMessage

from qa_bot.web.access.headers import add_headers
from qa_bot.web.errors import ServiceError

EXPECTED = web.RequestKey("expected", str)
"""Value of the header `Expect`, if there is one."""
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class ArrivedRequest(web.Request):
    """A request without its header `Expect`, which `answer_expectation` answers."""

    def __init__(self, message: RawRequestMessage, *args: Any, **options: Any) -> None:
        expected = message.headers.get(hdrs.EXPECT)
        if expected is not None:
            headers = message.headers.copy()
            headers.popall(hdrs.EXPECT)
            message = message._replace(headers=type(message.headers)(headers))
        super().__init__(message, *args, **options)
        if expected is not None and message.version >= HttpVersion11:
            self[EXPECTED] = expected

    async def _prepare_hook(self, response: web.StreamResponse) -> None:
        add_headers(response.headers, secure=False)
        await super()._prepare_hook(response)


def use_arrived_requests(runner: web.AppRunner) -> None:
    """Let a runner that is set up make `ArrivedRequest`s."""
    assert runner.server is not None
    runner.server.request_factory = partial(runner.app._make_request, _cls=ArrivedRequest)


async def answer_expectation(request: web.Request, *, longest: int) -> None:
    """Refuse a body that is announced as too long; else tell a client that waits for it to send the body.

    Raises:
        ServiceError: 413 for a body of more than `longest` bytes, 417 for another expectation than `100-continue`.
    """
    if (request.content_length or 0) > longest:
        raise too_large(longest)
    expected = request.get(EXPECTED)
    if expected is None:
        return
    if expected.lower() != "100-continue":
        raise ServiceError(417, f"Expected `Expect: 100-continue`, or no such header, but got {expected[:60]!r}.")
    if request.match_info.http_exception is None:  # else the body is not read
        await request.writer.write(CONTINUE)
        request.writer.output_size = 0  # the reply itself has not begun


def too_large(longest: int) -> ServiceError:
    return ServiceError(413, f"Expected a body of at most {longest:,} bytes, but got a longer one.")
