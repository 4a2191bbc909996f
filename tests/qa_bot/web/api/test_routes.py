"""The JSON routes, each over a real service: what they give, and what they say to what they cannot use."""

from __future__ import annotations

import asyncio
import gzip
import socket
from io import BytesIO
from threading import Event
from urllib.parse import urlsplit

import pytest

from qa_bot.answering.answer_json import as_dict
from qa_bot.home.journal import open_store
from qa_bot.home.store import StoreError
from qa_bot.web.api.models import (
    AskReply,
    ConversationReply,
    ConversationsReply,
    FeedbackReply,
    SearchReply,
    WholeConversationReply,
)

CATS = "Why do cats sleep all day?"
NONSENSE = "zxqv wprt"
JSON = {"Content-Type": "application/json"}


def ask(service, **fields):
    reply = service.post("/api/ask", json={"question": CATS, **fields})
    assert reply.status == 200, reply.text
    return reply.json


def error(reply, status: int) -> str:
    """The message of an error in the one shape."""
    assert (reply.status, set(reply.json), set(reply.json["error"])) == (
        status,
        {"error"},
        {"code", "message", "request_id"},
    ), reply.text
    return reply.json["error"]["message"]


# --- ask ------------------------------------------------------------------------------------------------------------


def test_the_object_of_the_command_line_with_its_conversation(service) -> None:
    result = ask(service)
    assert set(result) == {*as_dict(service.bot.ask(CATS)), "conversation"}
    assert (result["answered"], result["sources"][0]["document"]) == (True, "animals-cats-sleep")
    assert result["conversation"] != ask(service)["conversation"]
    assert AskReply.model_validate(result).trace is None


def test_every_field_counts(service) -> None:
    result = ask(
        service, body="Mine never gets up.", category="Pets", deadline=5, top=3.0, conversation="c1", trace=True
    )
    assert (len(result["sources"]), result["conversation"]) == (3, "c1")
    assert {"queries", "candidates"} <= set(result["trace"])
    assert ask(service, hint="naps", persona="", body=None, top=None, conversation=None, trace=None)["answered"]


def test_an_abstention_gives_its_reason(service) -> None:
    result = ask(service, question=NONSENSE)
    assert (result["answered"], result["kind"], result["answer"], bool(result["reason"])) == (False, "none", "", True)
    assert "empty" in ask(service, question=" \n")["reason"]


def test_any_text_is_answered_and_recorded(service) -> None:
    texts = ["a\x00b", "\u202e cats \u0301" * 50, "😀" * 5_000, "\n" * 20_000, "שלום", "\\" * 999]
    for text in texts:
        assert ask(service, question=text, body=text, conversation="odd")["question"] == text
    turns = service.get("/api/conversations/odd").json["turns"]
    assert [turn["question"] for turn in turns] == ["a\ufffdb", *texts[1:]]


WRONG = [
    (b"", 400, "Expected JSON, but got: EOF while parsing a value at line 1 column 0."),
    (b"{", 400, "Expected JSON, but got: EOF while parsing an object at line 1 column 1."),
    (b'{"question": "\\ud800"}', 400, "hex escape"),
    (b'{"question": "\xff"}', 400, "invalid unicode"),
    (b'{"question": ' + b"[" * 5_000, 400, "recursion limit"),
    (b"[]", 422, "Expected an object, but got a list."),
    (b"{}", 422, "Expected question, but it is missing."),
    (b'{"question": 7}', 422, "Expected a valid string for question, but got 7."),
    (b'{"question": ""}', 422, 'Expected at least 1 characters for question, but got "".'),
    (
        b'{"question": "%b"}' % (b"x" * 20_001),
        422,
        "for question, but got a text of 20001 characters",
    ),
    (b'{"question": "a", "top": 0}', 422, "Expected greater than or equal to 1 for top, but got 0."),
    (b'{"question": "a", "top": "9"}', 422, 'Expected a valid integer for top, but got "9".'),
    (b'{"question": "a", "deadline": 1e999}', 422, "Expected less than or equal to 120 for deadline, but got Inf"),
    (b'{"question": "a", "deadline": NaN}', 422, "for deadline, but got NaN."),
    (b'{"question": "a", "trace": "yes"}', 422, 'Expected a valid boolean for trace, but got "yes".'),
    (b'{"question": "a", "conversation": "a b"}', 422, "Expected a text that matches ^[A-Za-z0-9_.:-]+$ for conv"),
    (b'{"questoin": "a"}', 422, 'Expected known fields, but got "questoin"; the nearest is question.'),
    (b'{"question": "a", "zzz": 1}', 422, 'but got "zzz"; known are collection, under, since'),
    (
        b'{"question": "a", "persona": "pirate"}',
        422,
        "(there are none yet), or several as NAME:WEIGHT,NAME:WEIGHT, but got 'pirate'",
    ),
    (b'{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}', 422, "2 more are wrong."),
]


def test_wrong_bodies_are_rejected_with_a_reason(service) -> None:
    for body, status, message in WRONG:
        assert message in error(service.post("/api/ask", data=body, headers=JSON), status), body[:60]


def test_a_field_of_several_kinds_is_reported_once_by_its_name(service) -> None:
    for choice, expected, got in (
        ({"number": 1}, "a valid integer or a valid string", "an object"),
        (-1, "greater than or equal to 0 or a valid string", "-1"),
        ("", "a valid integer or at least 1 characters", '""'),
    ):
        reply = service.post("/api/choose", json={"id": "a", "choice": choice})
        assert error(reply, 422) == f"Expected {expected} for choice, but got {got}."


def test_only_json_in_utf_8_is_read(service) -> None:
    def post(content_type: str):
        return service.post("/api/ask", data=b'{"question": "a"}', headers={"Content-Type": content_type})

    assert error(post("text/plain"), 415) == 'Expected Content-Type: application/json, but got "text/plain".'
    assert "Expected Content-Type" in error(post("application/x-www-form-urlencoded"), 415)
    latin = error(post("application/json; charset=latin-1"), 415)
    assert latin == 'Expected UTF-8, but got the charset "latin-1".'
    assert post("application/json; charset=UTF-8").status == 200


def test_too_much_is_refused_also_when_packed(service) -> None:
    large = b'{"question": "%b"}' % (b"x" * (1 << 20))
    error(service.post("/api/ask", data=BytesIO(large), headers=JSON), 413)
    packed = {**JSON, "Content-Encoding": "gzip"}
    error(service.post("/api/ask", data=gzip.compress(large), headers=packed), 413)
    small = gzip.compress(b'{"question": "cats"}')
    assert service.post("/api/ask", data=small, headers=packed).status == 200
    error(service.post("/api/ask", data=b"no gzip", headers=packed), 400)


def test_a_body_in_chunks_that_are_none_is_refused(service, caplog) -> None:
    head = b"POST /api/ask HTTP/1.1\r\nHost: %b\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port)) as client:
        client.sendall(head % address.netloc.encode() + b"zz\r\n{}\r\n0\r\n\r\n")
        assert b" 400 Bad Request" in client.recv(100)
    assert "Unhandled" not in caplog.text


def test_a_wrong_method_names_the_right_one(service) -> None:
    reply = service.get("/api/ask")
    assert "Expected POST for /api/ask, but got GET." in error(reply, 405)
    assert reply.headers["Allow"] == "POST"


def test_the_deadline_of_the_request_holds(serve, slow_bot) -> None:
    service = serve(slow_bot)
    slow_bot.pauses["retrieve"] = 30.0
    result = ask(service, deadline=0.05)
    assert (result["answered"], "rank" in result["skipped"] or bool(result["reason"])) == (False, True)


def test_a_full_queue_says_when_to_retry(serve, slow_bot) -> None:
    service = serve(slow_bot, workers=1, queue=0)
    gate = slow_bot.pauses["rank"] = Event()

    async def crowd() -> tuple[int, int, str]:
        first = asyncio.create_task(service.client.post("/api/ask", json={"question": CATS}))
        while not service.answers.overloaded:
            await asyncio.sleep(0.005)
        async with service.client.post("/api/ask", json={"question": CATS}) as second:
            gate.set()
            async with await first as reply:
                return reply.status, second.status, second.headers["Retry-After"]

    assert service.run(crowd()) == (200, 503, "1")


def test_a_client_that_leaves_stops_the_work(serve, slow_bot) -> None:
    service = serve(slow_bot)
    slow_bot.pauses["rank"] = Event()
    address = urlsplit(service.url)
    body = b'{"question": "cats"}'
    head = b"POST /api/ask HTTP/1.1\r\nHost: %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    with socket.create_connection((address.hostname, address.port)) as client:
        client.sendall(head % (address.netloc.encode(), len(body)) + body)
        service.until(lambda: slow_bot.begun, "the question")
    service.until(lambda: slow_bot.cancelled, "the cancellation")
    service.until(lambda: not service.answers.busy)


# --- search ---------------------------------------------------------------------------------------------------------


def test_search_equals_the_command_line(service) -> None:
    result = service.post("/api/search", json={"query": "cats", "engine": "keyword", "top": 2}).json
    assert (result["query"], result["engine"], len(result["results"])) == ("cats", "keyword", 2)
    assert SearchReply.model_validate(result).results[0].features
    assert service.post("/api/search", json={"query": CATS}).json["engine"] == "hybrid"
    assert service.post("/api/search", json={"query": " \x00 "}).json["results"] == []


def test_search_names_the_engines(service) -> None:
    message = error(service.post("/api/search", json={"query": "a", "engine": "magic"}), 422)
    assert message == "Expected 'keyword', 'dense', 'hybrid' or 'facts' for engine, but got \"magic\"."


# --- feedback and conversations -------------------------------------------------------------------------------------


def test_a_vote_is_kept_with_its_comment(service) -> None:
    turn = ask(service)["id"]
    reply = service.post("/api/feedback", json={"id": turn, "vote": "down", "comment": "<b>no</b>\x00"})
    assert FeedbackReply.model_validate(reply.json).vote == "down"
    (saved,) = service.bot.store.feedback(turn)
    assert (saved.vote, saved.comment) == ("down", "<b>no</b>\ufffd")


def test_a_vote_on_nothing_is_refused(service) -> None:
    unknown = service.post("/api/feedback", json={"id": "nope", "vote": "up"})
    assert error(unknown, 404) == "Expected the id of a recorded answer, but got 'nope'."
    assert "'up' or 'down' for vote" in error(service.post("/api/feedback", json={"id": "a", "vote": "so-so"}), 422)


def test_a_conversation_comes_back_with_its_turns_and_last_votes(service) -> None:
    first, second = ask(service, conversation="c"), ask(service, question="What is a noun?", conversation="c")
    for vote in ("down", "up"):
        service.post("/api/feedback", json={"id": first["id"], "vote": vote, "comment": vote})
    result = service.get("/api/conversations/c").json
    WholeConversationReply.model_validate(result)
    assert (result["id"], result["title"]) == ("c", CATS)
    assert [turn["id"] for turn in result["turns"]] == [first["id"], second["id"]]
    assert [turn["feedback"] for turn in result["turns"]] == [{"vote": "up", "comment": "up"}, None]
    assert result["turns"][0]["answer"]["sources"] == first["sources"]


def test_conversations_are_listed_page_by_page(service) -> None:
    for name in ("a", "b", "c"):
        ask(service, conversation=name)
    ask(service, conversation="a")
    listed = service.get("/api/conversations").json
    ConversationsReply.model_validate(listed)
    assert [(item["id"], item["turns"]) for item in listed["conversations"]] == [("a", 2), ("c", 1), ("b", 1)]
    page = service.get("/api/conversations", params={"limit": "2"}).json["conversations"]
    before = {"before": repr(page[-1]["updated"])}
    assert [item["id"] for item in service.get("/api/conversations", params=before).json["conversations"]] == ["b"]


def test_pages_that_are_none_are_refused(service) -> None:
    for query in ("limit=0", "limit=many", "limit=1001", "before=nan", "offset=3", "limit="):
        assert "Expected" in error(service.get(f"/api/conversations?{query}"), 422), query


def test_a_conversation_is_renamed_and_removed(service) -> None:
    ask(service, conversation="c")
    renamed = service.request("PATCH", "/api/conversations/c", json={"title": "  Cats\nand naps "})
    assert ConversationReply.model_validate(renamed.json).title == "Cats and naps"
    gone = service.request("DELETE", "/api/conversations/c")
    assert (gone.status, gone.body) == (204, b"")
    assert service.get("/api/conversations").json == {"conversations": []}


def test_unknown_conversations_are_not_found(service) -> None:
    bodies = {"GET": {}, "PATCH": {"json": {"title": "t"}}, "DELETE": {}}
    for name in ("nope", "%00", "a%20b", "%ED%A0%80", "x" * 65, "%E2%80%AE"):
        for method, body in bodies.items():
            reply = service.request(method, f"/api/conversations/{name}", **body)
            assert "Expected the id of a conversation" in error(reply, 404), (method, name)


def test_a_title_has_something_to_read(service) -> None:
    ask(service, conversation="c")
    for title in ("", " \n", "x" * 201, None):
        assert "for title" in error(service.request("PATCH", "/api/conversations/c", json={"title": title}), 422)


@pytest.mark.parametrize(("kind", "status"), [(StoreError, 503), (RuntimeError, 500)])
def test_internal_errors_hide_their_cause(service, monkeypatch, caplog, kind, status) -> None:
    def broken(**_: object) -> None:
        raise kind("Expected to use the store /secret/path")

    monkeypatch.setattr(service.bot.store, "conversations", broken)
    message = error(service.get("/api/conversations"), status)
    assert "secret" not in message
    assert "secret" in caplog.text


def test_replies_are_not_kept_by_anybody_between(service) -> None:
    reply = service.get("/api/conversations")
    assert (reply.headers["Cache-Control"], reply.headers["Content-Type"]) == ("no-store", "application/json")


# --- conversations to keep, and gone ones ---------------------------------------------------------------------------


def test_a_conversation_as_markdown(service) -> None:
    result = ask(service, conversation="c1")
    service.post("/api/feedback", json={"id": result["id"], "vote": "up", "comment": "a <b>good</b> one"})
    service.request("PATCH", "/api/conversations/c1", json={"title": 'Cats / "naps" é'})
    got = service.get("/api/conversations/c1?format=markdown")
    assert (got.status, got.headers["Content-Type"]) == (200, "text/markdown; charset=utf-8")
    assert got.headers["Cache-Control"] == "no-store"
    assert got.headers["Content-Disposition"] == "attachment; filename*=UTF-8''Cats%20naps%20%C3%A9.md"
    assert got.text.startswith('# Cats / "naps" é\n\n1 question, ')
    assert f"## {CATS}\n\nCats are built for short bursts" in got.text
    assert "1. Why do cats sleep all day?, starter/animals-cats-sleep" in got.text
    assert "*voted up: a \\<b\\>good\\</b\\> one*" in got.text
    assert service.get("/api/conversations/c1?format=json").json == service.get("/api/conversations/c1").json
    assert "format" in error(service.get("/api/conversations/c1?format=pdf"), 422)
    assert "'" not in error(service.get("/api/conversations/none?format=markdown"), 404)


def test_a_question_on_its_way_does_not_bring_a_deleted_conversation_back(serve, slow_bot) -> None:
    service = serve(slow_bot)
    ask(service, conversation="c1")
    slow_bot.pauses["rank"] = go_on = Event()
    begun = slow_bot.begun

    async def both() -> int:
        body = {"question": CATS, "conversation": "c1"}
        asking = asyncio.create_task(service.client.post("/api/ask", json=body))
        while slow_bot.begun == begun:
            await asyncio.sleep(0.005)
        async with service.client.delete("/api/conversations/c1") as deleted:
            assert deleted.status == 204
        go_on.set()
        async with await asking as answered:
            return answered.status

    assert service.run(both()) == 200
    assert service.get("/api/conversations").json == {"conversations": []}
    slow_bot.pauses.clear()
    ask(service, conversation="c1")
    assert len(service.get("/api/conversations/c1").json["turns"]) == 1


def test_one_that_another_process_deletes_does_not_come_back_either(serve, slow_bot) -> None:
    service = serve(slow_bot)
    ask(service, conversation="c1")
    slow_bot.pauses["rank"] = go_on = Event()
    begun = slow_bot.begun

    async def both() -> int:
        body = {"question": CATS, "conversation": "c1"}
        asking = asyncio.create_task(service.client.post("/api/ask", json=body))
        while slow_bot.begun == begun:
            await asyncio.sleep(0.005)
        with open_store(slow_bot.home, slow_bot.config) as store:  # as `qa-bot conversations delete` does
            store.delete_conversation("c1")
        go_on.set()
        async with await asking as answered:
            return answered.status

    assert service.run(both()) == 200
    assert service.get("/api/conversations").json == {"conversations": []}
