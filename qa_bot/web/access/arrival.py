"""Requests as they arrive: `Expect` is answered after the access rules, and invalid HTTP gets the usual reply.

aiohttp answers `Expect` before any middleware runs, and its replies to malformed HTTP pass none. So its server makes
requests of this class instead.
"""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from aiohttp import HttpVersion11, hdrs, web
from aiohttp.http_parser import RawRequestMessage
from aiohttp.web_protocol import ERROR

from qa_bot.answering.answer_json import dumps
from qa_bot.web.access.headers import add_headers
from qa_bot.web.errors import ServiceError
from qa_bot.web.logs import name_request

LINE = 64 * 1024
"""Limit of a request line in bytes: 7,000 Japanese characters of a LiveQA question, each of them nine bytes there."""
HEADER = 8 * 1024
"""Limit of a header in bytes."""

EXPECTED = web.RequestKey("expected", str)
"""Value of the header `Expect`, if there is one."""
REFUSED = web.RequestKey("refused", str)
"""Id of a request that is no valid HTTP, or whose line or header is too long."""
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class ArrivedRequest(web.Request):
    """A request without its header `Expect`, which `answer_expectation` answers; or one that could not be parsed."""

    def __init__(self, message: RawRequestMessage, *args: Any, **options: Any) -> None:
        expected = message.headers.get(hdrs.EXPECT)
        if expected is not None:
            headers = message.headers.copy()
            headers.popall(hdrs.EXPECT)
            message = message._replace(headers=type(message.headers)(headers))
        super().__init__(message, *args, **options)
        if expected is not None and message.version >= HttpVersion11:
            self[EXPECTED] = expected
        if message is ERROR:
            self[REFUSED] = uuid.uuid4().hex
            name_request(self[REFUSED])

    async def _prepare_hook(self, response: web.StreamResponse) -> None:
        add_headers(response.headers, secure=False)
        if REFUSED in self and isinstance(response, web.Response):
            self._put_error(response)
        await super()._prepare_hook(response)

    def _put_error(self, response: web.Response) -> None:
        """Put the error object in place of aiohttp's text, which quotes the request; its length was already set."""
        error = ServiceError(
            400, f"Expected HTTP with a request line of at most {LINE:,} bytes and headers of at most {HEADER:,}."
        )
        response.content_type = "application/json"
        response.headers["X-Request-ID"] = self[REFUSED]
        response.body = body = dumps(error.as_dict(self[REFUSED]))
        response.headers[hdrs.CONTENT_LENGTH] = str(len(body))
        self.writer.length = len(body)


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
