"""The fields of a request or a frame that narrow a question to some documents."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from qa_bot.answering.scope import Scope, ScopeError
from qa_bot.web.errors import ServiceError

Name = Annotated[str, Field(min_length=1, max_length=1024)]
Names = Annotated[list[Name], Field(max_length=50)]
Date = Annotated[str, Field(pattern=r"^[1-9]\d{3}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$")]


class ScopeFields(BaseModel):
    """All documents by default."""

    collection: Annotated[Name | Names | None, Field(description="Collections to ask.")] = None
    under: Annotated[Name | Names | None, Field(description="Folders or documents to ask, as in document ids.")] = None
    since: Annotated[Date | None, Field(description="Documents of this date or later: 2024, 2024-05, 2024-05-31.")] = (
        None
    )
    until: Annotated[Date | None, Field(description="Documents of this date or earlier.")] = None
    language: Annotated[str | None, Field(max_length=8, description="ISO 639 code of the documents.")] = None
    include_archived: Annotated[bool | None, Field(description="Rank archived documents like all others.")] = None

    def scope(self) -> Scope:
        """Raises ServiceError 422 for a date that is none."""
        try:
            return Scope.of(self.model_dump(include=set(ScopeFields.model_fields)))
        except ScopeError as error:
            raise ServiceError(422, str(error)) from None
