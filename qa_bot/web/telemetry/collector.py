"""Opens traces and metrics for a collector if one is configured; otherwise opentelemetry is not even loaded."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from qa_bot.home.config import Config, ConfigError
from qa_bot.web.metrics import Metrics

if TYPE_CHECKING:
    from qa_bot.web.telemetry.otlp_metrics import MetricsReporter
    from qa_bot.web.telemetry.tracing import Tracing

log = logging.getLogger(__name__)

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")
"""Standard environment variables that name a collector."""
MISSING = (
    "Expected OpenTelemetry, because %s names a collector, but it is not installed; run `pip install 'qa-bot[otel]'`."
)


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What goes to a collector; None for what is off."""

    tracing: Tracing | None = None
    reporter: MetricsReporter | None = None

    def close(self) -> None:
        """Send the rest."""
        closers: list[Callable[[], None]] = [part.close for part in (self.tracing, self.reporter) if part is not None]
        for close in closers:
            close()


def open_telemetry(config: Config, metrics: Metrics, environment: Mapping[str, str] = os.environ) -> Telemetry:
    """Traces and metrics for the collector that `[telemetry] endpoint` or an `OTEL_…` variable names, if any.

    Raises ConfigError if `[telemetry] endpoint` is not a URL, or is set and the extra `otel` is not installed.
    """
    endpoint, source = config.telemetry.endpoint, "[telemetry] endpoint"
    if endpoint:
        _expect_url(endpoint)
    else:
        source = next((name for name in ENDPOINTS if environment.get(name)), "")
    if not source or environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return Telemetry()
    try:
        from opentelemetry.sdk.resources import Resource

        from qa_bot.web.telemetry.otlp_metrics import MetricsReporter
        from qa_bot.web.telemetry.tracing import Tracing
    except ImportError:
        if endpoint:
            raise ConfigError(MISSING % source) from None
        log.warning(MISSING, source)
        return Telemetry()
    resource = Resource.create(_identity(config, environment))
    sample = config.telemetry.sample if "telemetry.sample" in config.origins else None
    off = {name for name in ("TRACES", "METRICS") if environment.get(f"OTEL_{name}_EXPORTER") == "none"}
    return Telemetry(
        None if "TRACES" in off else Tracing(resource, endpoint=endpoint, sample=sample),
        None if "METRICS" in off else MetricsReporter(metrics, resource, endpoint=endpoint),
    )


def _identity(config: Config, environment: Mapping[str, str]) -> dict[str, str]:
    """Name and version of the service; a name in the environment wins over the default one."""
    from qa_bot import __version__

    named = environment.get("OTEL_SERVICE_NAME") or "service.name=" in environment.get("OTEL_RESOURCE_ATTRIBUTES", "")
    is_default = "telemetry.service_name" not in config.origins
    name = {} if named and is_default else {"service.name": config.telemetry.service_name}
    return {**name, "service.version": __version__}


def _expect_url(endpoint: str) -> None:
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            f"Expected a URL such as http://localhost:4318 for telemetry.endpoint, but got {endpoint!r}; "
            "an empty one switches telemetry off."
        )
