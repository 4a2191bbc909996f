"""Chat completions as OpenAI's clients know them: the last user message is asked, sources stand in `citations`.

The messages before it are the conversation: nothing is kept here under an id. A persona is a model; the system message
says what its sentence should be about.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

from aiohttp import web

from qa_bot.answering.answer_json import source_dict
from qa_bot.answering.ask import Ask, ClientTurn
from qa_bot.answering.corridor import WHICH
from qa_bot.answering.events import TextAdded
from qa_bot.conversation.memory import REMEMBERED_TURNS
from qa_bot.conversation.replies import UNKNOWN
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
    wanted = await read(request, ChatRequest)
    service = request.app[SERVICE]
    _expect_model(service, wanted.model)
    question, hint = _question(wanted), _hint(wanted)
    persona = "" if wanted.model == MODEL else wanted.model
    ask = Ask(question, persona, hint if persona else "", history=_history(wanted), id=uuid4().hex)
    if not wanted.stream:
        answer = await service.answer(ask)
        return reply(_completion(answer, wanted.model, _usage(question, hint, answer)))
    counted = bool(wanted.stream_options and wanted.stream_options.include_usage)
    chunks = Chunks(ask.id, wanted.model, question, hint, usage=counted, request_id=request.get(REQUEST_ID, ""))
    async with sse.asking(service, ask) as happenings:
        return await sse.send(request, happenings, chunks)


async def list_models(request: web.Request) -> web.Response:
    """The bot in its own voice, then in every persona's."""
    return reply({"object": "list", "data": [_model(name) for name in _models(request.app[SERVICE])]})


async def show_model(request: web.Request) -> web.Response:
    name = request.match_info["model"]
    _expect_model(request.app[SERVICE], name)
    return reply(_model(name))


# --- what is asked --------------------------------------------------------------------------------------------------


def _question(wanted: ChatRequest) -> Question:
    """The last user message."""
    message = wanted.last("user")
    if message is None:
        raise ServiceError(422, "Expected a message of role user in messages, but got none.")
    if len(message.text) > TEXT:
        raise ServiceError(
            422, f"Expected at most {TEXT} characters in the last user message, but got {len(message.text)}."
        )
    return Question(message.text)


def _history(wanted: ChatRequest) -> list[ClientTurn]:
    """Every user message before the last one, with what was replied to it."""
    asked: list[ClientTurn] = []
    styled = wanted.model != MODEL
    for message in wanted.messages:
        if message.role == "user":
            asked.append(ClientTurn(message.text[:TEXT], ""))
        elif message.role == "assistant" and asked:
            asked[-1] = asked[-1]._replace(**_replied(message.text[:TEXT], styled=styled))
    return asked[:-1][-REMEMBERED_TURNS:]


def _replied(text: str, *, styled: bool) -> dict[str, Any]:
    """What an assistant's message says, where it is one of ours: `_said`, read backwards."""
    _, _, behind = text.partition("\n\n")
    sourced = behind if styled and behind else text
    asks_back = sourced.startswith(WHICH)
    return {"reply": "" if asks_back or sourced.startswith(UNKNOWN) else sourced, "asks_back": asks_back}


def _hint(wanted: ChatRequest) -> str:
    message = wanted.last("system", "developer")
    return message.text[:NAME] if message else ""


def _models(service: AnswerService) -> Sequence[str]:
    return (MODEL, *service.bot.personas)


def _expect_model(service: AnswerService, name: str) -> None:
    known = _models(service)
    if name not in known:
        raise ServiceError(404, f"Expected one of the models {', '.join(known)}, but got {shown(name)}.")


# --- what is told ---------------------------------------------------------------------------------------------------


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "qa-bot"}


def _completion(answer: Answer, model: str, usage: dict[str, int]) -> dict[str, Any]:
    citations = [source_dict(source) for source in answer.sources]
    message = {"role": "assistant", "content": _said(answer), "refusal": None, "citations": citations}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    told = {"id": answer.id, "object": "chat.completion", "created": int(time.time()), "model": model}
    return {**told, "choices": [choice], "usage": usage, "citations": citations}


def _said(answer: Answer) -> str:
    """An abstention is an ordinary message that says why, after what the persona has to say; choices are numbered."""
    if answer.answered:
        return answer.text
    remarks = answer.styled.lines[:1] if answer.styled else ()
    numbered = "\n".join(f"{number}. {choice.text}" for number, choice in enumerate(answer.choices, start=1))
    reason = f"{answer.reason}\n{numbered}" if numbered else f"{UNKNOWN} {answer.reason}"
    return "\n\n".join([*(each.text for each in remarks), reason])


def _usage(question: Question, hint: str, answer: Answer) -> dict[str, int]:
    """In words: no model here has tokens that a client could be told of."""
    read_words, said_words = len(words(question.title)) + len(words(hint)), len(words(_said(answer)))
    return {
        "prompt_tokens": read_words,
        "completion_tokens": said_words,
        "total_tokens": read_words + said_words,
    }


class Chunks:
    """The events of one streamed completion: the role, pieces of text, the end with its citations, `[DONE]`."""

    def __init__(self, about: str, model: str, question: Question, hint: str, *, usage: bool, request_id: str) -> None:
        self._same = {"id": about, "object": "chat.completion.chunk", "created": int(time.time()), "model": model}
        self._question, self._hint, self._counted, self._request_id = question, hint, usage, request_id
        self._begun = self._spoken = False

    def __call__(self, happened: sse.Told) -> Iterator[bytes]:
        if isinstance(happened, ServiceError):
            yield sse.event(happened.as_dict(self._request_id))
            return
        if not self._begun:
            self._begun = True
            yield self._chunk({"role": "assistant", "content": ""})
        if isinstance(happened, TextAdded):
            self._spoken = True
            yield self._chunk({"content": happened.text})
        if isinstance(happened, Answer):
            yield from self._end(happened)

    def _end(self, answer: Answer) -> Iterator[bytes]:
        if not self._spoken:
            yield self._chunk({"content": _said(answer)})
        citations = [source_dict(source) for source in answer.sources]
        yield self._chunk({"citations": citations}, finish="stop", citations=citations)
        if self._counted:
            yield self._event(choices=[], usage=_usage(self._question, self._hint, answer))
        yield DONE

    def _chunk(self, delta: dict[str, Any], *, finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._event(choices=[choice], **more)

    def _event(self, **more: Any) -> bytes:
        usage = {"usage": None} if self._counted else {}
        return sse.event({**self._same, **usage, **more})
