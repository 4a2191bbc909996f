"""Sends the metrics of `/metrics` to a collector, at regular times, by a thread."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from qa_bot.web.metrics import Metrics

log = logging.getLogger(__name__)

SCOPE = "qa_bot"
INTERVAL = 60.0
"""Seconds between two reports, unless OTEL_METRIC_EXPORT_INTERVAL (milliseconds) says otherwise."""
CLOSING = 5.0
"""Seconds in which the last report may be sent when the service stops."""
CUMULATIVE = AggregationTemporality.CUMULATIVE

Convert = Callable[[Iterable[Any], int], Sum | Gauge | Histogram]
"""Takes samples and the time in nanoseconds since 1970."""


class MetricsReporter:
    """Reports the metrics of one service until it is closed."""

    def __init__(self, metrics: Metrics, resource: Resource, *, endpoint: str = "") -> None:
        """Args: `endpoint` is the URL of the collector without the path of metrics; empty: from the environment."""
        url = f"{endpoint.rstrip('/')}/v1/metrics" if endpoint else None
        self._exporter = OTLPMetricExporter(endpoint=url)
        self._metrics, self._resource = metrics, resource
        self._began, self._interval = time.time_ns(), _interval()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
        self._thread.start()

    def report(self) -> None:
        """Send all metrics now; a collector that does not answer is logged by the exporter."""
        scope = ScopeMetrics(InstrumentationScope(SCOPE), self._converted(), "")
        self._exporter.export(MetricsData([ResourceMetrics(self._resource, [scope], "")]))

    def close(self) -> None:
        """Send a last report, within `CLOSING` seconds."""
        self._stop.set()
        self._thread.join(CLOSING)
        self._exporter.shutdown()

    def _run(self) -> None:
        stopped = False
        while not stopped:
            stopped = self._stop.wait(self._interval)
            try:
                self.report()
            except Exception as error:
                log.warning("Metrics could not be reported: %s", error)

    def _converted(self) -> list[Metric]:
        now = time.time_ns()
        kinds: dict[str, Convert] = {"counter": self._sum, "gauge": _gauge, "histogram": self._histogram}
        return [
            Metric(family.name, family.documentation, "s" if family.name.endswith("_seconds") else "1", data)
            for family in self._metrics.families()
            if (data := kinds[family.type](family.samples, now)).data_points
        ]

    def _sum(self, samples: Iterable[Any], now: int) -> Sum:
        points = [
            NumberDataPoint(sample.labels, self._began, now, sample.value)
            for sample in samples
            if sample.name.endswith("_total")
        ]
        return Sum(points, CUMULATIVE, is_monotonic=True)

    def _histogram(self, samples: Iterable[Any], now: int) -> Histogram:
        buckets: dict[tuple[tuple[str, str], ...], dict[float, float]] = defaultdict(dict)
        sums: dict[tuple[tuple[str, str], ...], float] = {}
        for sample in samples:
            labels = tuple((name, value) for name, value in sample.labels.items() if name != "le")
            if sample.name.endswith("_bucket"):
                buckets[labels][float(sample.labels["le"])] = sample.value
            elif sample.name.endswith("_sum"):
                sums[labels] = sample.value
        points = [self._point(labels, counts, sums[labels], now) for labels, counts in buckets.items()]
        return Histogram(points, CUMULATIVE)

    def _point(
        self, labels: tuple[tuple[str, str], ...], counts: dict[float, float], total: float, now: int
    ) -> HistogramDataPoint:
        """Prometheus counts everything up to a bound, OTLP what lies between two bounds."""
        bounds = sorted(counts)
        below = [0.0, *(counts[bound] for bound in bounds)]
        between = [int(upper - lower) for lower, upper in pairwise(below)]
        unknown: Any = None  # Prometheus keeps no extremes
        return HistogramDataPoint(
            attributes=dict(labels),
            start_time_unix_nano=self._began,
            time_unix_nano=now,
            count=sum(between),
            sum=total,
            bucket_counts=between,
            explicit_bounds=bounds[:-1],
            min=unknown,
            max=unknown,
        )


def _gauge(samples: Iterable[Any], now: int) -> Gauge:
    return Gauge([NumberDataPoint(sample.labels, 0, now, sample.value) for sample in samples])


def _interval() -> float:
    """Seconds between two reports."""
    try:
        return max(0.1, float(os.environ["OTEL_METRIC_EXPORT_INTERVAL"]) / 1000)
    except (KeyError, ValueError):
        return INTERVAL
