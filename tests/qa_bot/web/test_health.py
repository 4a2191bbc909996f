"""What an operator sees."""

from __future__ import annotations

from threading import Event

import pytest

CATS = {"question": "Why do cats sleep all day?"}


def test_alive_and_ready(service) -> None:
    assert (service.get("/livez").status, service.get("/livez").json) == (200, {"alive": True})
    assert (service.get("/readyz").status, service.get("/readyz").json) == (200, {"ready": True})
    assert service.request("HEAD", "/livez").status == 200


@pytest.mark.parametrize("reason", ["starting", "stopping", "overloaded"])
def test_readyz_gives_the_reason(serve, slow_bot, reason) -> None:
    service = serve(slow_bot, warm=reason != "starting", workers=1, queue=0)
    release = slow_bot.pauses["retrieve"] = Event()
    if reason == "stopping":
        service.answers.stopping = True
    if reason == "overloaded":
        asking = service.run(_begun(service))
        service.until(lambda: service.answers.overloaded)
    reply = service.get("/readyz")
    release.set()
    assert reply.status == 503
    assert (reply.json["ready"], reply.json["reason"], reply.headers["Retry-After"]) == (False, reason, "1")
    assert reply.json["error"].keys() == {"code", "message", "request_id"}
    assert service.get("/livez").status == 200
    if reason == "overloaded":
        service.run(_ended(asking))
        service.until(lambda: service.get("/readyz").status == 200)


def test_a_starting_service_answers(serve) -> None:
    service = serve(warm=False)
    assert service.post("/api/ask", json=CATS).json["sources"]


def test_metrics_count_requests_and_answers(service) -> None:
    answer = service.post("/api/ask", json=CATS).json
    service.get("/api/conversations/secret-id")
    service.get("/etc/passwd")
    reply = service.get("/metrics")
    assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = reply.text.splitlines()
    for line in (
        'qa_bot_requests_total{route="/api/ask",status="200"} 1.0',
        'qa_bot_requests_total{route="/api/conversations/{id}",status="404"} 1.0',
        'qa_bot_requests_total{route="unmatched",status="404"} 1.0',
        f'qa_bot_answers_total{{kind="{answer["kind"]}"}} 1.0',
        'qa_bot_stage_seconds_count{stage="rank"} 1.0',
        "qa_bot_questions_in_work 0.0",
        "qa_bot_questions_waiting 0.0",
        "qa_bot_open_sockets 0.0",
        f"qa_bot_abstentions_total {float(not answer['answered'])}",
    ):
        assert line in lines
    assert "secret-id" not in reply.text, "paths are not labels"
    assert "passwd" not in reply.text


async def _begun(service):
    import asyncio

    return asyncio.create_task(service.client.post("/api/ask", json=CATS))


async def _ended(task) -> None:
    async with await task:
        pass
