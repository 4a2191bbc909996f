"""`GET /api/admin/health`, and the same figures as metrics."""

from __future__ import annotations

import asyncio
import logging
import math
import platform
import time
from typing import TYPE_CHECKING, Any

from aiohttp import web

from qa_bot import __version__
from qa_bot.backup.schedule import seconds_of
from qa_bot.home.health.report import Problem, home_report, status_of
from qa_bot.web.api.json_bodies import reply
from qa_bot.web.app_keys import METRICS, SERVICE
from qa_bot.web.logs import event
from qa_bot.web.metrics import Metrics
from qa_bot.web.service import AnswerService

if TYPE_CHECKING:
    from qa_bot.home.store import Store

log = logging.getLogger(__name__)

FRESH = 5.0
"""Seconds that a report about the home is used again."""
EVERY = 30.0
"""Seconds between two reports for the log."""
LEVELS = {"ok": 0, "warning": 1, "error": 2}


class HealthWatch:
    """The health of one service and its home; to be used from its event loop."""

    def __init__(self, service: AnswerService, metrics: Metrics) -> None:
        self._service = service
        self._started = time.monotonic()
        self._home: dict[str, Any] = {}
        self._made = -math.inf
        self._making = asyncio.Lock()
        self._logged: list[Problem] = []
        self._add_gauges(metrics)

    async def report(self) -> dict[str, Any]:
        """The fields of `HealthReply`."""
        await self.refresh()
        service, home = self._service, self._home
        problems = [*home["problems"], *self._own_problems()]
        queue = service.queue_state()
        return {
            "status": status_of(problems),
            "state": service.state,
            "versions": {"qa_bot": __version__, "python": platform.python_version()},
            "uptime": round(time.monotonic() - self._started, 1),
            **home,
            "problems": [problem._asdict() for problem in problems],
            "improving": {**home["improving"], "progress": service.improved_share()},
            "queue": queue._asdict(),
        }

    async def refresh(self) -> None:
        """Read the state of the home unless that was done a moment ago."""
        async with self._making:
            if time.monotonic() - self._made < FRESH:
                return
            self._home = await self._read_home()
            self._made = time.monotonic()

    async def log_changes(self) -> None:
        """Log problems that are new, and their end; forever."""
        while True:
            await self.refresh()
            problems = [*self._home["problems"], *self._own_problems()]
            if {problem.name for problem in problems} != {problem.name for problem in self._logged}:
                level = logging.WARNING if problems else logging.INFO
                details = [problem.detail for problem in problems]
                event(log, "health", level, status=status_of(problems), problems=details)
            self._logged = problems
            await asyncio.sleep(EVERY)

    async def _read_home(self) -> dict[str, Any]:
        bot = self._service.bot
        every = seconds_of(bot.config.backup.every)

        def read(store: Store) -> dict[str, Any]:
            return home_report(bot.home, bot.config, store.sources.all(), backup_every=every)

        try:
            return await self._service.store(read)
        except Exception as error:  # the store; the rest of the report is complete
            home = await asyncio.to_thread(home_report, bot.home, bot.config, (), backup_every=every)
            home["problems"].append(Problem("store", "error", str(error)))
            return home

    def _own_problems(self) -> list[Problem]:
        queue = self._service.queue_state()
        problems = []
        if self._service.overloaded:
            detail = f"{queue.waiting} questions wait, and further ones are rejected; raise serve.workers."
            problems.append(Problem("queue", "warning", detail))
        return problems

    def _add_gauges(self, metrics: Metrics) -> None:
        def home(*path: str, default: float = math.nan) -> float:
            value: Any = self._home
            for name in path:
                value = value.get(name) if isinstance(value, dict) else None
            return default if value is None else float(value)

        def oldest_sync() -> float:
            compared = [source for source in self._home.get("sources", ()) if source["kind"] != "upload"]
            return min((one["synced"] for one in compared if one["synced"] is not None), default=math.nan)

        def failing() -> float:
            return sum(bool(source["error"]) for source in self._home.get("sources", ()))

        def backup_time() -> float:
            return home("backup", "time", default=0.0)

        def ready() -> float:
            return float(self._service.state == "ready")

        def level() -> float:
            problems = [*self._home.get("problems", ()), *self._own_problems()]
            return float(LEVELS[status_of(problems)])

        gauges = {
            "ready": ("1 if the next question would be accepted, else 0.", ready),
            "health": ("0 if all is well, 1 if there are warnings, 2 if there are errors.", level),
            "index_generation": ("Number of the current generation.", lambda: home("index", "generation")),
            "index_documents": ("Documents of the current generation.", lambda: home("index", "documents")),
            "graph_generation": ("Number of the graph's generation.", lambda: home("graph", "generation")),
            "oldest_sync_timestamp_seconds": ("Last sync of the source that waits longest.", oldest_sync),
            "sources_failing": ("Sources whose last sync failed.", failing),
            "last_backup_timestamp_seconds": ("Time of the last backup; 0 if there is none.", backup_time),
            "disk_free_bytes": ("Free bytes on the disk of the home.", lambda: home("disk", "free")),
            "disk_free_percent": ("Free share of the disk of the home.", lambda: home("disk", "percent")),
            "improvable": ("1 if better vectors can be made.", lambda: home("improving", "improvable")),
        }
        for name, (description, value) in gauges.items():
            metrics.watch(name, description, value)


HEALTH = web.AppKey("health", HealthWatch)


def prepare(app: web.Application) -> None:
    """Add the watch to an application."""
    app[HEALTH] = HealthWatch(app[SERVICE], app[METRICS])


def routes() -> list[web.RouteDef]:
    return [web.get("/api/admin/health", show_health)]


async def show_health(request: web.Request) -> web.Response:
    """State of the service and its home, and what is wrong with them."""
    return reply(await request.app[HEALTH].report())
