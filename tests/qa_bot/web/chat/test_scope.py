"""The documents that requests, frames and completions narrow a question to, over a real service."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from qa_bot.answering.scope import Scope
from qa_bot.web.chat.frames import AskFrame, read
from qa_bot.web.chat.scope import ScopeFields
from qa_bot.web.errors import ServiceError

CATS = "Why do cats sleep all day?"
WRONG: list[tuple[dict[str, Any], int, str]] = [
    ({"collection": "starters"}, 404, "Expected a collection, but got 'starters'; there are: starter."),
    ({"under": "animals-cats"}, 404, "Expected a folder or document, but got 'animals-cats'; there are: animals-cats"),
    ({"language": "xx"}, 404, "Expected a language of your documents, but got 'xx'"),
    ({"since": "soon"}, 422, 'Expected a date like 2024, 2024-05 or 2024-05-31 for since, but got "soon".'),
    ({"since": "2024-02-30"}, 422, 'Expected a date like 2024, 2024-05 or 2024-05-31 for since, but got "2024-02-30".'),
    ({"until": "2024-13"}, 422, 'Expected a date like 2024, 2024-05 or 2024-05-31 for until, but got "2024-13".'),
    ({"collection": ""}, 422, 'Expected at least 1 characters for collection[0], but got "".'),
    ({"include_archived": "perhaps"}, 422, "for include_archived"),
]


def post(service: Any, path: str, fields: dict[str, Any]) -> Any:
    texts = {
        "/api/ask": {"question": CATS},
        "/api/search": {"query": CATS},
        "/v1/chat/completions": {"model": "qa-bot", "messages": [{"role": "user", "content": CATS}]},
    }
    return service.post(path, json={**texts[path], **fields})


@pytest.mark.parametrize("path", ["/api/ask", "/api/search", "/v1/chat/completions"])
def test_every_route_takes_the_same_keys(service: Any, path: str) -> None:
    for fields, status, message in WRONG:
        reply = post(service, path, fields)
        assert (reply.status, message in reply.json["error"]["message"]) == (status, True), (fields, reply.text)
    for name in ("animals-cats-sleep", "./animals-cats-sleep/"):
        assert "animals-cats-sleep" in post(service, path, {"under": name, "collection": ["starter"]}).text
    nothing = post(service, path, {"since": "2090"})
    assert (nothing.status, "animals-cats-sleep" in nothing.text) == (200, False)
    if path == "/api/ask":
        assert nothing.json["reason"].startswith("None of the documents that you asked")


def test_facts_of_some_documents_are_a_wrong_request(service: Any) -> None:
    reply = post(service, "/api/search", {"engine": "facts", "collection": "starter"})
    assert (reply.status, reply.json["error"]["code"]) == (422, "invalid"), reply.text
    assert "but got facts, which belong to no document" in reply.json["error"]["message"]


def test_a_misspelt_key_is_an_error_also_where_others_are_ignored(service: Any) -> None:
    expected = "Expected the field `under`, but got `undr`; correct its name."
    assert post(service, "/v1/chat/completions", {"seed": 3, "sedd": 3}).status == 200
    reply = post(service, "/v1/chat/completions", {"undr": "animals-cats-sleep"})
    assert (reply.status, reply.json["error"]["message"]) == (422, expected)
    frame = read(b'{"type":"ask","text":"Why?","undr":"hr","newer":1}')
    assert isinstance(frame, AskFrame)
    with pytest.raises(ServiceError, match=expected):
        frame.scope()
    frame = read(b'{"type":"ask","text":"Why?","under":"hr","newer":1}')
    assert isinstance(frame, AskFrame)
    assert frame.scope() == Scope(under=("hr",))


def test_one_name_or_several() -> None:
    assert ScopeFields(collection="a", under=["b", "c"]).scope() == Scope(("a",), ("b", "c"))
    with pytest.raises(ValidationError):
        ScopeFields(collection=["a"] * 51)


@pytest.mark.parametrize("model", [ScopeFields, AskFrame])
def test_the_schema_shows_both_forms_and_the_pattern_of_dates(model: type[BaseModel]) -> None:
    properties = model.model_json_schema()["properties"]
    names, dates = properties["under"]["anyOf"], properties["since"]["anyOf"]
    assert [form["type"] for form in names] == ["string", "array", "null"]
    assert "pattern" in dates[0]
