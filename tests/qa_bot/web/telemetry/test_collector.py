"""What a collector receives of requests, questions and stages, from real services."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from qa_bot.home.config import Config, ConfigError, load_config
from qa_bot.home.sections import TelemetrySection
from qa_bot.web.metrics import Metrics
from qa_bot.web.telemetry.collector import Telemetry, open_telemetry
from tests.qa_bot.web.telemetry.otlp_collector import PATIENCE, OtlpCollector, ReceivedSpan, otlp_collector

CATS = {"question": "Why do cats sleep all day?", "deadline": 60}
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
ERROR = 2


@pytest.fixture(autouse=True)
def only_own_variables(monkeypatch) -> None:
    """The machine's settings of OpenTelemetry do not affect these tests."""
    import os

    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "100")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    for module in ("tracing", "otlp_metrics"):
        monkeypatch.setattr(f"qa_bot.web.telemetry.{module}.CLOSING", PATIENCE)


@pytest.fixture
def collector() -> Iterator[OtlpCollector]:
    with otlp_collector() as opened:
        yield opened


@pytest.fixture
def traced(collector, slow_bot, serve):
    """A service whose telemetry goes to the collector; settings are those of `[telemetry]`."""

    def start(serving=None, **settings):
        telemetry = replace(slow_bot.config.telemetry, endpoint=collector.url, **settings)
        origins = {f"telemetry.{name}": "a test" for name in settings}
        slow_bot.config = replace(slow_bot.config, telemetry=telemetry, origins=origins)
        slow_bot.config = replace(slow_bot.config, serve=replace(slow_bot.config.serve, **(serving or {})))
        return serve(slow_bot)

    return start


def only(spans: list[ReceivedSpan]) -> ReceivedSpan:
    (span,) = spans
    return span


def test_a_question_makes_a_span_for_the_request_and_for_each_stage(traced, collector) -> None:
    service = traced()
    reply = service.post(
        "/api/ask", json={"question": "How long do cats sleep in a day?"}, headers={"X-Request-ID": "r-9"}
    )
    answer = reply.json
    collector.until(lambda: collector.named("POST /api/ask"))
    request = only(collector.named("POST /api/ask"))
    question = only(collector.below(request))
    stages = {span.name: span for span in collector.below(question)}

    assert request.parent == ""
    assert request.attributes == {
        "http.request.method": "POST",
        "http.route": "/api/ask",
        "http.response.status_code": 200,
        "qa_bot.request_id": "r-9",
    }
    assert question.name == "answer"
    assert question.attributes["qa_bot.turn"] == answer["id"]
    assert question.attributes["qa_bot.kind"] == answer["kind"]
    assert question.attributes["qa_bot.effort"] == "normal"
    assert question.attributes["qa_bot.sources"] == len(answer["sources"])
    assert stages.keys() >= {"queue", "formulate", "keyword", "dense", "rank", "verify", "decide"}
    assert {span.trace for span in collector.spans} == {request.trace}
    ranked = stages["rank"].attributes
    found_by_engines = [stages[name].attributes["qa_bot.candidates_out"] for name in ("keyword", "dense")]
    assert ranked["qa_bot.candidates_in"] == sum(found_by_engines) > 0
    assert ranked["qa_bot.candidates_out"] == stages["verify"].attributes["qa_bot.candidates_in"]
    assert 0 < stages["verify"].attributes["qa_bot.passages_read"] <= 5
    assert stages["decide"].attributes["qa_bot.verdict"] in ("passage", "fact")
    for span in stages.values():
        assert request.began - 10**9 <= span.began <= span.ended <= request.ended + 10**9
    assert collector.resource["service.name"] == "qa-bot"
    assert b"cats" not in collector.raw.lower(), "no text of a question without log_questions"


def test_the_text_of_a_question_is_traced_on_request(traced, collector) -> None:
    service = traced(serving={"log_questions": True})
    service.post("/api/ask", json=CATS)
    collector.until(lambda: collector.named("answer"))
    assert only(collector.named("answer")).attributes["qa_bot.question"] == CATS["question"]


def test_spans_continue_the_trace_of_the_client(traced, collector) -> None:
    service = traced()
    service.post("/api/search", json={"query": "cats"}, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
    collector.until(lambda: collector.named("POST /api/search"))
    request = only(collector.named("POST /api/search"))
    assert (request.trace, request.parent) == (TRACE, PARENT)
    assert only(collector.named("search")).trace == TRACE


@pytest.mark.parametrize("header", ["", "00", f"00-{TRACE}-{PARENT}", f"00-{'0' * 32}-{PARENT}-01", "ä\udcff" * 50])
def test_an_invalid_traceparent_begins_a_new_trace(traced, collector, header) -> None:
    service = traced()
    sent = header.encode("utf-8", "replace").decode("latin-1")
    assert service.get("/api/conversations", headers={"traceparent": sent}).status == 200
    collector.until(lambda: collector.spans)
    assert only(collector.spans).parent == ""


def test_a_client_can_leave_its_request_untraced(traced, collector) -> None:
    service = traced()
    service.get("/api/conversations", headers={"traceparent": f"00-{TRACE}-{PARENT}-00"})
    service.get("/api/owner/gaps")
    collector.until(lambda: collector.spans)
    assert only(collector.spans).name == "GET /api/owner/gaps"


def test_questions_over_a_websocket_have_their_own_spans(traced, collector, talk) -> None:
    service = traced()

    async def chat() -> None:
        async with talk(service, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"}) as client:
            await client.say("hello")
            await client.until("ready")
            await client.ask(CATS["question"])

    service.run(chat())
    collector.until(lambda: collector.named("answer"))
    question = only(collector.named("answer"))
    assert (question.trace, question.parent) == (TRACE, PARENT)
    assert collector.named("GET /ws") == []


def test_skipped_stages_say_why(traced, collector, slow_bot) -> None:
    slow_bot.pauses["rank"] = 30.0
    service = traced()
    service.post("/api/ask", json={**CATS, "deadline": 0.05})
    collector.until(lambda: collector.named("answer"))
    assert only(collector.named("rank")).attributes["qa_bot.skipped"] in ("deadline", "overran")
    assert "rank" in only(collector.named("answer")).attributes["qa_bot.skipped"]


def test_errors_are_marked_without_their_message(traced, collector, slow_bot, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the secret plan")

    service = traced()
    monkeypatch.setattr(slow_bot, "ask", fail)
    assert service.post("/api/ask", json=CATS).status == 500
    collector.until(lambda: collector.named("POST /api/ask"))
    assert only(collector.named("POST /api/ask")).status == ERROR
    question = only(collector.named("answer"))
    assert (question.status, question.attributes["error.type"]) == (ERROR, "RuntimeError")
    assert b"secret plan" not in collector.raw


def test_probes_and_unknown_paths(traced, collector) -> None:
    service = traced()
    for path in ("/livez", "/readyz", "/metrics", "/api/secret-thing"):
        service.get(path)
    collector.until(lambda: collector.spans)
    assert only(collector.spans).attributes["http.route"] == "unmatched"
    assert b"secret-thing" not in collector.raw


def test_no_request_is_traced_at_a_share_of_zero(traced, collector) -> None:
    service = traced(sample=0.0)
    service.get("/api/conversations")
    service.get("/api/conversations", headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
    collector.until(lambda: collector.spans)
    assert only(collector.spans).trace == TRACE, "only the one that the client chose"


def test_the_collector_receives_the_metrics_of_prometheus(traced, collector) -> None:
    service = traced(service_name="handbook")
    answer = service.post("/api/ask", json=CATS).json
    collector.until(lambda: collector.metrics.get("qa_bot_answers"))
    assert [(point.attributes, point.value) for point in collector.metrics["qa_bot_answers"]] == [
        ({"kind": answer["kind"]}, 1.0)
    ]
    collector.until(lambda: collector.metrics.get("qa_bot_request_seconds"))
    histogram = collector.metrics["qa_bot_request_seconds"][0]
    assert (histogram.attributes, sum(histogram.value)) == ({"route": "/api/ask"}, 1)
    families = {family.name for family in service.metrics.families() if any(True for _ in family.samples)}
    collector.until(lambda: collector.metrics.keys() >= families)
    collector.until(lambda: collector.resource)
    assert collector.resource["service.name"] == "handbook"


def test_the_rest_is_sent_when_the_service_stops(collector, monkeypatch) -> None:
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "3600000")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
    config = replace(Config(), telemetry=TelemetrySection(endpoint=collector.url))
    telemetry = open_telemetry(config, Metrics())
    assert telemetry.tracing is not None
    with telemetry.tracing.request({}, "GET", "/", "r-1"):
        pass
    assert collector.spans == []
    telemetry.close()
    assert only(collector.spans).name == "GET /"
    assert "qa_bot_open_sockets" in collector.metrics


def test_a_service_without_its_collector_answers_and_stops(slow_bot, serve, monkeypatch, caplog) -> None:
    from tests.qa_bot.web.conftest import free_port

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.2")
    caplog.set_level(logging.CRITICAL, "opentelemetry")
    telemetry = TelemetrySection(endpoint=f"http://127.0.0.1:{free_port()}")
    slow_bot.config = replace(slow_bot.config, telemetry=telemetry)
    assert serve(slow_bot).post("/api/ask", json=CATS).status == 200


# --- configuration --------------------------------------------------------------------------------------------------


def test_nothing_is_loaded_without_a_collector(tmp_path) -> None:
    code = (
        "import sys\nfrom qa_bot.home.config import Config\nfrom qa_bot.web.metrics import Metrics\n"
        "import qa_bot.web.server\nfrom qa_bot.web.telemetry.collector import Telemetry, open_telemetry\n"
        "assert open_telemetry(Config(), Metrics()) == Telemetry()\n"
        "assert 'opentelemetry' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("environment", "parts"),
    [
        ({}, (False, False)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "URL"}, (True, True)),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "URL/v1/traces", "OTEL_METRICS_EXPORTER": "none"}, (True, False)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_TRACES_EXPORTER": "none"}, (False, True)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_SDK_DISABLED": "true"}, (False, False)),
    ],
)
def test_standard_variables_switch_it_on_and_off(collector, monkeypatch, environment, parts) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value.replace("URL", collector.url))
    telemetry = open_telemetry(Config(), Metrics())
    try:
        assert (telemetry.tracing is not None, telemetry.reporter is not None) == parts
    finally:
        telemetry.close()


def test_standard_variables_name_the_service_and_authorise_it(collector, monkeypatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20key")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "desk")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
    telemetry = open_telemetry(Config(), Metrics())
    assert telemetry.tracing is not None
    with telemetry.tracing.request({}, "GET", "/", "r-1"):
        pass
    telemetry.close()
    assert collector.resource["service.name"] == "desk"
    assert collector.resource["deployment.environment"] == "test"
    assert collector.headers[0]["authorization"] == "Bearer key"


@pytest.mark.parametrize("endpoint", ["localhost:4318", "ftp://collector", "http://", "collector"])
def test_an_endpoint_must_be_a_url(endpoint) -> None:
    with pytest.raises(ConfigError, match=r"Expected a URL such as http://localhost:4318 for telemetry.endpoint"):
        open_telemetry(replace(Config(), telemetry=TelemetrySection(endpoint=endpoint)), Metrics())


def test_without_the_extra_a_configured_collector_is_an_error(monkeypatch, caplog) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    configured = replace(Config(), telemetry=TelemetrySection(endpoint="http://127.0.0.1:4318"))
    with pytest.raises(ConfigError, match=r"pip install 'qa-bot\[otel\]'"):
        open_telemetry(configured, Metrics())
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
    assert open_telemetry(Config(), Metrics(), variables) == Telemetry()
    assert "qa-bot[otel]" in caplog.text


def test_the_section_is_configured_like_any_other(tmp_path) -> None:
    (tmp_path / "qa-bot.toml").write_text('[telemetry]\nendpoint = "http://127.0.0.1:4318"\nsample = 0.25\n')
    config = load_config(tmp_path, environment={"QA_BOT_TELEMETRY__SERVICE_NAME": "desk"})
    assert config.telemetry == TelemetrySection("http://127.0.0.1:4318", "desk", 0.25)
    with pytest.raises(ConfigError, match=r"telemetry.sample"):
        load_config(tmp_path, environment={"QA_BOT_TELEMETRY__SAMPLE": "2"})


def test_the_hash_of_a_resource_is_made_once(monkeypatch) -> None:
    from opentelemetry.sdk.resources import Resource

    from qa_bot.web.telemetry.tracing import HashedResource

    resource = Resource.create({"service.name": "qa-bot"})
    hashed = HashedResource(resource)
    assert (hashed, hash(hashed)) == (resource, hash(resource))
    monkeypatch.setattr(Resource, "__hash__", None)
    assert {hashed: 1}[hashed] == 1
