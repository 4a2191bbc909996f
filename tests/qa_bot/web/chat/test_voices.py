"""Personas in every service: styled answers, choices among them, what a persona says by itself, and the grid."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shutil
from dataclasses import replace
from threading import Event
from typing import Any

import openai
import pytest
from openapi_spec_validator import validate

from qa_bot import Bot
from qa_bot.answering.ask import Ask
from qa_bot.answering.models.personas import PersonaStore
from qa_bot.answering.stages.persona_line import BETWEEN
from qa_bot.web.api.models import AskReply, ChooseReply, GridReply, SpeakReply
from qa_bot.web.openapi import document
from qa_bot.web.service import NO_TIME

CATS = "Why do cats sleep all day?"
NONSENSE = "zxqv wprt"
BODY = {"question": CATS, "persona": "cook"}


def asked(service: Any, **fields: Any) -> dict[str, Any]:
    reply = service.post("/api/ask", json={**BODY, **fields})
    assert reply.status == 200, reply.text
    AskReply.model_validate(reply.json)
    return dict(reply.json)


def error(reply: Any, status: int) -> str:
    assert reply.status == status, reply.text
    return str(reply.json["error"]["message"])


def sourced(answer: dict[str, Any]) -> str:
    """The text without the styled sentence before it, and each stretch of it as its source has it."""
    lines, (start, end) = answer["styled"]["lines"], answer["styled"]["span"]
    assert (start, answer["answer"][:end], answer["kind"]) == (0, lines[0]["text"], "styled")
    assert answer["answer"][end:].startswith(BETWEEN)
    used = [item for item in answer["sources"] if item["span"]]
    assert used
    for item in used:
        assert answer["answer"][slice(*item["span"])] == item["text"][slice(*item["source_span"])]
    return str(answer["answer"][end + len(BETWEEN) :])


# --- answers --------------------------------------------------------------------------------------------------------


def test_a_persona_speaks_before_the_answer(serve, voiced_bot) -> None:
    service = serve(voiced_bot)
    plain = asked(service, persona="")
    assert "styled" not in plain
    result = asked(service, persona="cook:2,sailor", hint="boat", top=3)
    assert sourced(result) == plain["answer"]
    assert (result["styled"]["persona"], result["styled"]["hint"]) == ("cook:2,sailor", "boat")
    assert 1 < len(result["styled"]["lines"]) <= 3
    assert {item["kind"] for item in result["styled"]["lines"]} <= {"generated", "quotation"}
    assert service.get(f"/api/conversations/{result['conversation']}").json["persona"] == "cook:2,sailor"


def test_an_abstention_has_remarks_only(serve, voiced_bot) -> None:
    result = asked(serve(voiced_bot), question=NONSENSE)
    assert (result["kind"], result["answer"], result["styled"]["span"]) == ("none", "", None)
    assert result["styled"]["lines"]
    assert result["reason"]


SPECS = ("Eve", "cook/../sailor", "cook:x", "cook:0", "cook,cook", "cook,", "/etc/passwd", "*")


def test_a_persona_that_cannot_be_is_told(serve, voiced_bot, talk) -> None:
    service = serve(voiced_bot)
    for spec in SPECS:
        for path, body in (("/api/ask", {**BODY, "persona": spec}), ("/api/speak", speech(persona=spec))):
            said = error(service.post(path, json=body), 422)
            assert said.startswith("Expected "), said
            assert repr(spec) in said or repr(spec.rpartition(",")[2]) in said
        stream = service.post("/api/ask", json={**BODY, "persona": spec}, headers={"Accept": "text/event-stream"})
        assert stream.status == 422

    async def chat() -> Any:
        async with talk(service) as client:
            return [(await client.ask(CATS, id="q1", persona=spec))[-1] for spec in SPECS]

    for result in service.run(chat()):
        assert (result["type"], result["id"], result["code"]) == ("error", "q1", "invalid")


def test_a_base_that_is_not_there_is_told(home, serve, tiny_voices, talk) -> None:
    """The persona is known, but nothing of it can be opened."""
    shutil.copytree(tiny_voices / "cook", home / "personas" / "cook")
    with Bot.open(home, flags={"style.base": str(home / "nowhere")}) as bot:
        service = serve(bot)
        for reply in (service.post("/api/ask", json=BODY), service.post("/api/speak", json=speech())):
            assert "nowhere" in error(reply, 503)
            assert reply.headers["Retry-After"]
        assert "nowhere" in error(service.get("/api/grid"), 404)
        assert service.get("/readyz").status == 200

        async def chat() -> Any:
            async with talk(service) as client:
                return (await client.ask(CATS, persona="cook"))[-1]

        assert "nowhere" in service.run(chat())["message"]


def test_frames_of_a_styled_answer(serve, voiced_bot, talk) -> None:
    service = serve(voiced_bot)

    async def chat() -> Any:
        async with talk(service) as client:
            await client.say("hello")
            ready = await client.hear()
            return ready, await client.ask(CATS, id="q1", persona="sailor", hint="boat")

    ready, frames = service.run(chat())
    assert ready["personas"] == ["cook", "sailor"]
    assert [item["stage"] for item in frames if item["type"] == "status"][-2:] == ["compose", "style"]
    deltas = "".join(item["text"] for item in frames if item["type"] == "delta")
    final = frames[-1]
    assert (final["type"], deltas) == ("final", final["answer"])
    assert final["styled"]["hint"] == "boat"
    assert sourced(final)


def test_events_of_a_styled_answer(serve, voiced_bot) -> None:
    reply = serve(voiced_bot).post("/api/ask", json=BODY, headers={"Accept": "text/event-stream"})
    events = [json.loads(line[6:]) for line in reply.text.split("\n") if line.startswith("data: ")]
    assert [item["stage"] for item in events if item["type"] == "status"][-1] == "style"
    assert sourced(events[-1])
    assert events[-1]["styled"]["persona"] == "cook"


# --- OpenAI's clients -----------------------------------------------------------------------------------------------


def test_a_persona_is_a_model_and_the_system_message_its_hint(serve, voiced_bot) -> None:
    service = serve(voiced_bot)
    with openai.OpenAI(base_url=f"{service.url}/v1", api_key="any", max_retries=0) as client:
        assert [item.id for item in client.models.list().data] == ["qa-bot", "cook", "sailor"]
        talk: Any = [{"role": "system", "content": "boat"}, {"role": "user", "content": CATS}]
        result = client.chat.completions.create(model="cook", messages=talk)
        turn = service.bot.store.turn(result.id)
        assert turn.answer["styled"]["hint"] == "boat"
        assert (
            result.choices[0].message.content
            == turn.answer["answer"]
            == f"{line(turn.answer)}\n\n{sourced(turn.answer)}"
        )
        pieces = list(client.chat.completions.create(model="cook", messages=talk, stream=True))
        assert "".join(item.choices[0].delta.content or "" for item in pieces) == turn.answer["answer"]
        talk[-1]["content"] = NONSENSE
        result = client.chat.completions.create(model="cook", messages=talk)
        answer = service.bot.store.turn(result.id).answer
        said = f"{line(answer)}\n\nI don't know. {answer['reason']}"
        assert result.choices[0].message.content == said
        pieces = list(client.chat.completions.create(model="cook", messages=talk, stream=True))
        assert "".join(item.choices[0].delta.content or "" for item in pieces) == said
        talk[0]["content"] = "boat" * 500  # a client's usual instructions are longer than a hint may be
        assert client.chat.completions.create(model="cook", messages=talk).choices[0].message.content


def line(answer: dict[str, Any]) -> str:
    return str(answer["styled"]["lines"][0]["text"])


# --- choosing -------------------------------------------------------------------------------------------------------


def test_a_choice_goes_to_every_client_and_stays(serve, voiced_bot, talk) -> None:
    service = serve(voiced_bot)

    async def chat() -> Any:
        async with talk(service) as client, talk(service) as other:
            final = (await client.ask(CATS, id="q1", persona="cook"))[-1]
            await other.say("hello", resume=final["conversation"], seq=client.seq)
            await other.hear()
            await client.say("choose", id="q1", choice=1)
            chosen = [await client.hear(), await other.hear()]
            await other.say("choose", id=final["turn"], choice="  Aye, a fine\nquestion! ")
            written = [await client.hear(), await other.hear()]
            await client.say("ask", id="q1", text=CATS)  # asked already: told again
            again = await client.hear()
        async with talk(service) as late:
            await late.say("hello", resume=final["conversation"], seq=final["seq"])
            await late.hear()
            return final, chosen, written, again, [await late.hear(), await late.hear()]

    final, chosen, written, again, missed = service.run(chat())
    assert chosen[0] == chosen[1]
    assert (chosen[0]["type"], chosen[0]["id"], chosen[0]["turn"]) == ("final", "q1", final["turn"])
    assert chosen[0]["seq"] == final["seq"] + 1
    assert line(chosen[0]) == final["styled"]["lines"][1]["text"]
    assert sourced(chosen[0]) == sourced(written[0]) == sourced(final)
    assert written[0] == written[1]
    assert written[0]["styled"]["lines"][0]["kind"] == "edited"
    assert written[0]["answer"].startswith("Aye, a fine question!\n\n")
    assert again["answer"] == written[0]["answer"]
    assert missed == [chosen[0], written[0]]
    (turn,) = service.bot.store.turns(final["conversation"])
    assert turn.answer["answer"] == written[0]["answer"]
    assert turn.answer["ask"] == "q1"
    assert turn.answer["timings"] == final["timings"]


def test_a_choice_of_another_conversation_is_told_to_who_made_it(serve, voiced_bot, talk) -> None:
    service = serve(voiced_bot)
    result = asked(service)

    async def chat() -> Any:
        async with talk(service) as client:
            await client.say("choose", id=result["id"], choice=1)
            before = await client.hear()
            await client.say("hello", resume=result["conversation"])
            await client.hear()
            reply = service.client.post("/api/choose", json={"id": result["id"], "choice": 1})
            async with reply as given:
                return before, await given.json(), await client.hear()

    before, replied, heard = service.run(chat())
    assert (before["type"], before["id"], before["turn"]) == ("final", result["id"], result["id"])
    assert line(before) == result["styled"]["lines"][1]["text"]
    ChooseReply.model_validate(replied)
    assert replied["conversation"] == result["conversation"]
    assert replied["answer"] == heard["answer"] == result["answer"]  # changed back


def test_a_remark_of_an_abstention_may_be_chosen(serve, voiced_bot) -> None:
    service = serve(voiced_bot)
    result = asked(service, question=NONSENSE)
    for choice, said in ((1, result["styled"]["lines"][1]["text"]), ("I wish I knew.", "I wish I knew.")):
        chosen = service.post("/api/choose", json={"id": result["id"], "choice": choice}).json
        assert (line(chosen), chosen["styled"]["span"], chosen["answer"]) == (said, None, "")
        assert (chosen["kind"], chosen["reason"]) == ("none", result["reason"])


def test_choices_that_cannot_be_are_told(serve, voiced_bot, talk) -> None:
    service = serve(voiced_bot)
    styled, plain = asked(service)["id"], asked(service, persona="")["id"]
    lines = len(service.bot.store.turn(styled).answer["styled"]["lines"])
    wrong = [
        (styled, lines, 404, f"Expected a choice from 0 to {lines - 1}, but got {lines}."),
        ("nobody", 0, 404, "Expected the id of a recorded answer, but got 'nobody'."),
        (plain, 0, 404, f"Expected a question that offers a choice, but '{plain}' offers none."),
    ]
    for id_, choice, status, said in wrong:
        assert error(service.post("/api/choose", json={"id": id_, "choice": choice}), status) == said
    for choice in (-1, "", " ", "x" * 401, None, 1.5, True, [0], 2**70):
        assert error(service.post("/api/choose", json={"id": styled, "choice": choice}), 422)

    async def chat() -> Any:
        async with talk(service) as client:
            result = []
            for id_, choice, _, _ in wrong:
                await client.say("choose", id=id_, choice=choice)
                result.append(await client.hear())
            for choice in ("x" * 401, "\n", -1, 2**60):
                await client.say("choose", id=styled, choice=choice)
                result.append(await client.hear())
            return result

    result = service.run(chat())
    assert [item["message"] for item in result[:3]] == [said for *_, said in wrong]
    assert [item["code"] for item in result] == [*["not_found"] * 3, *["invalid"] * 2, *["not_found"] * 2]
    assert service.bot.store.turn(styled).answer["styled"]["lines"][0]["kind"] != "edited"


def test_choosing_counts_as_a_question_does(serve, voiced_bot, talk) -> None:
    service = serve(voiced_bot, rate=3)

    async def chat() -> Any:
        async with talk(service) as client:  # one of the three
            result = []
            for _ in range(3):
                await client.say("choose", id="q", choice=0)
                result.append((await client.hear())["code"])
            return result

    assert service.run(chat()) == ["not_found", "not_found", "too_many_requests"]


# --- speaking -------------------------------------------------------------------------------------------------------


def speech(*turns: str, **fields: Any) -> dict[str, Any]:
    return {"persona": "cook", "turns": list(turns) or ["Hello"], **fields}


def test_what_a_persona_says(serve, voiced_bot) -> None:
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


def test_nobody_speaks_where_there_are_no_personas(service) -> None:
    assert "there are none yet; train one" in error(service.post("/api/speak", json=speech()), 404)


def test_a_hint_of_unknown_words_is_told(serve, voiced_bot) -> None:
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


def test_wrong_talks_are_told(serve, voiced_bot) -> None:
    service = serve(voiced_bot)
    for body, said in WRONG:
        assert said in error(service.post("/api/speak", json=body), 422)


def test_a_persona_has_the_time_of_a_question(serve, voiced_bot, monkeypatch) -> None:
    def dawdle(_: PersonaStore, *given: Any, check: Any, **options: Any) -> None:
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


# --- the grid -------------------------------------------------------------------------------------------------------


def test_the_grid_and_where_a_hint_falls(serve, voiced_bot) -> None:
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


def test_a_base_without_a_grid_is_told(serve, voiced_bot, monkeypatch) -> None:
    base = voiced_bot.voices._base(voiced_bot.voices._named_base())  # whose grid is taken away
    object.__setattr__(base, "steering", None)
    service = serve(voiced_bot)
    assert "has no grid; train one" in error(service.get("/api/grid"), 404)
    said = service.post("/api/speak", json=speech(hint="boat")).json
    assert "has no topics" in said["notice"]


# --- around ---------------------------------------------------------------------------------------------------------


def test_voices_warm_up_beside_a_service_that_is_ready(serve, voiced_bot, monkeypatch) -> None:
    go, said, say = Event(), [], PersonaStore.say

    def slowly(self: PersonaStore, spec: str, *given: Any, **options: Any) -> Any:
        assert go.wait(20)
        said.append(spec)
        return say(self, spec, *given, **options)

    monkeypatch.setattr(PersonaStore, "say", slowly)
    service = serve(voiced_bot)
    assert service.get("/readyz").status == 200
    assert said == []
    go.set()
    service.until(lambda: said == ["cook", "sailor"], "the greeting")


def test_voices_that_cannot_warm_up_are_no_fault(serve, voiced_bot, monkeypatch, caplog) -> None:
    def fail(*given: Any, **options: Any) -> None:
        raise RuntimeError("no voice today")

    monkeypatch.setattr(PersonaStore, "say", fail)
    with caplog.at_level(logging.WARNING):
        service = serve(voiced_bot)
        service.until(lambda: "no voice today" in caplog.text, "the warning")
    assert service.get("/readyz").status == 200


def test_a_service_that_stops_waits_for_no_greeting(serve, voiced_bot, monkeypatch) -> None:
    begun = Event()

    def greet(_: PersonaStore, spec: str, *given: Any, check: Any, **options: Any) -> None:
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


def test_the_document_tells_of_mixes() -> None:
    result = document(secured=True, personas=("cook", "first-mate", "sailor"))
    validate(result)
    persona = result["components"]["schemas"]["SpeakRequest"]["properties"]["persona"]
    names, mix = persona["anyOf"]
    assert names == {"enum": ["cook", "first-mate", "sailor"]}
    assert re.search(mix["pattern"], "sailor:2,first-mate")
    assert not re.search(mix["pattern"], "cook,cook")
    assert not re.search(mix["pattern"], "cook:0,sailor")


def test_voices_may_be_opened_when_they_are_first_asked(serve, voiced_bot, monkeypatch) -> None:
    said, say = [], PersonaStore.say

    def result(self: PersonaStore, spec: str, *given: Any, **options: Any) -> Any:
        said.append(spec)
        return say(self, spec, *given, **options)

    monkeypatch.setattr(PersonaStore, "say", result)
    config = voiced_bot.config
    monkeypatch.setattr(voiced_bot, "config", replace(config, style=replace(config.style, warm=False)))
    service = serve(voiced_bot)
    assert service.get("/readyz").status == 200
    asked(service)
    assert said == ["cook"]
