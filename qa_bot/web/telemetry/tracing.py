"""Traces: a span for each request, each question in it, and each stage of a question; sent in batches by a thread.

    POST /api/ask                  server span, continues the client's `traceparent`
      answer                       the question
        queue, formulate, keyword, dense, rank, verify, decide, compose, …

This file and `otlp_metrics.py` are the only ones that import opentelemetry; they are loaded if a collector is
configured. The environment variables `OTEL_…` of OpenTelemetry apply to what the configuration does not set.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry.context import Context, attach, detach
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Span, SpanContext, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from qa_bot.answering.observation.stage_log import StageLog

SCOPE = "qa_bot"
"""Name of the instrumentation scope, and prefix of attributes."""
CLOSING = 5.0
"""Seconds in which the last spans may be sent when the service stops."""
NANOSECONDS = 1e9

Attribute = str | int | float | bool | list[str]


class HashedResource(Resource):
    """A resource that is hashed once; the exporter looks it up for each span, which was a third of its work."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(resource.attributes, resource.schema_url)
        self._hash = super().__hash__()

    def __hash__(self) -> int:
        return self._hash


class RequestSpan:
    """The span of one request."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def replied(self, status: int) -> None:
        """Note the status of the reply; from 500 on the span is an error."""
        self._span.set_attribute("http.response.status_code", status)
        if status >= 500:
            self._span.set_status(Status(StatusCode.ERROR))


class QuestionSpan:
    """The span of one question or search."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def describe(self, attributes: Mapping[str, Attribute]) -> None:
        self._span.set_attributes(dict(attributes))


class Tracing:
    """Makes the spans of one service and sends them to a collector."""

    def __init__(self, resource: Resource, *, endpoint: str = "", sample: float | None = None) -> None:
        """
        Args:
            endpoint: URL of the collector, without the path of traces; empty: from the environment.
            sample: share of the traces that are sent; None: from the environment. A client's own choice stands.
        """
        sampler = None if sample is None else ParentBased(TraceIdRatioBased(sample))
        self._resource = HashedResource(resource)
        self._provider = TracerProvider(sampler=sampler, resource=self._resource, shutdown_on_exit=False)
        url = f"{endpoint.rstrip('/')}/v1/traces" if endpoint else None
        self._processor = BatchSpanProcessor(OTLPSpanExporter(endpoint=url))
        self._provider.add_span_processor(self._processor)
        self._scope = InstrumentationScope(SCOPE)
        self._tracer = self._provider.get_tracer(SCOPE)
        self._remote = TraceContextTextMapPropagator()

    @contextmanager
    def continued(self, headers: Mapping[str, str]) -> Iterator[None]:
        """Continue the client's trace without a span, as for a WebSocket, which may stay open for hours."""
        token = attach(self._remote.extract(headers))
        try:
            yield
        finally:
            detach(token)

    @contextmanager
    def request(self, headers: Mapping[str, str], method: str, route: str, request_id: str) -> Iterator[RequestSpan]:
        """The span of a request; `route` is the pattern of the path, never the path itself."""
        attributes = {"http.request.method": method, "http.route": route, "qa_bot.request_id": request_id}
        context = self._remote.extract(headers)
        span = self._tracer.start_span(f"{method} {route}", context, SpanKind.SERVER, attributes)
        with _current(span, context):  # it records no exception: its message may quote a question
            yield RequestSpan(span)

    @contextmanager
    def question(self, name: str, stages: StageLog) -> Iterator[QuestionSpan]:
        """The span of a question, with a span below it for each of its `stages` when it ends."""
        offset = time.time() - time.monotonic()
        span = self._tracer.start_span(name)
        with _current(span):
            try:
                yield QuestionSpan(span)
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR))
                span.set_attribute("error.type", type(error).__name__)
                raise
            finally:
                if span.is_recording():
                    self._trace_stages(span, stages, offset)

    def flush(self) -> None:
        """Send all ended spans now."""
        self._provider.force_flush()

    def close(self) -> None:
        """Send the remaining spans, within `CLOSING` seconds; those that no collector accepts by then are lost."""
        closing = threading.Thread(target=self._provider.shutdown, name="close traces", daemon=True)
        closing.start()
        closing.join(CLOSING)

    def _trace_stages(self, question: Span, stages: StageLog, offset: float) -> None:
        """End a span for each stage; they are made in one piece, in a third of the time of `start_span`.

        Args: `offset` is the difference between the time since 1970 and the monotonic clock in seconds.
        """
        parent = question.get_span_context()
        for stage in stages.stages:
            began = stage.began + offset
            attributes: dict[str, Any] = {f"qa_bot.{name}": count for name, count in stage.counts.items()}
            if stage.skipped is not None:
                attributes["qa_bot.skipped"] = stage.skipped
            span_id = self._provider.id_generator.generate_span_id()
            self._processor.on_end(
                ReadableSpan(
                    stage.name,
                    context=SpanContext(parent.trace_id, span_id, is_remote=False, trace_flags=parent.trace_flags),
                    parent=parent,
                    resource=self._resource,
                    attributes=attributes,
                    start_time=int(began * NANOSECONDS),
                    end_time=int((began + stage.seconds) * NANOSECONDS),
                    instrumentation_scope=self._scope,
                )
            )


@contextmanager
def _current(span: Span, context: Context | None = None) -> Iterator[None]:
    """Make a span the current one until it ends; `start_as_current_span` also does what exceptions need."""
    token = attach(set_span_in_context(span, context))
    try:
        yield
    finally:
        detach(token)
        span.end()
