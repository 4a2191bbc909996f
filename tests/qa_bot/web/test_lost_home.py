"""The home is moved or deleted while it is served: each reply says so, nothing is written, and the service recovers."""

from __future__ import annotations

import json
import shutil

import pytest

CATS = {"question": "Why do cats sleep all day?"}


def questions(service):
    chat = {"model": "qa-bot", "messages": [{"role": "user", "content": CATS["question"]}]}
    return [service.post("/api/ask", json=CATS), service.post("/v1/chat/completions", json=chat)]


@pytest.mark.parametrize("fate", ["moved", "deleted"])
def test_a_lost_home_is_told_and_comes_back(service, bot, caplog, monkeypatch, fate: str) -> None:
    monkeypatch.setattr("qa_bot.web.api.admin.FRESH", 0.0)
    home, away = bot.home.path, bot.home.path.with_name("away")
    first = service.post("/api/ask", json=CATS).json
    assert service.post("/api/feedback", json={"id": first["id"], "vote": "up"}).status < 300
    if fate == "moved":
        home.rename(away)
    else:
        shutil.copytree(home, away)
        shutil.rmtree(home)
    refused = [*questions(service), service.get("/api/conversations"), service.get("/readyz")]
    refused.append(service.post("/api/feedback", json={"id": first["id"], "vote": "down"}))
    refused.append(service.post("/api/owner/answers", json={"question": CATS["question"], "answer": "They do not."}))
    sides = ({"name": name, "answers": json.dumps(first)} for name in "ab")
    refused.append(service.post("/api/comparisons", json={"name": "ab", **dict(zip("ab", sides, strict=True))}))
    refused += [service.get("/api/comparisons"), service.get("/api/comparisons/ab")]
    for reply in refused:
        assert reply.status == 503, reply.text
        assert "moved or deleted" in reply.text
        assert str(home) not in reply.text
        assert "Retry-After" in reply.headers
        assert reply.json["error"]["code"] == "unavailable"
    assert service.get("/readyz").json["reason"] == "home"
    assert service.get("/livez").status == 200
    health = service.get("/api/admin/health").json
    assert (health["status"], "home" in {problem["name"] for problem in health["problems"]}) == ("error", True)
    assert not home.exists(), "nothing makes it anew"
    assert "Traceback" not in caplog.text
    assert caplog.text.count(f"Expected the home {home}") == 1

    away.rename(home)
    assert [reply.status for reply in (service.get("/readyz"), *questions(service))] == [200] * 3
    assert service.post("/api/feedback", json={"id": first["id"], "vote": "down"}).status < 300
    assert service.get("/api/admin/health").json["problems"] == []
    bot.close()
    with bot.store as store:
        assert [vote.vote for vote in store.feedback(first["id"])] == ["up", "down"]
