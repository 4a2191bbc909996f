"""A collector of OTLP over HTTP in a thread; keeps what services send."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from aiohttp import web
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PATIENCE = 30.0
GLANCE = 0.01


class ReceivedSpan(NamedTuple):
    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    began: int
    ended: int
    status: int


class ReceivedPoint(NamedTuple):
    """One series of a metric; `value` is a number, or the counts of the buckets of a histogram."""

    attributes: dict[str, Any]
    value: Any


class OtlpCollector:
    def __init__(self) -> None:
        self.url = ""
        self.spans: list[ReceivedSpan] = []
        self.metrics: dict[str, list[ReceivedPoint]] = {}
        self.resource: dict[str, Any] = {}
        self.headers: list[Mapping[str, str]] = []
        self.raw = b""

    async def take_traces(self, request: web.Request) -> web.Response:
        self.raw += (body := await request.read())
        self.headers.append(request.headers)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resource = attributes(resource.resource.attributes)
            self.spans += [received(span) for scope in resource.scope_spans for span in scope.spans]
        return web.Response()

    async def take_metrics(self, request: web.Request) -> web.Response:
        for resource in ExportMetricsServiceRequest.FromString(await request.read()).resource_metrics:
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                data = getattr(metric, metric.WhichOneof("data"))
                self.metrics[metric.name] = [
                    ReceivedPoint(attributes(point.attributes), _value(point)) for point in data.data_points
                ]
        return web.Response()

    def until(self, holds: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, "the collector did not receive it"
            time.sleep(GLANCE)

    def named(self, name: str) -> list[ReceivedSpan]:
        return [span for span in self.spans if span.name == name]

    def below(self, parent: ReceivedSpan) -> list[ReceivedSpan]:
        return [span for span in self.spans if span.parent == parent.id]


def received(span: Any) -> ReceivedSpan:
    return ReceivedSpan(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        attributes(span.attributes),
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        span.status.code,
    )


def attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _plain(pair.value) for pair in pairs}


def _plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(entry) for entry in value.array_value.values]
    return getattr(value, kind) if kind else None


def _value(point: Any) -> Any:
    if hasattr(point, "bucket_counts"):
        return list(point.bucket_counts)
    return getattr(point, point.WhichOneof("value"))


@contextmanager
def otlp_collector() -> Iterator[OtlpCollector]:
    """A collector that listens on a free port until the end."""
    collector, ready, stop = OtlpCollector(), threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def live() -> None:
        app = web.Application()
        app.router.add_post("/v1/traces", collector.take_traces)
        app.router.add_post("/v1/metrics", collector.take_metrics)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        collector.url = f"http://{host}:{port}"
        loops.append(asyncio.get_running_loop())
        ready.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(live()), name="collector")
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield collector
    finally:
        loops[0].call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
