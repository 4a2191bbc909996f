"""The owner's routes over a real service: what is asked without an answer, and what is done about it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from qa_bot.home.question_key import question_key
from qa_bot.learning import owner
from qa_bot.web.api import writer as writing
from qa_bot.web.api.owner_models import AddAnswerReply, DismissReply, GapsReply

CATS = "Why do cats sleep all day?"
NONSENSE = "Who is the king of Narnia quantum?"
ANSWER = "Nobody is: Narnia has none."


def ask(service, question: str = NONSENSE) -> dict:
    return service.post("/api/ask", json={"question": question}).json


def gaps(service, **params: str) -> list[tuple[str, int]]:
    reply = service.get("/api/owner/gaps", params=params)
    outcome = GapsReply.model_validate(reply.json)
    assert (reply.status, reply.headers["Cache-Control"]) == (200, "no-store")
    return [(gap.question, gap.asked) for gap in outcome.gaps]


def error(reply, status: int, code: str) -> str:
    assert (reply.status, reply.json["error"]["code"]) == (status, code), reply.text
    return reply.json["error"]["message"]


def test_an_unanswered_question_is_listed_and_answered(service) -> None:
    assert gaps(service) == []
    for question in (NONSENSE, CATS, NONSENSE.lower()):
        ask(service, question)
    assert gaps(service) == [(NONSENSE.lower(), 2)]
    key = service.get("/api/owner/gaps").json["gaps"][0]["key"]
    body = {"question": NONSENSE, "answer": ANSWER, "url": "https://example.org", "gap": key}
    added = AddAnswerReply.model_validate(service.post("/api/owner/answers", json=body).json)
    outcome = ask(service)
    assert (outcome["answer"], outcome["sources"][0]["url"]) == (ANSWER, "https://example.org")
    assert (outcome["sources"][0]["document"], outcome["sources"][0]["collection"]) == (
        added.document,
        added.collection,
    )
    assert gaps(service) == []


def test_a_downvoted_answer_is_listed_with_its_comment(service) -> None:
    turn = ask(service, CATS)
    service.post("/api/feedback", json={"id": turn["id"], "vote": "down", "comment": "<b>no</b>"})
    (gap,) = service.get("/api/owner/gaps").json["gaps"]
    assert (gap["question"], gap["unanswered"], gap["downvoted"], gap["comments"]) == (CATS, 0, 1, ["<b>no</b>"])
    assert (gap["answer"], gap["nearest"]["document"]) == (turn["answer"], "animals-cats-sleep")
    service.post("/api/feedback", json={"id": turn["id"], "vote": "up"})
    assert gaps(service) == []


def test_the_list_has_the_requested_length(service) -> None:
    for question in ("zxqv wprt", "qqqz vvvw", "zxqv wprt"):
        ask(service, question)
    outcome = service.get("/api/owner/gaps", params={"limit": "1"}).json
    assert ([gap["question"] for gap in outcome["gaps"]], outcome["total"]) == (["zxqv wprt"], 2)
    for query in ("limit=0", "limit=501", "limit=x", "offset=1"):
        assert "Expected" in error(service.get(f"/api/owner/gaps?{query}"), 422, "invalid"), query


def test_dismissed_is_gone(service) -> None:
    ask(service)
    key = question_key(NONSENSE)
    dismissed = service.post("/api/owner/dismiss", json={"gap": key})
    assert DismissReply.model_validate(dismissed.json) == DismissReply(gap=key, asked=1)
    assert gaps(service) == []
    again = service.post("/api/owner/dismiss", json={"gap": key})
    assert "a question without a good answer" in error(again, 404, "not_found")


@pytest.mark.parametrize(
    ("path", "body", "outcome"),
    [
        ("answers", {"question": NONSENSE}, "Expected answer, but it is missing."),
        ("answers", {"question": " ", "answer": "a"}, "Expected a text that matches \\w for question"),
        ("answers", {"question": "q", "answer": "?!"}, "for answer"),
        ("answers", {"question": "q" * 2_001, "answer": "a"}, "at most 2000 characters for question"),
        ("answers", {"question": "q", "answer": "a" * 20_001}, "at most 20000 characters for answer"),
        ("answers", {"question": "q", "answer": "a", "url": "javascript:alert(1)"}, "for url"),
        ("answers", {"question": "q", "answer": "a", "url": "https://"}, "for url"),
        ("answers", {"question": "q", "answer": "a", "gap": "../x"}, "for gap"),
        ("answers", {"question": "q", "answer": "a", "collection": "c"}, "Expected known fields"),
        ("answers", {"question": "\u0301", "answer": "a"}, "letters or digits"),
        ("dismiss", {"gap": 1}, "for gap"),
        ("dismiss", [], "Expected an object"),
    ],
)
def test_an_invalid_answer_is_rejected(service, path: str, body: object, outcome: str) -> None:
    assert outcome in error(service.post(f"/api/owner/{path}", json=body), 422, "invalid")
    assert service.bot.store.of_collection("answers") == []


def test_another_writer_is_named(service) -> None:
    body = {"question": NONSENSE, "answer": ANSWER}
    with service.bot.home.lock("repair"):
        message = error(service.post("/api/owner/answers", json=body), 409, "conflict")
    assert "repair by process" in message
    assert "try again" in message
    assert service.post("/api/owner/answers", json=body).status == 200


def test_concurrent_saves_wait_for_each_other(service) -> None:
    bodies = [{"question": f"{NONSENSE} {i}", "answer": f"Number {i}."} for i in range(4)]
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda body: service.post("/api/owner/answers", json=body), bodies))
    assert [reply.status for reply in replies] == [200] * 4
    assert [ask(service, body["question"])["answer"] for body in bodies] == [body["answer"] for body in bodies]


def test_no_more_wait_than_there_is_room_for(service, monkeypatch) -> None:
    begun, go_on = Event(), Event()

    def slowly(*_: object, **__: object) -> str:
        begun.set()
        assert go_on.wait(30)
        return "d"

    monkeypatch.setattr(owner, "add_answer", slowly)
    monkeypatch.setattr(writing, "WAITING", 2)
    body = {"question": NONSENSE, "answer": ANSWER}
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(service.post, "/api/owner/answers", json=body) for _ in range(2)]
        assert begun.wait(30)
        writer = service.running.app[writing.WRITER]
        service.until(lambda: writer.waiting == 2, "the second answer")
        full = service.post("/api/owner/answers", json=body)
        go_on.set()
        assert [item.result().status for item in both] == [200, 200]
    assert "2 changes wait" in error(full, 409, "conflict")
    assert service.post("/api/owner/answers", json=body).status == 200


def test_questions_of_others_need_the_token(serve) -> None:
    service = serve(token="secret")
    assert service.get("/owner").status == 200
    assert service.get("/api/owner/gaps").status == 401
    for path, body in (("answers", {"question": "q", "answer": "a"}), ("dismiss", {"gap": "0" * 32})):
        assert service.post(f"/api/owner/{path}", json=body).status == 401
    assert service.get("/api/owner/gaps", headers={"X-API-Key": "secret"}).status == 200
    foreign = {"X-API-Key": "secret", "Origin": "https://elsewhere.example"}
    assert service.get("/api/owner/gaps", headers=foreign).status == 403


def test_a_link_of_another_site_opens_the_page_without_data(service) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert service.get("/owner", headers=followed).status == 200
    assert service.get("/api/owner/gaps", headers=followed).status == 403
