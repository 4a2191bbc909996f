"""Personas without a question: sentences, the grid, their start with the service."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from qa_bot.answering.ask import Ask
from qa_bot.answering.models.personas import PersonaStore
from qa_bot.web.api.models import GridReply, SpeakReply
from qa_bot.web.openapi import document
from qa_bot.web.service import NO_TIME
from tests.qa_bot.web.chat.styled import CATS, ask, error, speech


def test_sentences_of_a_persona(serve, voiced_bot) -> None:
    service = serve(voiced_bot)
    reply = service.post("/api/speak", json=speech("We sail.", "The soup is hot!", hint="soup", top=3))
    SpeakReply.model_validate(reply.json)
    result = reply.json
    assert (result["persona"], len(result["lines"]), result["notice"]) == ("cook", 3, "")
    scores = [item["score"] for item in result["lines"]]
    assert scores == sorted(scores, reverse=True)
    assert len({item["text"] for item in result["lines"]}) == 3
    assert (
        reply.json == service.post("/api/speak", json=speech("We sail.", "The soup is hot!", hint="soup", top=3)).json
    )
    mixed = service.post("/api/speak", json=speech(persona="cook,sailor:3")).json
    assert {item["persona"] for item in mixed["lines"]} <= {"cook", "sailor", "cook+sailor"}
    assert service.bot.store.counts().turns == 0  # nothing of it is recorded


def test_without_personas_speech_is_rejected(service) -> None:
    assert "there are none yet; train one" in error(service.post("/api/speak", json=speech()), 404)


def test_a_hint_of_unknown_words_is_reported(serve, voiced_bot) -> None:
    result = serve(voiced_bot).post("/api/speak", json=speech(hint="zxqv wprt")).json
    assert result["lines"]
    assert result["notice"]


def test_a_long_talk_is_heard(serve, voiced_bot) -> None:
    service = serve(voiced_bot)
    assert service.post("/api/speak", json=speech(*["soup " * 2_000] * 5, "cats " * 4_000)).json["lines"]
    assert service.post("/api/speak", json=speech(*["Hello"] * 50)).json["lines"]


WRONG = [
    (speech(turns=[]), "Expected at least 1 items for turns"),
    (speech(turns=["a"] * 51), "Expected at most 50 items for turns"),
    (speech("x" * 20_001), "but got a text of 20001 characters"),
    (speech("a", " "), "turns[1], but got"),
    (speech("\x1c"), "Expected a turn to reply to, but got blank ones."),
    (speech(persona=""), "for persona"),
    (speech(top=0), "for top, but got 0."),
    (speech(top=101), "for top, but got 101."),
    (speech(hint="x" * 201), "for hint"),
    (speech(deadline=0), "for deadline, but got 0."),
    ({"turns": ["a"]}, "Expected persona, but it is missing."),
    (speech(tuns=[]), "the nearest is turns"),
]


def test_wrong_turns_are_rejected_with_a_reason(serve, voiced_bot) -> None:
    service = serve(voiced_bot)
    for body, message in WRONG:
        assert message in error(service.post("/api/speak", json=body), 422)


def test_a_persona_has_the_time_of_a_question(serve, voiced_bot, monkeypatch) -> None:
    def dawdle(_: PersonaStore, *args: Any, check: Any, **options: Any) -> None:
        while True:
            check()

    service = serve(voiced_bot)
    monkeypatch.setattr(PersonaStore, "say", dawdle)
    result = service.post("/api/speak", json=speech(deadline=0.05)).json
    assert (result["lines"], result["notice"]) == ([], NO_TIME)


def test_speaking_waits_in_the_queue_of_questions(serve, voiced_bot) -> None:
    service = serve(voiced_bot, workers=1, queue=0)
    voiced_bot.pauses["retrieve"] = go = Event()

    async def both() -> Any:
        first = service.loop.create_task(service.answers.answer(Ask.of(CATS)))
        while not service.answers.busy:
            await asyncio.sleep(0.005)
        async with service.client.post("/api/speak", json=speech()) as reply:
            status = reply.status
        go.set()
        await first
        return status

    assert service.run(both()) == 503
    assert service.post("/api/speak", json=speech()).status == 200


def test_the_grid_and_the_place_of_a_hint(serve, voiced_bot) -> None:
    service = serve(voiced_bot)
    result = service.get("/api/grid").json
    GridReply.model_validate(result)
    assert (result["height"], result["width"], result["window"], len(result["cells"])) == (3, 4, 2, 12)
    assert "posterior" not in result
    hinted = service.get("/api/grid", params={"hint": "boat"}).json
    assert hinted["cells"] == result["cells"]
    assert sum(hinted["posterior"]) == pytest.approx(1, abs=1e-4)
    assert hinted["notice"] is None
    assert service.get("/api/grid", params={"hint": "zxqv"}).json["notice"]
    assert "for hint" in error(service.get("/api/grid", params={"hint": "x" * 201}), 422)
    assert "the nearest is hint" in error(service.get("/api/grid", params={"hnt": "x"}), 422)


def test_a_base_without_a_grid_is_rejected_with_a_reason(serve, voiced_bot, monkeypatch) -> None:
    base = voiced_bot.voices._base(voiced_bot.voices._named_base())  # without its grid
    object.__setattr__(base, "steering", None)
    service = serve(voiced_bot)
    assert "has no grid; train one" in error(service.get("/api/grid"), 404)
    reply = service.post("/api/speak", json=speech(hint="boat")).json
    assert "has no topics" in reply["notice"]


def test_voices_warm_up_beside_a_service_that_is_ready(serve, voiced_bot, monkeypatch) -> None:
    go, spoken, say = Event(), [], PersonaStore.say

    def slowly(self: PersonaStore, spec: str, *args: Any, **options: Any) -> Any:
        assert go.wait(20)
        spoken.append(spec)
        return say(self, spec, *args, **options)

    monkeypatch.setattr(PersonaStore, "say", slowly)
    service = serve(voiced_bot)
    assert service.get("/readyz").status == 200
    assert spoken == []
    go.set()
    service.until(lambda: spoken == ["cook", "sailor"], "the greeting")


def test_voices_that_cannot_warm_up_are_no_fault(serve, voiced_bot, monkeypatch, caplog) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise RuntimeError("no voice today")

    monkeypatch.setattr(PersonaStore, "say", fail)
    with caplog.at_level(logging.WARNING):
        service = serve(voiced_bot)
        service.until(lambda: "no voice today" in caplog.text, "the warning")
    assert service.get("/readyz").status == 200


def test_a_service_that_stops_waits_for_no_greeting(serve, voiced_bot, monkeypatch) -> None:
    begun = Event()

    def greet(_: PersonaStore, spec: str, *args: Any, check: Any, **options: Any) -> None:
        begun.set()
        while True:
            check()

    monkeypatch.setattr(PersonaStore, "say", greet)
    serve(voiced_bot)
    assert begun.wait(20)  # and the fixture's end would not come


def test_the_routes_want_the_token(serve, voiced_bot) -> None:
    service = serve(voiced_bot, token="secret")
    for path in ("/api/choose", "/api/speak"):
        assert service.post(path, json={}).status == 401
    assert service.get("/api/grid").status == 401


def test_the_document_describes_mixes() -> None:
    from openapi_spec_validator import validate  # takes seconds to load, also where other tests are chosen

    result = document(secured=True, personas=("cook", "first-mate", "sailor"))
    validate(result)
    persona = result["components"]["schemas"]["SpeakRequest"]["properties"]["persona"]
    names, mix = persona["anyOf"]
    assert names == {"enum": ["cook", "first-mate", "sailor"]}
    assert re.search(mix["pattern"], "sailor:2,first-mate")
    assert not re.search(mix["pattern"], "cook,cook")
    assert not re.search(mix["pattern"], "cook:0,sailor")


def test_personas_are_opened_at_their_first_use(serve, voiced_bot, monkeypatch) -> None:
    spoken, say = [], PersonaStore.say

    def result(self: PersonaStore, spec: str, *args: Any, **options: Any) -> Any:
        spoken.append(spec)
        return say(self, spec, *args, **options)

    monkeypatch.setattr(PersonaStore, "say", result)
    config = voiced_bot.config
    monkeypatch.setattr(voiced_bot, "config", replace(config, style=replace(config.style, warm=False)))
    service = serve(voiced_bot)
    assert service.get("/readyz").status == 200
    ask(service)
    assert spoken == ["cook"]
