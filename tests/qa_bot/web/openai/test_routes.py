"""Chat completions by the official client, plain and streamed, and what is refused of its requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from threading import Event
from typing import Any

import openai
import pytest

from qa_bot.answering.wording.refusals import ENGLISH
from qa_bot.bot import Bot
from qa_bot.documents.sync import add
from qa_bot.web.openai.models import ChatReply, ModelsReply
from qa_bot.web.openai.routes import _parse_reply
from qa_core.text.analysis import words

CATS = "Why do cats sleep all day?"
NONSENSE = "zxqv wprt"


@pytest.fixture
def client() -> Iterator[Callable[..., openai.OpenAI]]:
    """`client(service)`: the official client of a service."""
    with ExitStack() as held:

        def connect(service: Any, key: str = "any") -> openai.OpenAI:
            return held.enter_context(openai.OpenAI(base_url=f"{service.url}/v1", api_key=key, max_retries=0))

        yield connect


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def complete(client: openai.OpenAI, *messages: dict[str, Any], **options: Any) -> Any:
    return client.chat.completions.create(model="qa-bot", messages=list(messages) or [user(CATS)], **options)


# --- plain ----------------------------------------------------------------------------------------------------------


def test_an_answer_with_its_citations(service, client) -> None:
    result = complete(client(service))
    ChatReply.model_validate(result.model_dump())
    choice = result.choices[0]
    citation = result.citations[0]
    assert (choice.finish_reason, choice.message.role, result.model) == ("stop", "assistant", "qa-bot")
    assert (citation["document"], citation["collection"]) == ("animals-cats-sleep", "starter")
    text, where = choice.message.content, citation["span"]
    assert text[slice(*where)] == citation["text"][slice(*citation["source_span"])]
    assert choice.message.citations == result.citations
    assert service.post("/api/feedback", json={"id": result.id, "vote": "up"}).status == 200


def test_an_abstention_is_an_ordinary_message(service, client) -> None:
    result = complete(client(service), user(NONSENSE))
    assert result.choices[0].message.content == f"I don't know. {service.bot.ask(NONSENSE).reason}"
    assert result.choices[0].finish_reason == "stop"


def test_usage_counts_words(service, client) -> None:
    result = complete(client(service), {"role": "system", "content": "Be brief."}, user(CATS))
    tokens = len(words(result.choices[0].message.content))
    assert (result.usage.prompt_tokens, result.usage.completion_tokens, result.usage.total_tokens) == (
        8,
        tokens,
        8 + tokens,
    )


def test_the_last_user_message_is_the_question(service, client) -> None:
    talk = [
        {"role": "system", "content": "You know all about animals. " * 200},
        user("What is a noun?"),
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "tool_call_id": "t", "content": "x"},
        user([{"type": "text", "text": "Why do cats"}, {"type": "text", "text": "sleep all day?"}]),
        {"role": "assistant", "content": "Well,"},
    ]
    assert complete(client(service), *talk).citations[0]["document"] == "animals-cats-sleep"


def test_options_without_effect_are_accepted(service, client) -> None:
    harmless = {"temperature": 1.7, "top_p": 0.1, "seed": 3, "max_tokens": 9, "stop": ["x"], "user": "u", "n": 1}
    result = complete(client(service), tools=[], logprobs=False, response_format={"type": "text"}, **harmless)
    assert result.citations


@pytest.mark.parametrize("token", ["", "secret"])
def test_the_key_is_the_token(serve, client, token: str) -> None:
    service = serve(token=token)
    assert complete(client(service, token or "whatever")).citations
    if token:
        with pytest.raises(openai.AuthenticationError, match="Expected the token"):
            complete(client(service, "wrong"))


def test_unsupported_options_are_rejected_with_a_reason(service, client) -> None:
    openai_client = client(service)
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    picture = user([{"type": "image_url", "image_url": {"url": "data:,"}}])
    refused: list[tuple[dict[str, Any], str]] = [
        ({"n": True}, "Expected a valid integer for n, but got true."),
        ({"logprobs": 0}, "Expected a valid boolean for logprobs, but got 0."),
        ({"n": 2}, "Expected less than or equal to 1 for n, but got 2."),
        ({"tools": [tool]}, "Expected at most 0 items for tools, but got a list."),
        ({"logprobs": True}, "Expected false for logprobs, but got true."),
        ({"response_format": {"type": "json_object"}}, "Expected 'text' for response_format.type"),
        ({"messages": []}, "Expected at least 1 items for messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "Expected a message of role user in messages"),
        ({"messages": [{"role": "narrator", "content": "x"}]}, "'tool' or 'function' for messages[0].role, but got"),
        ({"messages": [user(7)]}, "Expected a text or a list of text parts for messages[0].content, but got 7."),
        ({"messages": [picture]}, "Expected 'text' for messages[0].content[0].type, but got \"image_url\"."),
        ({"messages": [user("x" * 20_001)]}, "at most 20000 characters in the last user message, but got 20001."),
    ]
    for options, message in refused:
        with pytest.raises(openai.UnprocessableEntityError) as caught:
            openai_client.chat.completions.create(**{"model": "qa-bot", "messages": [user(CATS)], **options})
        assert message in caught.value.message, options
        assert caught.value.body["code"] == "invalid"


# --- streamed -------------------------------------------------------------------------------------------------------


def test_a_stream_gives_the_same_piece_by_piece(service, client) -> None:
    plain = complete(client(service))
    chunks = list(complete(client(service), stream=True, stream_options={"include_usage": True}))
    assert chunks[0].choices[0].delta.role == "assistant"
    pieces = [item.choices[0].delta.content for item in chunks if item.choices and item.choices[0].delta.content]
    assert len(pieces) > 1
    assert "".join(pieces) == plain.choices[0].message.content
    last, counted = chunks[-2:]
    assert (last.choices[0].finish_reason, last.citations) == ("stop", plain.citations)
    assert last.choices[0].delta.citations == plain.citations
    assert (counted.choices, counted.usage) == ([], plain.usage)
    assert [item.usage for item in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert len({item.id for item in chunks}) == 1
    assert service.post("/api/feedback", json={"id": last.id, "vote": "down"}).status == 200


def test_a_streamed_abstention_gives_its_reason(service, client) -> None:
    chunks = list(complete(client(service), user(NONSENSE), stream=True))
    text = "".join(item.choices[0].delta.content or "" for item in chunks)
    assert text == f"I don't know. {service.bot.ask(NONSENSE).reason}"
    assert chunks[-1].choices[0].finish_reason == "stop"


@pytest.mark.parametrize("stream", [False, True])
def test_an_unsure_answer_says_so_first(service, client, monkeypatch, stream) -> None:
    unsure = property(lambda decision: decision.accepted)
    monkeypatch.setattr("qa_bot.answering.stages.decide.Decision.unsure", unsure)
    answer = service.bot.ask(CATS)
    assert (answer.unsure, answer.reason) == (True, "I am not sure, this comes nearest:")
    result = complete(client(service), stream=stream)
    chunks = list(result) if stream else []
    text = "".join(c.choices[0].delta.content or "" for c in chunks) if stream else result.choices[0].message.content
    assert text == f"{answer.reason}\n\n{answer.text}"
    (citation, *_) = chunks[-1].citations if stream else result.citations
    assert text[slice(*citation["span"])] == citation["text"][slice(*citation["source_span"])]


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_of_the_starter_collection_says_so_first(home, write_lines, serve, client, stream) -> None:
    room = {"_id": "tern", "title": "Where is the room Tern?", "text": "The room Tern is on the second floor."}
    with Bot.open(home, flags={"starter.mode": "auto"}) as bot:
        add(bot.home, bot.config, bot.encoder, [write_lines("own.jsonl", room)], collection="own")
        connected = client(serve(bot))
        result = complete(connected, stream=stream)
        chunks = list(result) if stream else []
        text = (
            "".join(c.choices[0].delta.content or "" for c in chunks) if stream else result.choices[0].message.content
        )
        assert text.startswith(f"{ENGLISH.from_starter}\n\nCats are built")
        (citation, *_) = chunks[-1].citations if stream else result.citations
        assert text[slice(*citation["span"])] == citation["text"][slice(*citation["source_span"])]
        assert bot.memory.title(_parse_reply(text, styled=False)["reply"]) == CATS, "the remark is no part of the text"
        past = [user(CATS), {"role": "assistant", "content": text}]
        assert complete(connected, *past, user("repeat")).choices[0].message.content == text


def test_a_stream_ends_as_clients_expect(service) -> None:
    body = {"model": "qa-bot", "messages": [user(CATS)], "stream": True}
    reply = service.post("/v1/chat/completions", json=body)
    events = reply.text.removesuffix("\n\n").split("\n\n")
    assert events[-1] == "data: [DONE]"
    assert all(event.startswith("data: ") for event in events)
    assert "usage" not in reply.text


def test_the_async_client(service) -> None:
    async def chat() -> tuple[list[Any], str]:
        async with openai.AsyncOpenAI(base_url=f"{service.url}/v1", api_key="any", max_retries=0) as openai_client:
            plain = await openai_client.chat.completions.create(model="qa-bot", messages=[user(CATS)])
            stream = await openai_client.chat.completions.create(model="qa-bot", messages=[user(CATS)], stream=True)
            pieces = [item.choices[0].delta.content or "" async for item in stream]
            return plain.citations, "".join(pieces)

    citations, text = asyncio.run(chat())
    assert text[slice(*citations[0]["span"])] in citations[0]["text"]


def test_an_error_on_the_way_is_the_clients_error(service, client, monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(service.bot, "corridor", broken)
    with pytest.raises(openai.APIError, match="Something went wrong"):
        list(complete(client(service), stream=True))


def test_leaving_a_stream_stops_the_work(serve, slow_bot, client) -> None:
    service = serve(slow_bot)
    slow_bot.pauses["rank"] = Event()
    stream = complete(client(service), stream=True)
    assert next(iter(stream)).choices[0].delta.role == "assistant"
    stream.close()
    service.until(lambda: slow_bot.cancelled, "the cancellation")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"type": "text", "text": 1}], "Expected a valid string for messages[0].content[0].text, but got 1."),
        ([{"type": "text"}], "Expected messages[0].content[0].text, but it is missing."),
        ([1], "Expected an object for messages[0].content[0], but got 1."),
    ],
)
def test_wrong_parts_of_a_message_are_named_as_they_were_sent(service, content, message) -> None:
    reply = service.post("/v1/chat/completions", json={"model": "qa-bot", "messages": [user(content)]})
    assert (reply.status, reply.json["error"]["message"]) == (422, message)


# --- models ---------------------------------------------------------------------------------------------------------


def test_the_bot_and_its_personas_are_models(serve, voiced_bot, client) -> None:
    openai_client = client(serve(voiced_bot))
    listed = openai_client.models.list()
    ModelsReply.model_validate({"object": "list", "data": [item.model_dump() for item in listed.data]})
    assert [item.id for item in listed.data] == ["qa-bot", "cook", "sailor"]
    assert openai_client.models.retrieve("cook").id == "cook"
    result = openai_client.chat.completions.create(model="cook", messages=[user(CATS)])
    assert (result.model, bool(result.citations)) == ("cook", True)


def test_a_model_that_there_is_not(service, client) -> None:
    openai_client = client(service)
    for ask in (
        lambda: openai_client.models.retrieve("gpt-5"),
        lambda: openai_client.chat.completions.create(model="gpt-5", messages=[user(CATS)]),
    ):
        with pytest.raises(openai.NotFoundError, match="Expected one of the models qa-bot, but got"):
            ask()
