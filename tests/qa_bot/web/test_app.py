"""The layers around every handler: ids, log lines, counters, and errors of one shape."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import socket

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from qa_bot.answering.events import StageBegun
from qa_bot.home.sections import ServeSection
from qa_bot.web.api import sse
from qa_bot.web.app import BODY, make_app
from qa_bot.web.errors import CODES, ServiceError
from qa_bot.web.logs import AsJson, AsLine, configure, event, note, serving
from qa_bot.web.metrics import Metrics
from qa_bot.web.service import AnswerService

CATS = {"question": "Why do cats sleep all day?"}


def lines(out: io.StringIO, name: str = "") -> list[dict]:
    matches = [json.loads(line) for line in out.getvalue().splitlines()]
    return [line for line in matches if name in ("", line["event"])]


def post(bot, handler, *, path: str = "/try", **options):
    """Status, headers and body of a POST to a handler behind all layers."""

    async def call():
        service = AnswerService(bot, Metrics(), workers=1, queue=0)
        app = make_app(service, Metrics(), ServeSection(port=0))
        app.router.add_post("/try", handler)
        try:
            server = TestServer(app, handler_cancellation=True)
            async with TestClient(server) as client, client.post(path, **options) as reply:
                return reply.status, reply.headers, await reply.read()
        finally:
            await service.close()

    return asyncio.run(call())


# --- request ids ----------------------------------------------------------------------------------------------------


def test_a_sane_request_id_is_kept(service) -> None:
    reply = service.get("/nothing", headers={"X-Request-ID": "trace-1:a.b_C"})
    assert reply.headers["X-Request-ID"] == reply.json["error"]["request_id"] == "trace-1:a.b_C"


@pytest.mark.parametrize("identifier", ["", "a b", "x" * 65, 'a"b', "ä", "<script>"])
def test_another_request_id_is_replaced(bot, identifier) -> None:
    async def handler(_: web.Request) -> web.Response:
        raise ServiceError(404, "no")

    _, headers, body = post(bot, handler, headers={"X-Request-ID": identifier})
    made = headers["X-Request-ID"]
    assert made != identifier
    assert made == json.loads(body)["error"]["request_id"]
    assert len(made) == 32


def test_streams_carry_the_id_and_the_safe_headers(bot) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Cache-Control": "max-age=1"})
        await stream.prepare(request)
        await stream.write(b"x")
        return stream

    _, headers, body = post(bot, handler, headers={"X-Request-ID": "mine"})
    assert (headers["X-Request-ID"], headers["X-Content-Type-Options"], body) == ("mine", "nosniff", b"x")
    assert headers["Cache-Control"] == "max-age=1", "a handler's own word stands"


# --- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", CODES)
def test_every_error_has_the_one_shape(bot, status) -> None:
    async def handler(_: web.Request) -> web.Response:
        raise ServiceError(status, "what is wrong", retry_after=1.2)

    got, headers, body = post(bot, handler)
    assert got == status
    assert json.loads(body) == {
        "error": {"code": CODES[status], "message": "what is wrong", "request_id": headers["X-Request-ID"]}
    }
    assert headers.get("Retry-After") == (None if status in (401, 426) else "2")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (web.HTTPBadRequest(text="bad"), 400, "bad_request"),
        (web.HTTPRequestEntityTooLarge(1), 413, "too_large"),
        (web.HTTPUnsupportedMediaType(), 415, "unsupported_media_type"),
        (web.HTTPUpgradeRequired(), 426, "upgrade_required"),
        (web.HTTPBadGateway(), 500, "internal"),
        (web.HTTPServiceUnavailable(), 503, "overloaded"),
    ],
)
def test_errors_of_the_library_get_the_one_shape(bot, error, status, code) -> None:
    async def handler(_: web.Request) -> web.Response:
        raise error

    got, _, body = post(bot, handler)
    assert (got, json.loads(body)["error"]["code"]) == (status, code)


def test_a_redirection_is_no_error(bot) -> None:
    async def handler(_: web.Request) -> web.Response:
        raise web.HTTPFound("/elsewhere")

    assert post(bot, handler, allow_redirects=False)[0] == 302


def test_internal_errors_are_logged_and_hidden(bot, logged) -> None:
    async def handler(_: web.Request) -> web.Response:
        raise RuntimeError("the secret plan")

    status, headers, body = post(bot, handler)
    assert status == 500
    assert b"secret" not in body
    (line,) = lines(logged, "log")
    assert "RuntimeError: the secret plan" in line["trace"]
    assert line["request_id"] == headers["X-Request-ID"]
    assert lines(logged, "request")[0]["status"] == 500


def test_a_stream_that_fails_is_cut_and_not_mended(bot, logged) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        await stream.write(b"half")
        raise RuntimeError("now of all times")

    with pytest.raises(Exception, match=r"(?i)payload|disconnect|not completed"):
        post(bot, handler)
    assert "now of all times" in lines(logged, "log")[0]["trace"]


def test_paths_and_methods_that_are_not_there(service) -> None:
    reply = service.get("/nothing")
    assert (reply.status, reply.json["error"]["code"]) == (404, "not_found")
    reply = service.get("/api/ask")
    assert (reply.status, reply.json["error"]["code"]) == (405, "method_not_allowed")
    assert reply.headers["Allow"] == "POST"


def test_a_body_that_is_too_long_is_refused(service) -> None:
    reply = service.post("/api/ask", data=io.BytesIO(b" " * (BODY + 1)), headers={"Content-Type": "application/json"})
    assert (reply.status, reply.json["error"]["code"]) == (413, "too_large")


def test_a_body_that_unpacks_to_too_much_is_refused(service) -> None:
    import zlib

    bomb = zlib.compress(b" " * (20 * BODY))
    headers = {"Content-Type": "application/json", "Content-Encoding": "deflate"}
    assert service.post("/api/ask", data=bomb, headers=headers).status == 413


def test_a_body_that_does_not_come_is_not_waited_for(service, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.web.api.json_bodies.SECONDS", 0.1)
    port = service.running.settings.port
    head = f"POST /api/ask HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", port)) as raw:
        raw.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        reply = raw.recv(4096)
    assert reply.startswith(b"HTTP/1.1 400 ")
    assert b"only a part" in reply


def test_malformed_http_is_logged_without_traceback(service, logged) -> None:
    sent = (
        b"hello\r\n\r\n",
        b"\x16\x03\x01\x00\xa5\x01\x00",
        b"GET /" + b"x" * 80_000 + b" HTTP/1.1\r\n\r\n",
        b"\0" * 99,
    )
    for item in sent:
        with socket.create_connection(("127.0.0.1", service.running.settings.port)) as raw:
            raw.sendall(item)
            assert raw.recv(100).startswith(b"HTTP/1.")
    service.until(lambda: len(lines(logged, "refused")) == len(sent))
    assert {line["status"] for line in lines(logged, "refused")} <= {400, 414}
    assert "trace" not in logged.getvalue()
    assert service.get("/livez").status == 200


# --- log lines ------------------------------------------------------------------------------------------------------


def test_a_question_leaves_two_lines_without_its_text(service, logged) -> None:
    reply = service.post("/api/ask", json=CATS, headers={"X-Request-ID": "r1"})
    service.until(lambda: lines(logged, "request"))
    (answer,), (request,) = lines(logged, "answer"), lines(logged, "request")
    assert answer["turn"] == reply.json["id"]
    assert answer["request_id"] == request["request_id"] == "r1"
    assert answer["kind"] == request["answer"] == reply.json["kind"]
    assert (request["method"], request["route"], request["status"]) == ("POST", "/api/ask", 200)
    assert 0 < request["seconds"] < 30
    assert request.keys() >= {"time", "level", "event"}
    assert "cats" not in logged.getvalue().lower()


def test_the_text_is_logged_on_request(home, serve, logged) -> None:
    from qa_bot import Bot

    with Bot.open(home, flags={"serve.log_questions": True}) as bot:
        service = serve(bot)
        service.post("/api/ask", json=CATS)
        service.run(asyncio.sleep(0))
        assert lines(logged, "answer")[0]["question"] == CATS["question"]


def test_a_client_that_disconnects_stops_its_work_and_is_logged(serve, slow_bot, logged) -> None:
    slow_bot.pauses["rank"] = 20.0
    service = serve(slow_bot)
    port = service.running.settings.port
    body = json.dumps(CATS).encode()
    with socket.create_connection(("127.0.0.1", port)) as raw:
        head = f"POST /api/ask HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n"
        raw.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        service.until(lambda: slow_bot.begun)
    service.until(lambda: slow_bot.cancelled, "the cancellation")
    service.until(lambda: lines(logged, "request"))
    assert lines(logged, "request")[0]["status"] == 499
    assert not service.answers.busy


def test_a_client_that_leaves_after_the_end_of_a_stream_was_answered(bot, logged) -> None:
    async def items():
        yield StageBegun("rank")

    async def handler(request: web.Request) -> web.StreamResponse:
        stream = await sse.send(request, items(), lambda item: [b"x"])
        await asyncio.sleep(20)  # work that remains when the client closes the connection
        return stream

    assert post(bot, handler)[::2] == (200, b"x")
    assert lines(logged, "request")[0]["status"] == 200


def test_probes_are_quiet(service, logged) -> None:
    service.get("/livez")
    service.get("/metrics")
    service.until(lambda: len(lines(logged, "request")) == 2)
    assert [line["level"] for line in lines(logged, "request")] == ["debug", "info"]


def test_a_line_for_people_cannot_be_forged() -> None:
    record = logging.LogRecord("qa_bot", logging.INFO, "", 0, "request", None, None)
    record.fields = {"route": "/api/ask", "said": 'x"\nERROR all is lost', "none": None}
    line = AsLine().format(record)
    assert line.endswith(" INFO request route=/api/ask said='x\"\\nERROR all is lost' none=None")
    assert "\n" not in line
    assert json.loads(AsJson().format(record))["said"] == 'x"\nERROR all is lost'


def test_events_know_their_request(logged) -> None:
    log = logging.getLogger("qa_bot.test")
    note(lost=True)
    event(log, "outside")
    with serving("r7") as served:
        note(answer="passage")
        event(log, "inside", seen=1)
        log.warning("a word about %s", "something")
    assert served.fields == {"answer": "passage"}
    outside, inside, word = lines(logged)
    assert "request_id" not in outside
    assert (inside["request_id"], inside["seen"]) == ("r7", 1)
    assert (word["event"], word["message"], word["request_id"]) == ("log", "a word about something", "r7")


def test_logs_are_json_unless_a_person_reads_them(monkeypatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    root, ours = logging.getLogger(), logging.getLogger("qa_bot")
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(ours, "level", ours.level)
    monkeypatch.setattr(root, "level", root.level)
    for stream, begin in ((io.StringIO(), '{"time"'), (Terminal(), "")):
        configure(stream)
        event(logging.getLogger("qa_bot.test"), "hello", who="you")
        assert stream.getvalue().startswith(begin)
        assert "hello" in stream.getvalue()
    assert "INFO hello who=you" in stream.getvalue()
