"""Requests and replies of the routes of documents."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from qa_bot.web.api.models import Body
from qa_bot.web.documents.names import COLLECTION, COLLECTION_PATTERN, CONTROLS

TITLE, TEXT, URL = 1_000, 1_000_000, 2_000
"""Limits of title, text and address, in characters."""
LIST, MOST = 100, 1_000
"""Documents in a list by default, and at most."""
READABLE = r"\w"
ADDRESS = rf"^(https?://|mailto:)[^\s{CONTROLS}]+$"
"""Of addresses that may be shown as links."""


Collection = Annotated[
    str,
    Field(max_length=COLLECTION, pattern=COLLECTION_PATTERN, description="Of the documents; by default `default`."),
]


class DocumentRequest(Body):
    """A text as a document; one of the same title and collection is replaced."""

    title: Annotated[str, Field(max_length=TITLE, pattern=READABLE)]
    text: Annotated[str, Field(max_length=TEXT, pattern=READABLE, description="Markdown.")]
    url: Annotated[str, Field(max_length=URL, pattern=ADDRESS, description="Where it can be read.")] | None = None
    collection: Collection | None = None


UPLOAD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "file": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "format": "binary"},
            "description": "Files of any format that `qa-bot add` reads; the name of each is that of its documents.",
        },
        "collection": {"type": "string", "maxLength": COLLECTION, "pattern": COLLECTION_PATTERN},
    },
    "required": ["file"],
}
"""The form of an upload."""


class ListQuery(BaseModel):
    """How many documents to list; query values are text."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=MOST)] = LIST


# --- replies --------------------------------------------------------------------------------------------------------


class AddedReply(BaseModel):
    id: str
    title: str
    collection: str
    path: Annotated[str, Field(description="The file as it was sent.")]


class RejectedReply(BaseModel):
    where: Annotated[str, Field(description="The file, and the line or the member of an archive.")]
    reason: str


class UploadReply(BaseModel):
    documents: Annotated[list[AddedReply], Field(description="The documents of the files, at most 1,000.")]
    added: int
    updated: int
    unchanged: int
    rejected: list[RejectedReply]


class UploadedReply(BaseModel):
    documents: Annotated[list[AddedReply], Field(description="The last that were added first.")]
    total: Annotated[int, Field(description="Number of all uploaded documents.")]


class DocumentReply(BaseModel):
    id: str
    title: str
    url: str
    collection: str
    source: Annotated[str, Field(description="Name of the source, or empty.")]
    path: Annotated[str, Field(description="File below the source, or empty.")]
    date: Annotated[str, Field(description="Last change (ISO 8601), or empty.")]
    language: Annotated[str, Field(description="ISO 639 code, or empty.")]
    archived: bool
    text: Annotated[str, Field(description="All text that is searched; Markdown if the document has structure.")]
    passages: Annotated[int, Field(description="Number of passages.")]


class DeletedReply(BaseModel):
    deleted: list[str]


class CollectionReply(BaseModel):
    name: str
    documents: int
    passages: int
    sources: Annotated[list[str], Field(description="Names of its sources.")]


class CollectionsReply(BaseModel):
    collections: list[CollectionReply]
