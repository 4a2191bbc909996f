"""Requests with a persona."""

from __future__ import annotations

from typing import Any

from qa_bot.web.api.models import AskReply

CATS = "Why do cats sleep all day?"


BODY = {"question": CATS, "persona": "cook"}


def ask(service: Any, **fields: Any) -> dict[str, Any]:
    reply = service.post("/api/ask", json={**BODY, **fields})
    assert reply.status == 200, reply.text
    AskReply.model_validate(reply.json)
    return dict(reply.json)


def error(reply: Any, status: int) -> str:
    assert reply.status == status, reply.text
    return str(reply.json["error"]["message"])


def speech(*turns: str, **fields: Any) -> dict[str, Any]:
    return {"persona": "cook", "turns": list(turns) or ["Hello"], **fields}
