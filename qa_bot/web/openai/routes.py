"""Chat completions in OpenAI's format: the last user message is the question, the sources are in `citations`.

The messages before it are the conversation; nothing is stored under an id. Each persona is a model; the system message
is its hint.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from aiohttp import web

from qa_bot.answering.answer_json import source_dict
from qa_bot.answering.ask import Ask, ClientTurn
from qa_bot.answering.events import SourcesFound, TextAdded
from qa_bot.answering.stages.abstention import WHICH
from qa_bot.answering.wording.refusals import REMARKS, UNKNOWN, refusals_of
from qa_bot.conversation.memory import REMEMBERED_TURNS
from qa_bot.web.api import sse
from qa_bot.web.api.json_bodies import read, reply, shown
from qa_bot.web.app_keys import REQUEST_ID, SERVICE
from qa_bot.web.chat.frames import NAME, TEXT
from qa_bot.web.errors import ServiceError
from qa_bot.web.openai.models import MODEL, ChatRequest
from qa_bot.web.service import AnswerService
from qa_core.text.analysis import words
from qa_core.types import Answer, Question

DONE = b"data: [DONE]\n\n"


def routes() -> list[web.RouteDef]:
    return [
        web.post("/v1/chat/completions", complete),
        web.get("/v1/models", list_models),
        web.get("/v1/models/{model}", show_model),
    ]


async def complete(request: web.Request) -> web.StreamResponse:
    """An answer as a chat completion, or as its chunks."""
    body = await read(request, ChatRequest)
    service = request.app[SERVICE]
    _expect_model(service, body.model)
    question, hint = _question(body), _hint(body)
    persona = "" if body.model == MODEL else body.model
    ask = Ask(question, persona, hint if persona else "", history=_history(body), id=uuid4().hex, scope=body.scope())
    if not body.stream:
        answer = await service.answer(ask)
        return reply(_completion(answer, body.model, _usage(question, hint, answer)))
    counted = bool(body.stream_options and body.stream_options.include_usage)
    chunks = Chunks(ask.id, body.model, question, hint, usage=counted, request_id=request.get(REQUEST_ID, ""))
    async with sse.answering(service, ask) as items:
        return await sse.send(request, items, chunks)


async def list_models(request: web.Request) -> web.Response:
    """The bot without a persona, then with each persona."""
    return reply({"object": "list", "data": [_model(name) for name in _models(request.app[SERVICE])]})


async def show_model(request: web.Request) -> web.Response:
    name = request.match_info["model"]
    _expect_model(request.app[SERVICE], name)
    return reply(_model(name))


# --- the question ---------------------------------------------------------------------------------------------------


def _question(body: ChatRequest) -> Question:
    """The last user message."""
    message = body.last("user")
    if message is None:
        raise ServiceError(422, "Expected a message of role user in messages, but got none.")
    if len(message.text) > TEXT:
        raise ServiceError(
            422, f"Expected at most {TEXT} characters in the last user message, but got {len(message.text)}."
        )
    return Question(message.text)


def _history(body: ChatRequest) -> list[ClientTurn]:
    """The user messages before the last one, with their replies."""
    turns: list[ClientTurn] = []
    styled = body.model != MODEL
    for message in body.messages:
        if message.role == "user":
            turns.append(ClientTurn(message.text[:TEXT], ""))
        elif message.role == "assistant" and turns:
            turns[-1] = turns[-1]._replace(**_parse_reply(message.text[:TEXT], styled=styled))
    return turns[:-1][-REMEMBERED_TURNS:]


def _parse_reply(text: str, *, styled: bool) -> dict[str, Any]:
    """The fields of an earlier reply of this service: the inverse of `_text`."""
    notice, _, behind = text.partition("\n\n")
    if notice in REMARKS:
        text, (_, _, behind) = behind, behind.partition("\n\n")
    sourced = behind if styled and behind else text
    asks_back = sourced.startswith(WHICH)
    return {"reply": "" if asks_back or sourced.startswith(UNKNOWN) else sourced, "asks_back": asks_back}


def _hint(body: ChatRequest) -> str:
    message = body.last("system", "developer")
    return message.text[:NAME] if message else ""


def _models(service: AnswerService) -> Sequence[str]:
    return (MODEL, *service.bot.personas)


def _expect_model(service: AnswerService, name: str) -> None:
    known = _models(service)
    if name not in known:
        raise ServiceError(404, f"Expected one of the models {', '.join(known)}, but got {shown(name)}.")


# --- the reply ------------------------------------------------------------------------------------------------------


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "qa-bot"}


def _completion(answer: Answer, model: str, usage: dict[str, int]) -> dict[str, Any]:
    citations = _citations(answer)
    message = {"role": "assistant", "content": _text(answer), "refusal": None, "citations": citations}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    head = {"id": answer.id, "object": "chat.completion", "created": int(time.time()), "model": model}
    return {**head, "choices": [choice], "usage": usage, "citations": citations}


def _citations(answer: Answer) -> list[dict[str, Any]]:
    """The sources, with spans of the message."""
    moved = len(_text(answer)) - len(answer.text) if answer.answered else 0
    sources = (
        replace(source, span=source.span and (source.span[0] + moved, source.span[1] + moved))
        for source in answer.sources
    )
    return [source_dict(source) for source in sources]


def _text(answer: Answer) -> str:
    """Text of the message; an abstention is the persona's sentence, then the reason with numbered choices.

    An unsure answer, or one of the starter collection, says so first.
    """
    if answer.answered:
        return f"{answer.reason}\n\n{answer.text}" if answer.reason else answer.text
    remarks = answer.styled.lines[:1] if answer.styled else ()
    wording = refusals_of(answer.reason)
    reason = answer.reason if answer.choices and not answer.suggested else f"{wording.unknown} {answer.reason}"
    if answer.suggested:
        reason += f"\n\n{wording.instead}"
    for number, choice in enumerate(answer.choices, start=1):
        reason += f"\n{number}. {choice.text}"
    return "\n\n".join([*(line.text for line in remarks), reason])


def _usage(question: Question, hint: str, answer: Answer) -> dict[str, int]:
    """Counts of words in place of tokens."""
    prompt, completion = len(words(question.title)) + len(words(hint)), len(words(_text(answer)))
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


class Chunks:
    """Renders a streamed completion: the role, pieces of text, the end with its citations, `[DONE]`."""

    def __init__(
        self, completion_id: str, model: str, question: Question, hint: str, *, usage: bool, request_id: str
    ) -> None:
        self._head = {
            "id": completion_id,
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        self._question, self._hint, self._counted, self._request_id = question, hint, usage, request_id
        self._has_begun = self._has_text = False

    def __call__(self, item: sse.StreamItem) -> Iterator[bytes]:
        if isinstance(item, ServiceError):
            yield sse.event(item.as_dict(self._request_id))
            return
        if not self._has_begun:
            self._has_begun = True
            yield self._chunk({"role": "assistant", "content": ""})
        if isinstance(item, SourcesFound) and item.notice:
            yield self._chunk({"content": f"{item.notice}\n\n"})
        if isinstance(item, TextAdded):
            self._has_text = True
            yield self._chunk({"content": item.text})
        if isinstance(item, Answer):
            yield from self._end(item)

    def _end(self, answer: Answer) -> Iterator[bytes]:
        if not self._has_text:
            yield self._chunk({"content": _text(answer)})
        citations = _citations(answer)
        yield self._chunk({"citations": citations}, finish="stop", citations=citations)
        if self._counted:
            yield self._event(choices=[], usage=_usage(self._question, self._hint, answer))
        yield DONE

    def _chunk(self, delta: dict[str, Any], *, finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._event(choices=[choice], **more)

    def _event(self, **more: Any) -> bytes:
        usage = {"usage": None} if self._counted else {}
        return sse.event({**self._head, **usage, **more})
