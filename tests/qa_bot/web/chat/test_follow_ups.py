"""Conversations by three kinds of clients: follow-ups are understood from earlier turns and answered the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import openai
import pytest

from qa_bot.web.chat.socket import CHAT

CATS = "Why do cats sleep all day?"
CAPITAL, POPULATION = "What is the capital of Australia?", "What is Australia's population?"
TURNS = (
    "Hello!",
    CAPITAL,
    "and its population?",
    "What about New Zealand?",
    "why this answer?",
    "Where do zorgons live on the moon of Quix?",
    CATS,
    "shorter",
    "more sources",
    "Thank you!",
)


async def spoken(client: Any, *turns: str) -> list[dict[str, Any]]:
    """The last frame of each turn."""
    return [(await client.ask(turn, id=f"q{number}"))[-1] for number, turn in enumerate(turns, start=1)]


def typed(home: Path, *turns: str) -> list[dict[str, Any]]:
    """The answers of a conversation in the terminal, by a separate process."""
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "chat", "--json"]
    done = subprocess.run(command, input="\n".join(turns), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def completed(url: str, *turns: str) -> list[str]:
    """The replies to an OpenAI client, which sends the whole conversation each time."""
    messages: list[Any] = []
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
        for turn in turns:
            messages.append({"role": "user", "content": turn})
            result = client.chat.completions.create(model="qa-bot", messages=messages)
            messages.append({"role": "assistant", "content": result.choices[0].message.content})
    return [item["content"] for item in messages[1::2]]


def refusal(answer: dict[str, Any]) -> str:
    """The text of a refusal, with the questions that could be asked instead."""
    choices = [f"{number}. {choice['text']}" for number, choice in enumerate(answer.get("choices", ()), start=1)]
    below = ["", "Your documents answer these:", *choices] if choices else []
    return "\n".join([f"I don't know. {answer['reason']}", *below])


@pytest.mark.slow
def test_ten_turns_are_answered_the_same_in_terminal_chat_and_openai(service, talk) -> None:
    async def chat() -> list[dict[str, Any]]:
        async with talk(service) as client:
            return await spoken(client, *TURNS)

    finals = service.run(chat())
    shared = ("question", "answered", "kind", "answer", "reason", "understood")
    in_terminal = typed(service.bot.home.path, *TURNS)
    assert [[item.get(name) for name in shared] for item in in_terminal] == [
        [item.get(name) for name in shared] for item in finals
    ]
    # vectors of a passage differ a little with the passages beside it in its batch
    assert [item["confidence"] for item in in_terminal] == pytest.approx(
        [item["confidence"] for item in finals], abs=0.01
    )
    assert completed(service.url, *TURNS) == [item["answer"] if item["answered"] else refusal(item) for item in finals]
    understood = [item.get("understood", "") for item in finals[:4]]
    assert understood == ["", "", POPULATION, "What is New Zealand's population?"]
    assert [item["answered"] for item in finals].count(False) == 1


@pytest.mark.slow
def test_a_bare_topic_gets_choices_in_every_front_end(service, talk) -> None:
    turns = ("dogs", "the second one", "What is the capital of Georgia?", "1", "shorter")

    async def chat() -> list[dict[str, Any]]:
        async with talk(service) as client:
            return await spoken(client, *turns)

    finals = service.run(chat())
    offers = [[item["text"] for item in final.get("choices", [])] for final in finals]
    assert [len(item) > 1 for item in offers] == [True, False, True, False, False]
    assert (finals[0]["kind"], finals[0]["answered"], finals[0]["answer"]) == ("none", False, "")
    assert finals[1]["understood"] == finals[0]["choices"][1]["question"]
    assert finals[3]["understood"] == finals[2]["choices"][0]["question"]
    shared = ("answer", "reason", "understood", "choices")
    in_terminal = typed(service.bot.home.path, *turns)
    assert [[item.get(name) for name in shared] for item in in_terminal] == [
        [item.get(name) for name in shared] for item in finals
    ]
    replies = completed(service.url, *turns)
    assert replies[1::2] == [final["answer"] for final in finals[1::2]]
    assert replies[0].splitlines() == [
        "Which of these do you mean?",
        *(f"{number}. {text}" for number, text in enumerate(offers[0], start=1)),
    ]


def test_a_choice_by_frame_is_answered_under_its_question(service, talk) -> None:
    async def chat() -> Any:
        async with talk(service) as client, talk(service) as other:
            offered = await client.ask("dogs", id="q1")
            await other.say("hello", resume=offered[-1]["conversation"], seq=10_000)
            await other.hear()
            await client.say("choose", id="q1", choice=1)
            chosen = await client.until("final", "error", question_id="q1")
            heard = await other.until("final", question_id="q1")
            await client.say("choose", id="q1", choice=99)
            wrong = await client.hear()
            return offered, chosen, heard, wrong

    offered, chosen, heard, wrong = service.run(chat())
    (clarify,) = [frame for frame in offered if frame["type"] == "clarify"]
    assert clarify["choices"] == offered[-1]["choices"]
    assert [frame["text"] for frame in chosen if frame["type"] == "query"] == [clarify["choices"][1]["question"]]
    assert chosen[-1] == heard[-1]
    assert (chosen[-1]["question"], chosen[-1]["kind"]) == ("dogs", "passage")
    assert "choices" not in chosen[-1]
    assert wrong["code"] == "not_found"  # the question was answered: it offers none any more


def test_whoever_chooses_at_once_hears_of_one_end(service, talk) -> None:
    async def chat() -> Any:
        async with talk(service) as client:
            await client.say("ask", text="dogs", id="q1")
            offered = (await client.until("clarify"))[-1]
            await client.say("choose", id="q1", choice=offered["choices"][1]["text"])
            result = await client.until("final", "error")
            await client.say("ping")
            return offered, result, await client.until("pong")

    offered, result, after = service.run(chat())
    assert [frame["text"] for frame in result if frame["type"] == "query"] == [offered["choices"][1]["question"]]
    assert (result[-1]["answered"], result[-1]["kind"], result[-1]["question"]) == (True, "passage", "dogs")
    assert [frame["type"] for frame in after] == ["pong"]


def test_whoever_asks_on_does_not_choose(service, talk) -> None:
    async def chat() -> Any:
        async with talk(service) as client:
            await client.say("ask", text="dogs", id="q1")
            await client.until("clarify")
            await client.say("ask", text=CATS, id="q2")
            first = (await client.until("final", "error"))[-1]
            return first, (await client.until("final", "error"))[-1]

    first, second = service.run(chat())
    assert (first["id"], first["answered"]) == ("q1", False)
    assert (second["id"], second["answered"]) == ("q2", True)


def test_a_held_turn_can_be_stopped_and_ends_with_the_service(serve, bot, talk) -> None:
    service = serve(bot)

    async def chat() -> Any:
        async with talk(service) as client:
            await client.say("ask", text="dogs", id="q1")
            await client.until("clarify")
            await client.say("cancel", id="q1")
            stopped = (await client.until("final", "error"))[-1]
            await client.say("ask", text="dogs", id="q2")
            await client.until("clarify")
            await service.running.app[CHAT].close()
            return stopped, (await client.until("final", "error"))[-1]

    stopped, ended = service.run(chat())
    assert (stopped["type"], stopped["code"]) == ("error", "cancelled")
    assert (ended["type"], ended["id"]) == ("final", "q2")


def test_a_choice_by_json_is_sent_to_every_client_of_the_conversation(service, talk) -> None:
    async def chat() -> Any:
        async with talk(service) as client:
            offered = (await client.ask("dogs", id="q1"))[-1]
            body = {"id": offered["turn"], "choice": offered["choices"][0]["text"]}
            async with service.client.post("/api/choose", json=body) as reply:
                result = await reply.json()
            return offered, result, (await client.until("final", question_id="q1"))[-1]

    offered, result, heard = service.run(chat())
    assert result["understood"] == offered["choices"][0]["question"]
    assert result["answered"]
    assert (heard["answer"], heard["turn"]) == (result["answer"], result["id"])
    refused = service.post("/api/choose", json={"id": offered["turn"], "choice": 9})
    assert refused.status == 404
    assert "Expected one of the choices 0 (" in refused.json["error"]["message"]


def test_json_clients_go_on_by_the_conversation_s_id(service) -> None:
    first = service.post("/api/ask", json={"question": CAPITAL}).json
    body = {"question": "and its population?", "conversation": first["conversation"]}
    second = service.post("/api/ask", json=body).json
    raw = service.post("/api/ask", json={**body, "raw": True}).json
    assert (second["understood"], second["kind"]) == (POPULATION, "fact")
    assert "understood" not in raw
    assert raw["answer"] != second["answer"]
    result = service.get(f"/api/conversations/{first['conversation']}").json
    assert [turn["rewritten"] for turn in result["turns"]] == ["", POPULATION, ""]


def test_a_follow_up_shows_how_it_was_understood_and_is_undone(service, talk) -> None:
    async def chat() -> Any:
        async with talk(service) as client:
            await client.ask(CAPITAL, id="q1")
            result = await client.ask("and its population?", id="q2")
            await client.say("raw", id="q2")
            undone = await client.until("final", "error", question_id="q2")
            return result, undone, await client.ask("What about New Zealand?", id="q3")

    result, undone, after = service.run(chat())
    assert [frame["text"] for frame in result if frame["type"] == "query"] == [POPULATION]
    assert result[-1]["understood"] == POPULATION
    assert "query" not in [frame["type"] for frame in undone]
    assert "understood" not in undone[-1]
    assert undone[-1]["turn"] != result[-1]["turn"]
    assert (undone[-1]["question"], undone[-1]["id"]) == ("and its population?", "q2")
    assert "population" not in after[-1].get("understood", "")


def test_an_undone_rewrite_is_undone_after_a_restart(serve, bot, talk) -> None:
    async def before(service: Any) -> Any:
        async with talk(service) as client:
            await client.ask(CAPITAL, id="q1")
            return (await client.ask("and its population?", id="q2"))[-1]

    async def after(service: Any, conversation: str) -> Any:
        async with talk(service) as client:
            await client.say("hello", resume=conversation, seq=10_000)
            await client.hear()
            await client.say("raw", id="q2")
            return (await client.until("final", "error", question_id="q2"))[-1]

    service = serve(bot)
    result = service.run(before(service))
    service = serve(bot)
    undone = service.run(after(service, result["conversation"]))
    assert (undone["type"], undone["question"]) == ("final", "and its population?")
    assert "understood" not in undone


def test_a_question_of_another_conversation_cannot_be_undone(service, talk) -> None:
    async def chat() -> Any:
        async with talk(service) as one, talk(service) as other:
            result = (await one.ask(CATS, id="q1"))[-1]
            await other.say("hello")
            await other.hear()
            await other.say("raw", id=result["turn"])
            return await other.hear()

    assert service.run(chat())["code"] == "not_found"


def test_a_stream_shows_how_the_question_was_understood(service) -> None:
    first = service.post("/api/ask", json={"question": CAPITAL}).json
    body = {"question": "and its population?", "conversation": first["conversation"]}
    result = service.post("/api/ask", json=body, headers={"Accept": "text/event-stream"}).text
    events = [json.loads(line.removeprefix("data: ")) for line in result.splitlines() if line.startswith("data: ")]
    assert {"type": "query", "text": POPULATION}.items() <= events[0].items()


def test_a_dislike_holds_for_the_next_answer_of_that_conversation_only(service, talk) -> None:
    async def chat() -> Any:
        async with talk(service) as one, talk(service) as other:
            first = (await one.ask(CATS, id="q1"))[-1]
            await one.say("feedback", id="q1", vote="down", comment="I meant lions.")
            again, elsewhere = (await one.ask(CATS, id="q2"))[-1], (await other.ask(CATS, id="q1"))[-1]
            return first, again, elsewhere

    first, again, elsewhere = service.run(chat())
    assert first["answer"] == elsewhere["answer"] != again["answer"]
    saved = service.bot.store.turn(first["turn"])
    assert saved.answer["trace"]["candidates"]
    assert [(item.vote, item.comment) for item in service.bot.store.feedback(saved.id)] == [("down", "I meant lions.")]


@pytest.mark.parametrize("stream", [False, True])
def test_an_openai_client_may_tell_strange_things_of_the_past(service, stream) -> None:
    messages = [
        {"role": "assistant", "content": "I began."},
        {"role": "user", "content": "\x00\u202e" * 50},
        {"role": "user", "content": CAPITAL},
        {"role": "assistant", "content": None},
        {"role": "user", "content": "Which of these do you mean?"},
        {"role": "assistant", "content": "Which of these do you mean?\n1. this\n2. that"},
        {"role": "user", "content": "2"},
        {"role": "assistant", "content": "x" * 30_000},
        {"role": "user", "content": "and its population?"},
    ]
    reply = service.post("/v1/chat/completions", json={"model": "qa-bot", "messages": messages, "stream": stream})
    assert reply.status == 200
