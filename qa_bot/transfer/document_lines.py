"""Lines of exported documents, and the checks that an import makes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import PurePath
from typing import Annotated

from pydantic import BaseModel, Field

from qa_bot.documents.ingest.records import ExportedPassage
from qa_core.types import BlockKind, DocumentKind, Place, Span


class _DetailsLine(BaseModel):
    path: str = ""
    kind: DocumentKind = "prose"
    date: str = ""
    language: str = ""
    archived: bool = False
    draft: bool = False
    tags: tuple[str, ...] = ()


class _PlaceLine(BaseModel):
    heading: tuple[str, ...] = ()
    page: int | None = None
    row: int | None = None
    kind: BlockKind = "prose"
    later: tuple[tuple[int, int], ...] = ()


class _PassageLine(BaseModel):
    text: Annotated[str, Field(min_length=1)]
    start: Annotated[int, Field(ge=0)]
    end: int
    place: _PlaceLine = _PlaceLine()
    units: tuple[Span, ...] = ()


class DocumentLine(BaseModel):
    """A document with its passages; those with structure are whole, others are spans of the text."""

    id: Annotated[str, Field(alias="_id", min_length=1)]
    text: Annotated[str, Field(min_length=1)]
    title: str = ""
    body: str = ""
    url: str = ""
    origin: str = ""
    hash: Annotated[str, Field(max_length=64)] = ""
    source: int | None = None
    file: str = ""
    spans: list[Span] = []
    details: _DetailsLine = _DetailsLine()
    passages: list[_PassageLine] = []

    def has_valid_passages(self) -> bool:
        """Whether the passages are in order, and their units in their texts."""
        are_ordered = all(one.end <= other.start for one, other in pairwise(self.passages))
        return are_ordered and all(
            one.start < one.end and all(0 <= start < end <= len(one.text) for start, end in one.units)
            for one in self.passages
        )

    def path(self) -> str:
        """The file below its source; older exports have absolute paths, which mean nothing here."""
        return "" if PurePath(self.details.path).is_absolute() else self.details.path

    def exported_passages(self) -> tuple[ExportedPassage, ...]:
        return tuple(
            ExportedPassage(one.text, one.start, one.end, Place(**one.place.model_dump()), one.units)
            for one in self.passages
        )
