"""Requests and replies of OpenAI's chat completions as far as they apply here, with `citations` added.

Fields that would change the answer and are not supported are refused. Others, such as `temperature`, `max_tokens`,
`stop` or `seed`, are ignored: the same question gets the same answer.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from qa_bot.answering.answer_schema import SourceReply
from qa_bot.web.api.models import whole
from qa_bot.web.chat.frames import NAME
from qa_bot.web.chat.scope import ScopeFields

MODEL = "qa-bot"


class Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class TextPart(Part):
    type: Literal["text"]
    text: str


def _kind(content: object) -> str | None:
    return "text" if isinstance(content, str) else "parts" if isinstance(content, list) else None


Content = Annotated[
    Annotated[str, Tag("text")] | Annotated[list[TextPart], Tag("parts")],
    Discriminator(
        _kind,
        custom_error_type="content",
        custom_error_message="Input should be a text or a list of text parts",
    ),
]


class Message(Part):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Content | None = None

    @property
    def text(self) -> str:
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(part.text for part in self.content)


def _false(value: bool) -> bool:
    """Refuse true; `Literal[False]` would also accept 0."""
    if value:
        raise PydanticCustomError("refused", "Input should be false")
    return value


class TextFormat(Part):
    type: Literal["text"]


class StreamOptions(Part):
    include_usage: bool | None = None


class ChatRequest(Part, ScopeFields):
    """The last user message is the question, earlier messages are its history, a system message may hold a hint.

    The fields that narrow a question to some documents are not OpenAI's. Unknown fields are kept, so that a misspelt
    one of them is an error.
    """

    model_config = ConfigDict(extra="allow")

    model: Annotated[str, Field(max_length=NAME)]
    messages: Annotated[
        list[Message],
        Field(
            min_length=1,
            json_schema_extra={"contains": {"properties": {"role": {"const": "user"}}, "required": ["role"]}},
        ),
    ]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Field(ge=1, le=1), BeforeValidator(whole)] | None = None
    logprobs: Annotated[bool, Field(json_schema_extra={"const": False}), AfterValidator(_false)] | None = None
    tools: Annotated[list[Any], Field(max_length=0)] | None = None
    functions: Annotated[list[Any], Field(max_length=0)] | None = None
    response_format: TextFormat | None = None
    modalities: list[Literal["text"]] | None = None
    audio: None = None

    def last(self, *roles: str) -> Message | None:
        """The last message of one of `roles`."""
        return next((message for message in reversed(self.messages) if message.role in roles), None)


# --- replies --------------------------------------------------------------------------------------------------------


class Usage(BaseModel):
    """Words of the question and its hint, and of the answer, because this service has no tokens to count."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class AssistantMessage(BaseModel):
    role: Literal["assistant"]
    content: Annotated[str, Field(description="The answer, or the reason for an abstention.")]
    refusal: None
    citations: list[SourceReply]


class Choice(BaseModel):
    index: Literal[0]
    message: AssistantMessage
    logprobs: None
    finish_reason: Literal["stop"]


class ChatReply(BaseModel):
    id: Annotated[str, Field(description="The answer's id for `POST /api/feedback`.")]
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Choice]
    usage: Usage
    citations: Annotated[list[SourceReply], Field(description="The same as in the message.")]


class ModelReply(BaseModel):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelsReply(BaseModel):
    object: Literal["list"]
    data: list[ModelReply]
