"""Metrics in Prometheus' text format; the only file that imports prometheus_client."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest

from qa_core.types import Answer

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 60.0)

UPGRADED = 101
"""Status of a WebSocket, whose duration is not a response time."""


class Metrics:
    """Metrics of one service, in a separate registry, so that one process can run several."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "qa_bot_requests", "HTTP requests by route and status.", ["route", "status"], registry=self._registry
        )
        self._request_seconds = Histogram(
            "qa_bot_request_seconds", "Seconds a request took.", ["route"], buckets=SECONDS, registry=self._registry
        )
        self._answers = Counter("qa_bot_answers", "Answers by kind.", ["kind"], registry=self._registry)
        self._abstentions = Counter("qa_bot_abstentions", "Questions left unanswered.", registry=self._registry)
        self._stage_seconds = Histogram(
            "qa_bot_stage_seconds", "Seconds a stage took.", ["stage"], buckets=SECONDS, registry=self._registry
        )
        self._skipped = Counter(
            "qa_bot_stages_skipped", "Stages skipped at a deadline.", ["stage"], registry=self._registry
        )
        self._shed = Counter("qa_bot_shed", "Requests turned away, by reason.", ["reason"], registry=self._registry)
        self._slow = Counter(
            "qa_bot_slow_questions", "Questions slower than [serve] slow_seconds.", ["work"], registry=self._registry
        )
        self._sockets = Gauge("qa_bot_open_sockets", "WebSockets that are open.", registry=self._registry)

    def requested(self, route: str, status: int, seconds: float) -> None:
        """Count a reply; `route` is the pattern of the path, never the path itself."""
        self._requests.labels(route, str(status)).inc()
        if status != UPGRADED:
            self._request_seconds.labels(route).observe(seconds)

    def answered(self, answer: Answer) -> None:
        self._answers.labels(answer.kind).inc()
        if not answer.answered:
            self._abstentions.inc()
        for stage, seconds in answer.timings.items():
            self._stage_seconds.labels(stage).observe(seconds)
        for stage in answer.skipped:
            self._skipped.labels(stage).inc()

    def shed(self, reason: str) -> None:
        """Count a rejection: `overloaded`, `stopping`, `rate`, `sockets` or `slow` (a client that did not read)."""
        self._shed.labels(reason).inc()

    def slow(self, work: str) -> None:
        """Count a slow `answer` or `search`."""
        self._slow.labels(work).inc()

    def socket(self, change: int) -> None:
        """A WebSocket opened (+1) or closed (-1)."""
        self._sockets.inc(change)

    def watch(self, name: str, description: str, value: Callable[[], float]) -> None:
        """Add a gauge `qa_bot_NAME` whose value is computed when it is read."""
        Gauge(f"qa_bot_{name}", description, registry=self._registry).set_function(value)

    def families(self) -> Iterable[Metric]:
        """All metrics with their present values."""
        return self._registry.collect()

    def text(self) -> bytes:
        return generate_latest(self._registry)
