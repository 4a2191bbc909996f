"""The fields of a request or a frame that narrow a question to some documents."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from qa_bot.answering.scope import Scope, ScopeError
from qa_bot.web.errors import ServiceError

DATE = r"^[1-9]\d{3}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$"
DATE_EXPECTED = "Input should be a date like 2024, 2024-05 or 2024-05-31"
LONGEST_NAME, MOST_NAMES = 1024, 50


def _listed(value: object) -> object:
    """A single name as a list."""
    return [value] if isinstance(value, str) else value


def _date(value: str) -> str:
    try:
        Scope(since=value).filter()  # no 30 February
    except ScopeError:
        raise PydanticCustomError("date", DATE_EXPECTED) from None
    if not re.fullmatch(DATE, value):
        raise PydanticCustomError("date", DATE_EXPECTED)
    return value


_NAME = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
Names = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]],
    Field(max_length=MOST_NAMES),
    BeforeValidator(_listed),
    WithJsonSchema({"anyOf": [_NAME, {"type": "array", "items": _NAME, "maxItems": MOST_NAMES}]}),
]
"""One name, or several."""
Date = Annotated[str, AfterValidator(_date), Field(json_schema_extra={"pattern": DATE})]


class ScopeFields(BaseModel):
    """All documents by default."""

    collection: Annotated[Names | None, Field(description="Collections to ask.")] = None
    under: Annotated[Names | None, Field(description="Folders or documents to ask, as in document ids.")] = None
    since: Annotated[Date | None, Field(description="Documents of this date or later: 2024, 2024-05, 2024-05-31.")] = (
        None
    )
    until: Annotated[Date | None, Field(description="Documents of this date or earlier.")] = None
    language: Annotated[str | None, Field(max_length=8, description="ISO 639 code of the documents.")] = None
    include_archived: Annotated[bool | None, Field(description="Rank archived documents like all others.")] = None

    def scope(self) -> Scope:
        """Raises ServiceError 422 for a date that is none, and for a further field with nearly the name of one."""
        try:
            return Scope.of({**(self.model_extra or {}), **self.model_dump(include=set(ScopeFields.model_fields))})
        except ScopeError as error:
            raise ServiceError(422, str(error)) from None
