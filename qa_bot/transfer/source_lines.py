"""Lines of exported sources, their files, and former ids of documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from qa_bot.home.store import Renaming, Source, SourceFile, Store
from qa_core.wall_clock import now

_Text = Annotated[str, Field(min_length=1)]
_Count = Annotated[int, Field(ge=0)]
_Time = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Long = Annotated[int, Field(ge=-1, lt=2**63)]


class _SiteLine(BaseModel):
    """Fields of `SiteOptions`."""

    model_config = ConfigDict(extra="forbid")

    crawl: bool | None = None
    pages: Annotated[int | None, Field(ge=1)] = None
    depth: Annotated[int | None, Field(ge=0)] = None
    bytes: Annotated[int | None, Field(ge=1)] = None
    seconds: Annotated[float | None, Field(ge=1)] = None
    rate: Annotated[float | None, Field(ge=0.001, le=1000)] = None


class _OptionsLine(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: str | None = None
    prefix: str | None = None
    first_name: str | None = None
    site: _SiteLine | None = None


class SourceLine(BaseModel):
    """A source; `key` is the one that lines of files and documents name."""

    key: Annotated[int, Field(ge=1)]
    name: _Text
    kind: Literal["folder", "file", "archive", "website", "upload"]
    place: _Text
    collection: _Text
    options: _OptionsLine = _OptionsLine()
    synced: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    error: str = ""

    def source(self, key: int, name: str, *, prefix: str) -> Source:
        """The source in another home; `prefix` goes before that of the ids."""
        options = self.options.model_dump(exclude_none=True)
        if prefix:
            options["prefix"] = f"{prefix}{options.get('prefix', '')}"
        return Source(key, name, self.kind, self.place, self.collection, options, self.synced, self.error)


class FileLine(BaseModel):
    """A file of a source when it was last read."""

    source: int
    path: str
    stem: str
    size: _Long
    mtime_ns: _Long
    hash: Annotated[str, Field(max_length=64)]
    settings: Annotated[str, Field(max_length=64)]
    outcome: Literal["read", "stale", "rejected"]
    documents: _Count
    state: dict[str, Any] | None = None

    def file(self, *, stem: str, outcome: str) -> SourceFile:
        return SourceFile(**{**self.model_dump(exclude={"source"}), "stem": stem, "outcome": outcome})


class AliasLine(BaseModel):
    """A former id of a document; without times, which earlier archives lack, until now."""

    collection: _Text
    old: _Text
    new: _Text
    until: _Time = Field(default_factory=now)
    since: _Time = Field(default_factory=now)

    @property
    def renaming(self) -> Renaming:
        return Renaming(self.old, self.new, self.until, self.since)


def source_rows(store: Store) -> Iterator[dict[str, Any]]:
    """Fields of a `SourceLine` each."""
    for source in store.sources.all():
        yield {
            "key": source.id,
            "name": source.name,
            "kind": source.kind,
            "place": source.place,
            "collection": source.collection,
            "options": source.options,
            "synced": source.synced,
            "error": source.error,
        }


def file_rows(store: Store) -> Iterator[dict[str, Any]]:
    """Fields of a `FileLine` each."""
    for source in store.sources.all():
        for file in store.sources.files(source.id).values():
            yield {"source": source.id, **file._asdict()}


def alias_rows(store: Store) -> Iterator[dict[str, Any]]:
    """Fields of an `AliasLine` each."""
    for collection, one in sorted(store.sources.aliases()):
        yield {"collection": collection, **one._asdict()}
