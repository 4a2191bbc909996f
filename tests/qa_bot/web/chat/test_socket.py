"""The chat as a client meets it: a real service, a real WebSocket."""

import asyncio
import logging
from threading import Event

import pytest

from tests.qa_bot.web.chat.sockets import CATS, turns

STRANGE = "Why do cats \U0001f408\u200d\u2b1b sleep?\x00 \u202eלמה חתולים ישנים\u202c — ¿por qué? \ufffe"


def test_a_turn_streams_and_ends_with_the_answer(service, talk):
    async def chat():
        async with talk(service) as client:
            await client.say("hello", id="h1")
            return await client.hear(), await client.ask(CATS, id="q1")

    ready, result = service.run(chat())
    assert (ready["type"], ready["id"], ready["personas"]) == ("ready", "h1", [])
    assert [frame["seq"] for frame in result] == list(range(1, len(result) + 1))
    assert {(frame["id"], frame["conversation"]) for frame in result} == {("q1", ready["conversation"])}
    kinds = [frame["type"] for frame in result]
    stages = [frame["stage"] for frame in result if frame["type"] == "status"]
    assert stages == ["retrieve", "rank", "decide", "compose"]
    deltas = kinds.count("delta")
    assert deltas > 1
    assert kinds == ["status"] * 4 + ["sources"] + ["delta"] * deltas + ["final"]
    final = result[-1]
    assert "".join(frame["text"] for frame in result if frame["type"] == "delta") == final["answer"]
    assert result[4]["sources"] == final["sources"]
    assert (final["question"], final["answered"], final["kind"]) == (CATS, True, "passage")
    (turn,) = turns(service, ready["conversation"])
    assert (turn.id, turn.answer["ask"], turn.answer["answer"]) == (final["turn"], "q1", final["answer"])


def test_hello_is_optional(service, talk):
    async def chat():
        async with talk(service) as client:
            first = (await client.ask(CATS))[-1]
            second = (await client.ask("What is photosynthesis?"))[-1]
        async with talk(service) as client:
            third = (await client.ask("How tall is Mount Everest?", conversation=first["conversation"]))[-1]
        return [first, second, third]

    heard = service.run(chat())
    assert len({frame["conversation"] for frame in heard}) == 1
    assert len({frame["id"] for frame in heard}) == 3
    assert len(turns(service, heard[0]["conversation"])) == 3


def test_a_trace_is_sent_on_request(service, talk):
    async def chat():
        async with talk(service) as client:
            return [(await client.ask(CATS, trace=trace))[-1] for trace in (False, True)]

    without, with_it = service.run(chat())
    assert "trace" not in without
    assert with_it["trace"]["queries"]


def test_odd_text_is_answered_and_stored(service, talk):
    async def chat():
        async with talk(service) as client:
            return (await client.ask(STRANGE, id="q1"))[-1]

    final = service.run(chat())
    assert final["question"] == STRANGE
    (turn,) = turns(service, final["conversation"])
    assert turn.question == STRANGE.replace("\x00", "\ufffd")  # which no database takes


def test_the_longest_question_fits_however_it_is_written(service, talk):
    async def chat():
        async with talk(service) as client:
            escaped = "\\ud83d\\ude00" * 20_000
            await client.socket.send_str(f'{{"type": "ask", "text": "{escaped}", "deadline": 0.01}}')
            return (await client.until("final", "error"))[-1]

    assert service.run(chat())["question"] == "\U0001f600" * 20_000


def test_questions_of_a_conversation_wait_for_each_other(serve, slow_bot, talk):
    service = serve(slow_bot)
    hold = slow_bot.pauses["retrieve"] = Event()

    async def chat():
        async with talk(service) as client:
            for i in range(6):
                await client.say("ask", text=CATS, id=f"q{i}")
            before = [await client.hear() for _ in range(6)]
            hold.set()
            after = []
            for i in range(5):
                after += await client.until("final", question_id=f"q{i}")
            return before, after

    before, after = service.run(chat())
    assert [(frame["id"], frame["type"], frame.get("stage")) for frame in before] == [
        ("q0", "status", "retrieve"),
        *((f"q{i}", "status", "queued") for i in range(1, 5)),
        ("q5", "error", None),
    ]
    assert (before[5]["code"], before[5]["retry_after"]) == ("too_many_requests", 1)
    ids = [frame["id"] for frame in after]
    assert ids == sorted(ids)  # one turn after the other
    assert slow_bot.begun == 5


def test_an_overloaded_service_keeps_the_connection(serve, slow_bot, talk):
    service = serve(slow_bot, workers=1, queue=0)
    hold = slow_bot.pauses["retrieve"] = Event()

    async def chat():
        async with talk(service) as first, talk(service) as second:
            await first.say("ask", text=CATS)
            await first.hear()
            refused = await second.ask(CATS, id="q1")
            hold.set()
            await first.until("final")
            return refused, (await second.ask(CATS, id="q1"))[-1]

    refused, answered = service.run(chat())
    assert [(frame["type"], frame["id"]) for frame in refused] == [("status", "q1"), ("error", "q1")]
    assert refused[0]["stage"] == "queued"
    assert refused[1]["code"] == "overloaded"
    assert refused[1]["retry_after"] > 0
    assert (answered["type"], answered["answered"]) == ("final", True)


def test_a_queued_question_gets_a_status(serve, slow_bot, talk):
    service = serve(slow_bot, workers=1, queue=1)
    hold = slow_bot.pauses["retrieve"] = Event()

    async def chat():
        async with talk(service) as first, talk(service) as second:
            await first.say("ask", text=CATS)
            await first.hear()
            await second.say("ask", text=CATS)
            queued = await second.hear()
            hold.set()
            return [queued, *await second.until("final")]

    stages = [frame.get("stage") for frame in service.run(chat())]
    assert stages[:3] == ["queued", "retrieve", "rank"]


def test_an_error_of_ours_ends_the_turn_and_stays_in_the_log(serve, slow_bot, talk, caplog, monkeypatch):
    service = serve(slow_bot)
    answer = type(slow_bot).ask
    failing = iter([True, False])

    def fails_once(self, *args, **options):
        if next(failing):
            raise RuntimeError("the secret cause")
        return answer(self, *args, **options)

    monkeypatch.setattr(type(slow_bot), "ask", fails_once)

    async def chat():
        async with talk(service) as client:
            return (await client.ask(CATS, id="q1"))[-1], (await client.ask(CATS, id="q1"))[-1]

    with caplog.at_level(logging.ERROR):
        failed, answered = service.run(chat())
    assert (failed["type"], failed["code"]) == ("error", "internal")
    assert "secret" not in str(failed)
    assert "the secret cause" in caplog.text
    assert answered["type"] == "final"  # what failed may be asked again


def test_cancel_stops_the_work(serve, slow_bot, talk):
    service = serve(slow_bot)
    slow_bot.pauses["rank"] = Event()

    async def chat():
        async with talk(service) as client:
            await client.say("ask", text=CATS, id="q1")
            while (await client.hear()).get("stage") != "rank":
                pass
            await client.say("cancel", id="q1")
            ended = await client.hear()
            await asyncio.to_thread(service.until, lambda: slow_bot.cancelled == 1)
            slow_bot.pauses.clear()
            return ended, await client.ask(CATS, id="q1")

    ended, again = service.run(chat())
    assert (ended["type"], ended["id"], ended["code"]) == ("error", "q1", "cancelled")
    assert again[-1]["type"] == "final"  # what was stopped may be asked again
    assert len(turns(service, ended["conversation"])) == 1


def test_cancel_of_a_waiting_question_leaves_the_others(serve, slow_bot, talk):
    service = serve(slow_bot)
    hold = slow_bot.pauses["retrieve"] = Event()

    async def chat():
        async with talk(service) as client:
            for item in ("q1", "q2", "q3"):
                await client.say("ask", text=CATS, id=item)
            await client.say("cancel", id="q2")
            heard = await client.until("error")
            hold.set()
            return heard + await client.until("final", question_id="q1") + await client.until("final", question_id="q3")

    heard = service.run(chat())
    last = [(frame["id"], frame["type"]) for frame in heard if frame["type"] in ("final", "error")]
    assert last == [("q2", "error"), ("q1", "final"), ("q3", "final")]
    assert slow_bot.begun == 2


def test_cancel_that_comes_too_late_changes_nothing(service, talk):
    async def chat():
        async with talk(service) as client:
            await client.ask(CATS, id="q1")
            await client.say("cancel", id="q1")
            await client.say("ping", id="p1")
            pong = await client.hear()
            await client.say("cancel", id="never-asked")
            return pong, await client.hear()

    pong, unknown = service.run(chat())
    assert (pong["type"], pong["id"]) == ("pong", "p1")
    assert (unknown["type"], unknown["id"], unknown["code"]) == ("error", "never-asked", "not_found")


def test_feedback_by_the_questions_id_or_the_answers(service, talk):
    comment = "<b>good</b> \U0001f44d\x00 \u202eשלום"

    async def chat():
        async with talk(service) as client:
            final = (await client.ask(CATS, id="q1"))[-1]
            await client.say("feedback", id="q1", vote="up", comment=comment)
            await client.say("feedback", id=final["turn"], vote="down")
            await client.say("ping")
            pong = await client.hear()
            await client.say("feedback", id="nothing", vote="up")
            unknown = await client.hear()
            await client.say("feedback", id="q1", vote="sideways")
            return final, pong, unknown, await client.hear()

    final, pong, unknown, wrong = service.run(chat())
    assert pong["type"] == "pong"  # nothing was wrong, and both are saved
    votes = [(item.vote, item.comment) for item in service.bot.store.feedback(final["turn"])]
    assert votes == [("up", comment.replace("\x00", "\ufffd")), ("down", "")]
    assert (unknown["code"], unknown["id"]) == ("not_found", "nothing")
    assert (wrong["code"], wrong["id"]) == ("invalid", "q1")


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "choose", "id": "q1", "choice": 1},
        {"type": "choose", "id": "q9", "choice": 1},
        {"type": "raw", "id": "q9"},
    ],
)
def test_a_choice_without_choices_is_rejected(service, talk, frame):
    async def chat():
        async with talk(service) as client:
            await client.ask(CATS, id="q1")
            await client.say(frame["type"], **{name: frame[name] for name in frame if name != "type"})
            return await client.hear()

    result = service.run(chat())
    assert (result["type"], result["id"], result["code"]) == ("error", frame["id"], "not_found")


def test_an_unknown_persona_is_refused_by_name(serve, voiced_bot, talk):
    service = serve(voiced_bot)

    async def chat():
        async with talk(service) as client:
            await client.say("hello")
            ready = await client.hear()
            return ready, (await client.ask(CATS, persona="Eve"))[-1], (await client.ask(CATS, persona="cook"))[-1]

    ready, refused, answered = service.run(chat())
    assert ready["personas"] == ["cook", "sailor"]
    assert refused["code"] == "invalid"
    assert "cook" in refused["message"]
    assert answered["type"] == "final"
