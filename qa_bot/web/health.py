"""Routes for operators: liveness, readiness, metrics."""

from __future__ import annotations

from aiohttp import web

from qa_bot.web.api.admin import HEALTH
from qa_bot.web.app_keys import METRICS, REQUEST_ID, SERVICE
from qa_bot.web.errors import ServiceError
from qa_bot.web.metrics import CONTENT_TYPE
from qa_bot.web.service import HOME_GONE

REASONS = {
    "starting": "The service is opening its index; ask again in a moment.",
    "stopping": "The service is stopping; ask another one.",
    "overloaded": "The queue is full; ask again in a moment.",
}


def routes() -> list[web.RouteDef]:
    return [web.get("/livez", livez), web.get("/readyz", readyz), web.get("/metrics", metrics)]


async def livez(_: web.Request) -> web.Response:
    """The process runs and its event loop turns."""
    return web.json_response({"alive": True})


async def readyz(request: web.Request) -> web.Response:
    """Whether the next question would be accepted and recorded; else 503 with the reason."""
    service = request.app[SERVICE]
    reason: str = service.state
    if reason == "ready":
        try:
            await service.check_store()
        except ServiceError as failure:
            reason, error = "home" if failure.message == HOME_GONE else "store", failure
        else:
            return web.json_response({"ready": True})
    else:
        error = ServiceError(503, REASONS[reason], retry_after=1)
    payload = {"ready": False, "reason": reason, **error.as_dict(request[REQUEST_ID])}
    return web.json_response(payload, status=error.status, headers=error.headers)


async def metrics(request: web.Request) -> web.Response:
    """Metrics for Prometheus; those of the home are at most some seconds old."""
    if HEALTH in request.app:
        await request.app[HEALTH].refresh()
    return web.Response(body=request.app[METRICS].text(), headers={"Content-Type": CONTENT_TYPE})
