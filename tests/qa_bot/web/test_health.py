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


@pytest.mark.parametrize("damage", ["overwritten", "emptied", "removed"])
def test_readyz_is_true_to_the_store(service, bot, caplog, damage) -> None:
    """Also for connections that are open and would answer from their cache."""
    assert service.post("/api/ask", json=CATS).status == 200
    assert service.get("/readyz").status == 200
    store = bot.home.path / "store.sqlite"
    whole = {path: path.read_bytes() for path in bot.home.path.glob("store.sqlite*")}
    if damage == "removed":
        store.unlink()
    else:
        store.write_bytes(b"no database" * 1000 if damage == "overwritten" else b"")
        for path in whole.keys() - {store}:
            path.unlink()
    replies = [service.get("/readyz") for _ in range(2)]
    assert [(reply.status, reply.json["reason"]) for reply in replies] == [(503, "store")] * 2
    assert str(bot.home.path) not in replies[0].text, "paths are for the log"
    assert caplog.text.count("The store cannot be used") == 1
    assert service.get("/livez").status == 200
    assert service.post("/api/ask", json=CATS).status == 200, "answers need no store"


def test_a_damaged_store_is_no_failure_of_the_service(service, bot, caplog) -> None:
    turn = service.post("/api/ask", json=CATS).json["id"]
    assert service.get("/readyz").status == 200
    for path in bot.home.path.glob("store.sqlite*"):
        path.write_bytes(b"no database" * 1000)
    vote = {"id": turn, "vote": "up", "comment": "a private remark"}
    replies = [service.get("/api/conversations"), service.post("/api/feedback", json=vote)]
    assert [(reply.status, reply.json["error"]["code"]) for reply in replies] == [(503, "unavailable")] * 2
    assert all("Retry-After" in reply.headers for reply in replies)
    assert caplog.text.count("The store cannot be used") == 1
    assert "Traceback" not in caplog.text
    assert "a private remark" not in caplog.text


def test_readyz_recovers_with_the_store(service, bot, monkeypatch) -> None:
    from qa_bot.home.store import StoreError

    def fail() -> None:
        raise StoreError("Expected a server, but got none.")

    service.run(service.answers.store(lambda _: None))
    monkeypatch.setattr(bot.store.integrity, "probe", fail)
    assert service.get("/readyz").json["reason"] == "store"
    monkeypatch.undo()
    assert service.get("/readyz").status == 200


def test_readyz_does_not_wait_for_a_store_that_hangs(service, bot, monkeypatch) -> None:
    release = Event()
    service.run(service.answers.store(lambda _: None))
    monkeypatch.setattr(bot.store.integrity, "probe", lambda: release.wait(30))
    monkeypatch.setattr("qa_bot.web.service.PROBE", 0.05)
    replies = [service.get("/readyz") for _ in range(5)]
    assert [reply.json["reason"] for reply in replies] == ["store"] * 5
    assert service.answers._bookkeepers._work_queue.qsize() == 0, "one attempt hangs, no others wait"
    release.set()
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
