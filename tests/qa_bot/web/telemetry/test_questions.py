"""Log lines of questions: ids through all threads, and the stages of slow questions."""

from __future__ import annotations

import io
import json
import logging
from dataclasses import replace

import pytest

from qa_bot.answering.deadline import Deadline
from qa_bot.web.logs import AsJson, AsLine, configure

CATS = {"question": "Why do cats sleep all day?"}


def lines(out: io.StringIO, name: str) -> list[dict]:
    return [line for line in map(json.loads, out.getvalue().splitlines()) if line["event"] == name]


def configured(bot, **settings) -> None:
    """Change `[serve]` of an open bot."""
    bot.config = replace(bot.config, serve=replace(bot.config.serve, **settings))


def test_lines_of_answering_threads_have_the_request_id(service, logged, monkeypatch) -> None:
    corridor = service.bot.corridor()
    decide = corridor.decide

    def warn(*arguments):
        logging.getLogger("qa_bot.answering").warning("a word of a stage")
        return decide(*arguments)

    def log_in_thread(deadline: Deadline) -> None:
        logging.getLogger("qa_bot.answering").warning("a word of a stage's thread")

    def search(*arguments, **options):
        arguments[-1].run("extra", log_in_thread, None)
        return ranked(*arguments, **options)

    ranked = corridor.rank
    monkeypatch.setattr(corridor, "decide", warn)
    monkeypatch.setattr(corridor, "rank", search)
    service.post("/api/ask", json=CATS, headers={"X-Request-ID": "r-1"})
    service.until(lambda: lines(logged, "request"))
    words = {line["message"]: line.get("request_id") for line in lines(logged, "log")}
    assert words == {"a word of a stage": "r-1", "a word of a stage's thread": "r-1"}
    assert [line["request_id"] for line in lines(logged, "answer")] == ["r-1"]


def test_lines_about_the_store_have_the_request_id(service, logged) -> None:
    service.run(service.answers.store(lambda _: None))
    logging_store = service.bot.store

    async def ask_store() -> None:
        from qa_bot.web.logs import serving

        with serving("r-2"):
            await service.answers.store(lambda _: logging.getLogger("qa_bot.home").warning("a word of the store"))

    service.run(ask_store())
    assert logging_store is service.bot.store
    assert [line["request_id"] for line in lines(logged, "log")] == ["r-2"]


def test_a_slow_question_is_logged_with_its_stages_and_without_its_text(serve, slow_bot, logged) -> None:
    slow_bot.pauses["retrieve"] = 0.02
    configured(slow_bot, slow_seconds=0.01)
    service = serve(slow_bot)
    answer = service.post("/api/ask", json={**CATS, "deadline": 60}, headers={"X-Request-ID": "slow-1"}).json
    (line,) = lines(logged, "slow_question")
    assert (line["level"], line["request_id"], line["turn"]) == ("warning", "slow-1", answer["id"])
    assert line["seconds"] >= 0.02
    assert {"queue", "formulate", "keyword", "rank", "decide"} <= line["stages"].keys()
    assert line["skipped"] == {}
    assert "cats" not in json.dumps(line)
    assert 'qa_bot_slow_questions_total{work="answer"} 1.0' in service.get("/metrics").text


def test_a_slow_question_is_logged_with_its_text_on_request(serve, slow_bot, logged) -> None:
    slow_bot.pauses["retrieve"] = 0.02
    configured(slow_bot, slow_seconds=0.01, log_questions=True)
    service = serve(slow_bot)
    service.post("/api/ask", json=CATS)
    service.post("/api/search", json={"query": "naps"})
    first, *_ = lines(logged, "slow_question")
    assert first["question"] == CATS["question"]


def test_skipped_stages_are_named_with_their_reason(serve, slow_bot, logged) -> None:
    slow_bot.pauses["rank"] = 30.0
    configured(slow_bot, slow_seconds=0.01)
    service = serve(slow_bot)
    service.post("/api/ask", json={**CATS, "deadline": 0.05})
    (line,) = lines(logged, "slow_question")
    assert set(line["skipped"].values()) <= {"deadline", "overran"}
    assert "rank" in line["skipped"]


@pytest.mark.parametrize("limit", [0.0, 60.0])
def test_quick_questions_are_not_logged_as_slow(serve, slow_bot, logged, limit) -> None:
    configured(slow_bot, slow_seconds=limit)
    service = serve(slow_bot)
    service.post("/api/ask", json=CATS)
    assert lines(logged, "answer")
    assert lines(logged, "slow_question") == []


def test_the_queue_tells_its_longest_wait(serve, slow_bot) -> None:
    from threading import Event

    release = slow_bot.pauses["retrieve"] = Event()
    service = serve(slow_bot, workers=1)
    assert service.answers.longest_wait() == 0.0

    async def ask_twice() -> None:
        import asyncio

        both = [asyncio.create_task(service.client.post("/api/ask", json=CATS)) for _ in range(2)]
        while not service.answers.longest_wait():
            await asyncio.sleep(0.005)
        release.set()
        for reply in await asyncio.gather(*both):
            reply.release()

    service.run(ask_twice())
    assert service.answers.longest_wait() == 0.0


def record(message: str, *arguments: object, error: Exception | None = None) -> logging.LogRecord:
    trace = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("qa_bot", logging.WARNING, "", 0, message, arguments, trace)


def test_no_message_can_forge_a_line_of_text() -> None:
    line = AsLine().format(record("a file named %s", "x\n12:00:00 ERROR lost\x1b[2J\u2028y\udcff"))
    assert line.isprintable()
    assert line.endswith("x\\n12:00:00 ERROR lost\\x1b[2J\\u2028y\\udcff")


def test_lines_of_a_traceback_are_indented() -> None:
    try:
        raise ValueError("first\n12:00:00 ERROR forged")
    except ValueError as error:
        text = AsLine().format(record("failed", error=error))
    first, *rest = text.split("\n")
    assert first.endswith("WARNING failed")
    assert rest
    assert all(line.startswith("    ") for line in rest)


def test_any_message_is_one_json_object_a_line() -> None:
    text = AsJson().format(record("a file named %s", "x\nERROR\x1b\udcff"))
    assert "\n" not in text
    assert json.loads(text)["message"] == "a file named x\nERROR\x1b\udcff"
    (entry,) = map(json.loads, AsJson().format(record("n", error=ValueError("a\nb"))).splitlines())
    assert (entry["level"], entry["trace"]) == ("warning", "ValueError: a\nb")


@pytest.mark.parametrize(("log_format", "is_json"), [("auto", True), ("json", True), ("text", False)])
def test_the_format_is_configured(monkeypatch, log_format, is_json) -> None:
    root, ours, out = logging.getLogger(), logging.getLogger("qa_bot"), io.StringIO()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)
    monkeypatch.setattr(ours, "level", ours.level)
    configure(out, log_format=log_format)
    logging.getLogger("qa_bot.test").warning("hello")
    assert out.getvalue().startswith("{") is is_json
