"""Personas in every service: styled answers, choices among them, sentences without a question, and the grid."""

from __future__ import annotations

import json
import shutil
from typing import Any

import openai

from qa_bot import Bot
from qa_bot.answering.stages.persona_line import BETWEEN
from qa_bot.web.api.models import ChooseReply
from tests.qa_bot.web.chat.styled import BODY, CATS, ask, error, speech

NONSENSE = "zxqv wprt"


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


def test_a_persona_speaks_before_the_answer(serve, voiced_bot) -> None:
    service = serve(voiced_bot)
    plain = ask(service, persona="")
    assert "styled" not in plain
    result = ask(service, persona="cook:2,sailor", hint="boat", top=3)
    assert sourced(result) == plain["answer"]
    assert (result["styled"]["persona"], result["styled"]["hint"]) == ("cook:2,sailor", "boat")
    assert 1 < len(result["styled"]["lines"]) <= 3
    assert {item["kind"] for item in result["styled"]["lines"]} <= {"generated", "quotation"}
    assert service.get(f"/api/conversations/{result['conversation']}").json["persona"] == "cook:2,sailor"


def test_a_place_on_the_map_steers_the_persona(serve, voiced_bot) -> None:
    service = serve(voiced_bot)
    results = [ask(service, persona="cook", hint="boat", cell=cell) for cell in (0, 6, 0)]
    lines = [[line["text"] for line in result["styled"]["lines"]] for result in results]
    assert lines[0] == lines[2] != lines[1]
    assert {result["styled"]["hint"] for result in results} == {"boat"}
    assert "from 0 to 11, but got 12" in ask(service, persona="cook", cell=12)["styled"]["notice"]
    assert error(service.post("/api/ask", json={**BODY, "persona": "cook", "cell": -1}), 422)


def test_an_abstention_has_remarks_only(serve, voiced_bot) -> None:
    result = ask(serve(voiced_bot), question=NONSENSE)
    assert (result["kind"], result["answer"], result["styled"]["span"]) == ("none", "", None)
    assert result["styled"]["lines"]
    assert result["reason"]


SPECS = ("Eve", "cook/../sailor", "cook:x", "cook:0", "cook,cook", "cook,", "/etc/passwd", "*")


def test_an_unknown_persona_is_rejected_with_a_reason(serve, voiced_bot, talk) -> None:
    service = serve(voiced_bot)
    for spec in SPECS:
        for path, body in (("/api/ask", {**BODY, "persona": spec}), ("/api/speak", speech(persona=spec))):
            message = error(service.post(path, json=body), 422)
            assert message.startswith("Expected "), message
            assert repr(spec) in message or repr(spec.rpartition(",")[2]) in message
        stream = service.post("/api/ask", json={**BODY, "persona": spec}, headers={"Accept": "text/event-stream"})
        assert stream.status == 422

    async def chat() -> Any:
        async with talk(service) as client:
            return [(await client.ask(CATS, id="q1", persona=spec))[-1] for spec in SPECS]

    for result in service.run(chat()):
        assert (result["type"], result["id"], result["code"]) == ("error", "q1", "invalid")


def test_a_missing_base_is_rejected_with_a_reason(home, serve, tiny_voices, talk) -> None:
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
        expected = f"{line(answer)}\n\nI don't know. {answer['reason']}"
        assert result.choices[0].message.content == expected
        pieces = list(client.chat.completions.create(model="cook", messages=talk, stream=True))
        assert "".join(item.choices[0].delta.content or "" for item in pieces) == expected
        talk[0]["content"] = "boat" * 500  # a client's usual instructions are longer than a hint may be
        assert client.chat.completions.create(model="cook", messages=talk).choices[0].message.content


def line(answer: dict[str, Any]) -> str:
    return str(answer["styled"]["lines"][0]["text"])


def test_a_choice_is_sent_to_every_client_and_stored(serve, voiced_bot, talk) -> None:
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
            await client.say("ask", id="q1", text=CATS)  # a repeated question gets the same answer
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


def test_a_choice_of_another_conversation_is_sent_to_its_client(serve, voiced_bot, talk) -> None:
    service = serve(voiced_bot)
    result = ask(service)

    async def chat() -> Any:
        async with talk(service) as client:
            await client.say("choose", id=result["id"], choice=1)
            before = await client.hear()
            await client.say("hello", resume=result["conversation"])
            await client.hear()
            reply = service.client.post("/api/choose", json={"id": result["id"], "choice": 1})
            async with reply as reply:
                return before, await reply.json(), await client.hear()

    before, replied, heard = service.run(chat())
    assert (before["type"], before["id"], before["turn"]) == ("final", result["id"], result["id"])
    assert line(before) == result["styled"]["lines"][1]["text"]
    ChooseReply.model_validate(replied)
    assert replied["conversation"] == result["conversation"]
    assert replied["answer"] == heard["answer"] == result["answer"]  # changed back


def test_a_remark_of_an_abstention_may_be_chosen(serve, voiced_bot) -> None:
    service = serve(voiced_bot)
    result = ask(service, question=NONSENSE)
    for choice, expected in ((1, result["styled"]["lines"][1]["text"]), ("I wish I knew.", "I wish I knew.")):
        chosen = service.post("/api/choose", json={"id": result["id"], "choice": choice}).json
        assert (line(chosen), chosen["styled"]["span"], chosen["answer"]) == (expected, None, "")
        assert (chosen["kind"], chosen["reason"]) == ("none", result["reason"])


def test_impossible_choices_are_rejected_with_a_reason(serve, voiced_bot, talk) -> None:
    service = serve(voiced_bot)
    styled, plain = ask(service)["id"], ask(service, persona="")["id"]
    lines = len(service.bot.store.turn(styled).answer["styled"]["lines"])
    wrong = [
        (styled, lines, 404, f"Expected a choice from 0 to {lines - 1}, but got {lines}."),
        ("nobody", 0, 404, "Expected the id of a recorded answer, but got 'nobody'."),
        (plain, 0, 404, f"Expected a question that offers a choice, but '{plain}' offers none."),
    ]
    for id_, choice, status, expected in wrong:
        assert error(service.post("/api/choose", json={"id": id_, "choice": choice}), status) == expected
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
    assert [item["message"] for item in result[:3]] == [expected for *_, expected in wrong]
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
