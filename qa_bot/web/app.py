"""The applications of both ports: all routes within the same layers of middleware.

request id  →  span, if traced  →  log line and counters  →  errors in one shape  →  access  →  handler
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from typing import TYPE_CHECKING

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from qa_bot.home.folder import DiskFullError, HomeGoneError
from qa_bot.home.sections import ServeSection
from qa_bot.web import health, openapi, pages
from qa_bot.web.access.arrival import too_large
from qa_bot.web.access.headers import add_headers
from qa_bot.web.access.rules import ASSETS, PROBES, PUBLIC_ROUTES, Access, guard, route_of
from qa_bot.web.api import admin, compare, owner, writer
from qa_bot.web.api import routes as api
from qa_bot.web.app_keys import ACCESS, METRICS, REPLIED, REQUEST_ID, SERVICE, SETTINGS
from qa_bot.web.chat import socket as chat
from qa_bot.web.documents import routes as documents
from qa_bot.web.documents.receiving import UPLOADS, longest_upload
from qa_bot.web.errors import CODES, ServiceError
from qa_bot.web.liveqa import routes as liveqa
from qa_bot.web.logs import event, serving
from qa_bot.web.metrics import Metrics
from qa_bot.web.openai import routes as openai
from qa_bot.web.service import AnswerService

if TYPE_CHECKING:
    from qa_bot.web.telemetry.tracing import Tracing

log = logging.getLogger(__name__)

BODY = 1024 * 1024
"""Limit of a body in bytes: ten times the longest question, in any encoding."""
FIELDS = 64
"""Limit of a form's fields."""
GONE = 499
"""Status in the log when the client disconnected before the reply."""
UNREAD = frozenset({413, 417})
"""Statuses after which the connection is closed, since the rest of the body is not read."""
LIVEQA = frozenset({"/liveqa"})
UNTRACED = PROBES | {"/metrics"}
"""Routes without a span, because monitoring requests them continually."""
SOCKET = "/ws"
ROUTES = web.AppKey("routes", str)
"""What an error about an unknown path says about the known ones."""

_SANE_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


def make_app(
    service: AnswerService,
    metrics: Metrics,
    settings: ServeSection,
    *,
    access: Access | None = None,
    tracing: Tracing | None = None,
) -> web.Application:
    """The main port.

    Args:
        settings: with the actual token and port.
        access: shared with the LiveQA port, so that both count towards one rate; by default made from `settings`.
        tracing: makes a span of each request; None if no collector is configured.
    """
    access = access or Access(settings)
    longer = {UPLOADS: longest_upload(settings)}
    guarded = guard(access, token_in_query=LIVEQA, public_routes=PUBLIC_ROUTES, longest=BODY, longer=longer)
    app = _layered_app(service, metrics, settings, access, guarded, tracing)
    app[ROUTES] = "/openapi.json lists all routes"
    chat.prepare(app)
    writer.prepare(app)
    documents.prepare(app)
    admin.prepare(app)
    for module in (pages, api, chat, compare, owner, documents, admin, openai, openapi, liveqa, health):
        app.add_routes(module.routes())
    return app


def make_liveqa_app(
    service: AnswerService,
    metrics: Metrics,
    settings: ServeSection,
    *,
    access: Access | None = None,
    tracing: Tracing | None = None,
) -> web.Application:
    """The LiveQA port, where `/` is LiveQA and every route requires the token."""
    access = access or Access(settings)
    guarded = guard(access, token_in_query=LIVEQA | {"/"}, public_routes=frozenset(), longest=BODY)
    app = _layered_app(service, metrics, settings, access, guarded, tracing)
    app[ROUTES] = "this port serves LiveQA at / and /liveqa"
    app.add_routes(liveqa.own_port_routes())
    return app


def _layered_app(
    service: AnswerService,
    metrics: Metrics,
    settings: ServeSection,
    access: Access,
    guarded: Middleware,
    tracing: Tracing | None,
) -> web.Application:
    traced = () if tracing is None else (_traced_requests(tracing),)
    layers = (_request_ids, *traced, _logging, _error_replies, guarded)
    app = web.Application(middlewares=layers, client_max_size=BODY, client_max_fields=FIELDS)
    app[SERVICE], app[METRICS], app[SETTINGS], app[ACCESS] = service, metrics, settings, access
    app.on_response_prepare.append(_add_headers)
    return app


@web.middleware
async def _request_ids(request: web.Request, handler: Handler) -> web.StreamResponse:
    proposed = request.headers.get("X-Request-ID", "")
    request[REQUEST_ID] = proposed if _SANE_ID.fullmatch(proposed) else uuid.uuid4().hex
    return await handler(request)


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Runs before the headers go out, which for streams and sockets is before any middleware sees the reply."""
    response.headers["X-Request-ID"] = request[REQUEST_ID]
    add_headers(response.headers, secure=request.app[ACCESS].is_encrypted(request))
    if isinstance(response, web.WebSocketResponse):
        request[REPLIED] = response.status


def _traced_requests(tracing: Tracing) -> Middleware:
    """A span for each request except probes and files of the page; questions over a WebSocket have their own."""

    @web.middleware
    async def traced(request: web.Request, handler: Handler) -> web.StreamResponse:
        route = route_of(request)
        if route in UNTRACED or route.startswith(ASSETS):
            return await handler(request)
        if route == SOCKET:
            with tracing.continued(request.headers):
                return await handler(request)
        with tracing.request(request.headers, request.method, route, request[REQUEST_ID]) as span:
            try:
                response = await handler(request)
            except web.HTTPException as redirection:
                span.replied(redirection.status)
                raise
            except asyncio.CancelledError:
                if (status := request.get(REPLIED)) is not None:
                    span.replied(status)
                raise
            span.replied(response.status)
            return response

    return traced


@web.middleware
async def _logging(request: web.Request, handler: Handler) -> web.StreamResponse:
    began, route, status = time.monotonic(), route_of(request), None
    with serving(request[REQUEST_ID]) as served:
        try:
            response = await handler(request)
            status = response.status
            return response
        finally:
            seconds, status = time.monotonic() - began, status or request.get(REPLIED, GONE)
            request.app[METRICS].requested(route, status, seconds)
            level = logging.DEBUG if route in PROBES and status == 200 else logging.INFO
            fields = {"method": request.method, "route": route, "status": status, "seconds": round(seconds, 6)}
            event(log, "request", level, **fields, **served.fields)


@web.middleware
async def _error_replies(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except ServiceError as error:
        return _reply(request, error)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        response = _reply(request, _as_service_error(request, error))
        if isinstance(error, web.HTTPMethodNotAllowed):
            response.headers["Allow"] = error.headers["Allow"]
        return response
    except HomeGoneError as error:
        return _reply(request, request.app[SERVICE].home_is_gone(error))
    except DiskFullError as error:
        return _reply(request, ServiceError(507, str(error)))
    except ConnectionError:  # the client disconnected during the reply
        raise
    except Exception:
        log.exception("a request failed")
        return _reply(request, ServiceError(500, "Something went wrong here; the log knows what, by the request id."))


def _reply(request: web.Request, error: ServiceError) -> web.Response:
    if request.writer.output_size:  # a stream has begun, so it can only be cut
        raise ConnectionResetError("the reply had begun when it failed") from error
    if error.status == 429:
        request.app[METRICS].shed("rate")
    payload = error.as_dict(request[REQUEST_ID])
    response = web.json_response(payload, status=error.status, headers=error.headers)
    if error.status in UNREAD:
        response.force_close()
    return response


def _as_service_error(request: web.Request, error: web.HTTPException) -> ServiceError:
    status = error.status if error.status in CODES else 400 if error.status < 500 else 500
    match error:
        case web.HTTPNotFound():
            return ServiceError(404, f"There is no {request.path}; {request.app[ROUTES]}.")
        case web.HTTPMethodNotAllowed():
            allowed = " or ".join(sorted(error.allowed_methods))
            return ServiceError(405, f"Expected {allowed} for {request.path}, but got {error.method}.")
        case web.HTTPRequestEntityTooLarge():
            return too_large(BODY)
        case _:
            return ServiceError(status, error.text or error.reason)
