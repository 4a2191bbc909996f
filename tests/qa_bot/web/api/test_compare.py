"""Blind comparison over HTTP: several judges at once, nothing that tells the sides, and the table."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_bot.home.folder import Home
from qa_bot.learning.comparing.blind import order_of
from qa_bot.learning.comparing.comparison import Comparison, Pair, file_of, judgements_of, save

JSON = {"Content-Type": "application/json"}
PAIRS = tuple(Pair(f"q{n}", f"Question {n}?", "More.", f"good {n}", f"bad {n}", 2, 0) for n in range(10))
MADE = Comparison("models", "secret-one.jsonl", "secret-two.jsonl", 3, (*PAIRS, Pair("same", "Same?", "", "x", "x")))


@pytest.fixture
def saved(home: Path) -> Home:
    """A home with a comparison."""
    save(Home(home), MADE)
    return Home(home)


async def judged(client: Any, judge: str, prefers: str) -> list[dict[str, Any]]:
    """What a client sees who judges all pairs, and wants the sides of `prefers` to win (t for a tie)."""
    seen = []
    while True:
        async with client.get("/api/comparisons/models/next", params={"judge": judge}) as reply:
            result = await reply.json()
        if (pair := result["pair"]) is None:
            return seen
        seen.append(result)
        expected = {"A": "good", "B": "bad"}.get(prefers[pair["place"]])
        place = "tie" if expected is None else "first" if pair["first"].startswith(expected) else "second"
        judgement = {"judge": judge, "qid": pair["qid"], "choice": place, "seconds": 1.5}
        async with client.post("/api/comparisons/models/judgements", json=judgement) as reply:
            assert (await reply.json())["done"] == len(seen)


def test_three_judges_at_once(saved, service) -> None:
    prefers = {"ann": "AAAAAAAAAA", "ben": "AAAAAAAAAB", "cem": "ttttBBBBBB"}

    async def together() -> list[list[dict[str, Any]]]:
        return await asyncio.gather(*(judged(service.client, judge, of) for judge, of in prefers.items()))

    seen = service.run(together())
    assert [[result["pair"]["qid"] for result in of] for of in seen] == [[f"q{n}" for n in range(10)]] * 3
    assert [result["done"] for result in seen[0]] == list(range(10))
    table = service.get("/api/comparisons/models").json
    assert (table["judges"], table["identical"], table["waiting"]) == ({"ann": 10, "ben": 10, "cem": 10}, 1, 0)
    row = table["rows"][-1]
    assert (row["questions"], row["judgements"], row["won_a"], row["won_b"]) == (11, 30, 9, 1)
    assert row["p"] == round(22 / 1024, 6)
    assert table["alpha"] == pytest.approx(1 - 29 * 20 / (30**2 - 19**2 - 7**2 - 4**2), abs=1e-6)
    assert [row["grade"] for row in table["rows"]] == ["2 good", "ungraded", "all"]
    listed = {"name": "models", "questions": 10, "identical": 1, "judges": table["judges"]}
    assert service.get("/api/comparisons").json == {"comparisons": [listed]}


def test_no_reply_reveals_the_sides_to_a_judge(saved, service) -> None:
    firsts = []
    for judge in ("ann", "ben", "cem", "dua"):
        replies = [
            service.get("/api/comparisons/models/next", params={"judge": judge, "start": str(n)}) for n in range(10)
        ]
        for n, reply in enumerate(replies):
            pair = reply.json["pair"]
            assert set(pair) == {"qid", "question", "body", "first", "second", "place"}
            assert {pair["first"], pair["second"]} == {f"good {n}", f"bad {n}"}
            assert "secret" not in reply.text
            assert pair["first"].startswith("good") == (order_of(3, judge, f"q{n}") == "AB")
            firsts.append(pair["first"].startswith("good"))
    assert 8 < sum(firsts) < 32  # of 40 fair coins; they are always the same ones
    judgement = {"judge": "ann", "qid": "q0", "choice": "tie"}
    reply = service.post("/api/comparisons/models/judgements", json=judgement)
    assert reply.json == {"comparison": "models", "judge": "ann", "qid": "q0", "done": 1, "questions": 10}
    for path in ("/api/comparisons", "/api/comparisons/models", "/api/comparisons/models?reveal=false"):
        assert "secret" not in service.get(path).text
    result = service.get("/api/comparisons/models?reveal=true").json
    assert (result["a"], result["b"]) == ("secret-one.jsonl", "secret-two.jsonl")


def test_the_last_word_counts_and_grades_are_kept(saved, service) -> None:
    one = "/api/comparisons/models/judgements"
    first = "A" if order_of(3, "ann", "q1") == "AB" else "B"
    judgement = {"judge": "ann", "qid": "q1", "choice": "first", "grades": {"first": 3.0, "second": None}, "seconds": 2}
    assert service.post(one, json=judgement).json["done"] == 1
    assert service.post(one, json={**judgement, "choice": "tie"}).json["done"] == 1
    lines = [json.loads(line) for line in judgements_of(saved, "models").read_text().splitlines()]
    assert [line["choice"] for line in lines] == [first, "tie"]
    assert lines[0]["grade"] == {first: 3}
    row = service.get("/api/comparisons/models").json["rows"][-1]
    assert (row["judgements"], row["tie"]) == (1, 1.0)


def test_judges_at_the_terminal_and_on_the_page_meet(saved, service, qa_bot) -> None:
    service.post("/api/comparisons/models/judgements", json={"judge": "ann", "qid": "q1", "choice": "tie"})
    assert qa_bot("compare", "models", "--table", "--json").json["judges"] == {"ann": 1}


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/api/comparisons/nobody", None, 404),
        ("GET", "/api/comparisons/nobody/next?judge=ann", None, 404),
        ("GET", "/api/comparisons/..%2f..%2fetc/next?judge=ann", None, 404),
        ("GET", "/api/comparisons/models%00", None, 404),
        ("GET", "/api/comparisons/models/next", None, 422),
        ("GET", "/api/comparisons/models/next?judge=", None, 422),
        ("GET", "/api/comparisons/models/next?judge=ann&start=-1", None, 422),
        ("GET", "/api/comparisons/models/next?judge=ann&side=A", None, 422),
        ("GET", "/api/comparisons/models?reveal=perhaps", None, 422),
        ("POST", "/api/comparisons/models/judgements", {"judge": "ann", "qid": "q77", "choice": "tie"}, 404),
        ("POST", "/api/comparisons/models/judgements", {"judge": "ann", "qid": "same", "choice": "tie"}, 404),
        ("POST", "/api/comparisons/models/judgements", {"judge": "ann", "qid": "q1", "choice": "A"}, 422),
        ("POST", "/api/comparisons/models/judgements", {"judge": " ", "qid": "q1", "choice": "tie"}, 422),
        ("POST", "/api/comparisons/models/judgements", {"judge": "ann", "qid": "q1"}, 422),
    ],
)
def test_wrong_requests_are_rejected_with_a_reason(saved, service, method, path, body, status) -> None:
    result = service.request(method, path, json=body) if body else service.request(method, path)
    assert result.status == status, result.text
    assert set(result.json["error"]) == {"code", "message", "request_id"}
    assert not judgements_of(saved, "models").exists()


def test_a_token_is_wanted(saved, serve) -> None:
    service = serve(token="secret")
    for path in ("/api/comparisons", "/api/comparisons/models", "/api/comparisons/models/next?judge=ann"):
        assert service.get(path).status == 401
        assert service.get(path, headers={"X-API-Key": "secret"}).status == 200


def test_a_broken_comparison_hides_no_other(saved, service, caplog) -> None:
    file_of(saved, "broken").write_text("{")
    assert [item["name"] for item in service.get("/api/comparisons").json["comparisons"]] == ["models"]
    assert "A comparison is left out: Expected a comparison in comparisons/broken.json" in caplog.text
    assert service.get("/api/comparisons/broken").status == 404


def test_there_is_nothing_to_compare_at_first(service) -> None:
    assert service.get("/api/comparisons").json == {"comparisons": []}


def test_two_texts_become_a_comparison(service) -> None:
    lines = [
        json.dumps({"_id": f"q{n}", "question": f"{n}\u2028?", "answer": "Yes."}, ensure_ascii=False) for n in range(3)
    ]
    comparison = {
        "name": "mine",
        "a": {"name": "secret-one", "answers": "\n".join([*lines, "{"])},
        "b": {"name": "secret-two", "answers": "\r\n".join([lines[0], lines[1].replace("Yes", "No"), ""])},
    }
    made = service.post("/api/comparisons", json=comparison).json
    (wrong,) = made.pop("wrong")
    assert made == {"name": "mine", "questions": 1, "identical": 1, "only_a": 1, "only_b": 0}
    assert wrong.startswith("secret-one:4: Expected a JSON object")
    assert service.get("/api/comparisons").json["comparisons"][0]["name"] == "mine"
    assert service.get("/api/comparisons/mine/next?judge=ann").json["pair"]["qid"] == "q1"
    assert service.post("/api/comparisons", json=comparison).status == 200
    refused = service.post("/api/comparisons", json={**comparison, "b": {"name": "other", "answers": lines[0]}})
    assert (refused.status, refused.json["error"]["code"]) == (409, "conflict")
    for other in ({**comparison, "name": "../x"}, {**comparison, "a": {"name": "a", "answers": ""}}, {"name": "x"}):
        assert service.post("/api/comparisons", json=other).status == 422
    broken = service.post("/api/comparisons", json={**comparison, "name": "broken", "a": {"name": "a", "answers": "{"}})
    assert (broken.status, "but got none: a:1: Expected" in broken.json["error"]["message"]) == (409, True)
    apart = {**comparison, "name": "apart", "b": {"name": "b", "answers": '{"_id": "z", "answer": "Yes."}'}}
    result = service.post("/api/comparisons", json=apart)
    assert (result.status, "neither id nor words in common" in result.json["error"]["message"]) == (409, True)


@settings(max_examples=30)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=5,
    )
)
def test_any_body_is_accepted_or_rejected_with_a_reason(saved, service, body) -> None:
    reply = service.post("/api/comparisons/models/judgements", data=json.dumps(body), headers=JSON)
    assert reply.status in (400, 422)
