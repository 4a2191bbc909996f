"""`GET /api/admin/health` of real services, its gauges, and writes on a full disk."""

from __future__ import annotations

import asyncio
import json
from threading import Event

import pytest

from qa_bot import __version__
from qa_bot.home.checks.last_backup import NOTE
from qa_bot.home.health import report as module
from qa_bot.web.api.admin import HEALTH
from qa_bot.web.api.admin_models import HealthReply
from qa_core.disk_space import DiskSpace

CATS = {"question": "Why do cats sleep all day?"}
PLENTY = DiskSpace(50 * 10**9, 100 * 10**9)


@pytest.fixture(autouse=True)
def plenty(monkeypatch) -> None:
    """The disk of the test machine does not affect the tests."""
    monkeypatch.setattr(module, "disk_space", lambda _: PLENTY)


@pytest.fixture
def current(monkeypatch) -> None:
    """Reports are not used again."""
    monkeypatch.setattr("qa_bot.web.api.admin.FRESH", 0.0)


def health(service, **options) -> HealthReply:
    reply = service.get("/api/admin/health", **options)
    assert reply.status == 200, reply.text
    return HealthReply.model_validate(reply.json)


def gauge(service, name: str) -> float:
    lines = service.get("/metrics").text.splitlines()
    (value,) = [line.split(" ")[1] for line in lines if line.startswith(f"qa_bot_{name} ")]
    return float(value)


def test_a_service_that_is_well(service) -> None:
    report = health(service)
    assert (report.status, report.state, report.problems) == ("ok", "ready", [])
    assert report.versions.qa_bot == __version__
    assert report.index.generation == service.bot.corridor().index.generation.number
    assert report.index.documents == service.bot.corridor().index.documents
    assert (report.queue.running, report.queue.waiting, report.queue.longest_wait) == (0, 0, 0.0)
    assert report.queue.limit == service.bot.config.serve.queue
    assert (report.disk.percent, report.disk.level) == (50.0, "ok")
    assert report.improving.progress is None
    assert report.backup is None
    assert gauge(service, "ready") == 1
    assert gauge(service, "health") == 0
    assert gauge(service, "index_generation") == report.index.generation
    assert gauge(service, "disk_free_percent") == 50
    assert gauge(service, "last_backup_timestamp_seconds") == 0


def test_only_with_the_token(serve) -> None:
    service = serve(token="secret")
    assert service.get("/api/admin/health").status == 401
    assert health(service, headers={"Authorization": "Bearer secret"}).state == "ready"


def test_a_new_generation_is_seen(current, serve, bot, qa_bot, tmp_path) -> None:
    service = serve()
    before = health(service)
    (tmp_path / "otters.txt").write_text("Otters hold hands while they sleep.")
    assert qa_bot("add", tmp_path / "otters.txt").code == 0
    after = health(service)
    assert after.index.generation == before.index.generation + 1
    assert after.index.documents == before.index.documents + 1
    (source,) = after.sources
    assert (source.kind, source.error) == ("file", "")
    assert source.age is not None
    assert gauge(service, "oldest_sync_timestamp_seconds") == pytest.approx(source.synced)
    assert gauge(service, "sources_failing") == 0


def test_the_queue_and_an_overload_are_told(current, serve, slow_bot) -> None:
    release = slow_bot.pauses["retrieve"] = Event()
    service = serve(slow_bot, workers=1, queue=1)

    async def overload() -> HealthReply:
        both = [asyncio.create_task(service.client.post("/api/ask", json=CATS)) for _ in range(2)]
        while not service.answers.queue_state().longest_wait:
            await asyncio.sleep(0.005)
        async with service.client.get("/api/admin/health") as reply:
            report = HealthReply.model_validate(await reply.json())
        release.set()
        for reply in await asyncio.gather(*both):
            reply.release()
        return report

    report = service.run(overload())
    assert (report.queue.running, report.queue.waiting, report.state) == (1, 1, "overloaded")
    assert report.queue.longest_wait > 0
    assert [problem.name for problem in report.problems] == ["queue"]
    assert health(service).status == "ok"


def test_the_last_backup_is_told(current, service) -> None:
    (service.bot.home.path / NOTE).write_text(json.dumps({"made": 1_000.0}))
    report = health(service)
    assert report.backup is not None
    assert (report.backup.time, report.status) == (1_000.0, "ok")
    assert gauge(service, "last_backup_timestamp_seconds") == 1000


def test_the_progress_of_better_vectors_is_told(service) -> None:
    service.answers.improved_share = lambda: 0.25
    assert health(service).improving.progress == 0.25


def test_a_store_that_cannot_be_read_is_an_error(current, service, monkeypatch) -> None:
    async def fail(_: object) -> None:
        raise RuntimeError("the database is gone")

    monkeypatch.setattr(service.answers, "store", fail)
    report = health(service)
    assert (report.status, report.sources) == ("error", [])
    assert [(problem.name, problem.detail) for problem in report.problems] == [("store", "the database is gone")]
    assert report.index.generation > 0


def test_a_full_disk_is_told_and_adding_is_refused_and_answering_goes_on(current, service, monkeypatch) -> None:
    for place in (module, __import__("qa_bot.home.folder", fromlist=["folder"])):
        monkeypatch.setattr(place, "disk_space", lambda _: DiskSpace(10**9, 100 * 10**9))
    monkeypatch.setenv("QA_BOT_DISK__REFUSE", "2")
    monkeypatch.setattr(service.bot, "config", service.bot.config)
    reply = service.post("/api/owner/answers", json={"question": "Who holds hands?", "answer": "Otters."})
    assert (reply.status, reply.json["error"]["code"]) == (507, "insufficient_storage")
    assert "make room, or lower disk.refuse" in reply.json["error"]["message"]
    assert str(service.bot.home.path) not in reply.text
    assert service.post("/api/ask", json=CATS).json["answered"]
    assert gauge(service, "disk_free_percent") == 1


def test_problems_are_logged_when_they_begin_and_end(current, service, monkeypatch, caplog) -> None:
    monkeypatch.setattr("qa_bot.web.api.admin.EVERY", 0.01)
    caplog.set_level("INFO", "qa_bot")
    watch = service.running.app[HEALTH]
    file = service.bot.home.path / NOTE

    def logged() -> list[list[str]]:
        return [record.fields["problems"] for record in caplog.records if record.getMessage() == "health"]

    async def begin() -> asyncio.Task[None]:
        return asyncio.create_task(watch.log_changes())

    task = service.run(begin())
    file.write_text("damaged")
    service.until(lambda: logged() == [["last-backup.json cannot be read; make a backup again."]])
    file.unlink()
    service.until(lambda: len(logged()) == 2)
    assert logged()[1] == []

    async def end() -> None:
        task.cancel()

    service.run(end())
