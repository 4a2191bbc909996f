"""Decides which source a path belongs to, and makes new sources; ids of documents are decided here once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from qa_bot.documents.index_update import IndexUpdate
from qa_bot.documents.ingest.files.walk import printable
from qa_bot.documents.sources.places import holder, inner_sources, kind_of, names, resolve
from qa_bot.documents.sources.source_run import SourceRun
from qa_bot.documents.sources.synchronise import settings_of
from qa_bot.home.sections import PassagesSection
from qa_bot.home.store import Source, Store


@dataclass(slots=True)
class Registry:
    """The sources of a home while paths are added. New ones are stored when the update is done, never without one."""

    store: Store
    passages: PassagesSection
    update: IndexUpdate | None
    removing: bool = False
    allow_empty: bool = False
    _made: list[Source] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)  # of files of new sources

    def runs(self, paths: Sequence[Path], *, collection: str | None, format_: str | None) -> Iterator[SourceRun]:
        """A run for each path, compared with its source; paths within others are left out."""
        roots = list(dict.fromkeys(map(resolve, paths)))
        for place in roots:
            if not any(other != place and place.is_relative_to(other) for other in roots):
                yield self._run(place, collection, format_)

    def of_source(self, source: Source) -> SourceRun:
        """A run for a whole source."""
        run = self._new_run(source, "")
        run.compare(completing=False, removing=self.removing, allow_empty=self.allow_empty)
        return run

    @property
    def sources(self) -> list[Source]:
        """All sources, with the new ones."""
        return [*self.store.sources.all(), *self._made]

    def new_source(self, name: str, kind: str, place: str, collection: str, options: Mapping[str, Any]) -> Source:
        """A source with a new key; `store_later` stores it."""
        return Source(self.store.sources.next_key() + len(self._made), name, kind, place, collection, options)

    def store_later(self, source: Source) -> None:
        """Store a new source, or the name and options of a known one, when the update is done."""
        store, is_known = self.store.sources, any(other.id == source.id for other in self.sources)
        if not is_known:
            self._made.append(source)
        if self.update and is_known:
            self.update.records.append(partial(store.change, source.id, name=source.name, options=source.options))
        elif self.update:
            self.update.records.append(partial(store.create, source))

    def _run(self, place: Path, collection: str | None, format_: str | None) -> SourceRun:
        held = holder(place, self.sources, collection)
        if held is None:
            return self._make(place, collection or "default", {"format": format_} if format_ else {})
        source, scope = held
        if format_ and format_ != source.options.get("format") and not scope:
            source = replace(source, options={**source.options, "format": format_})
            self.store_later(source)
        run = self._new_run(source, scope)
        run.compare(completing=True, removing=self.removing, allow_empty=self.allow_empty)
        return run

    def _make(self, place: Path, collection: str, options: dict[str, Any]) -> SourceRun:
        """A source at a new place; it takes over the sources below it."""
        sources = self.sources
        used = {source.name for source in sources}
        inner = inner_sources(place, sources, collection)
        free = (name for name in names(place) if name not in used)
        source = self.new_source(next(free), kind_of(place), str(place), collection, options)
        if inner and self.update:  # stored at once, because it takes over rows that are read below
            self.store.sources.create(source)
            for one, path in inner:
                folder = path if one.kind == "folder" else path.rpartition("/")[0]
                self.store.sources.absorb(one.id, source.id, folder)
        run = self._new_run(source, "")
        run.is_new = True
        run.compare(completing=True, removing=self.removing, allow_empty=self.allow_empty)
        paths = [path for path in run.plan.states if path not in run.rows]
        self._ids |= {row.stem for row in run.rows.values()}  # of sources that this one took over
        run.source = self._told_apart(source, paths, free)
        self._ids |= {run.stem(path) for path in paths}
        self.store_later(run.source)
        return run

    def _told_apart(self, source: Source, paths: Sequence[str], free: Iterator[str]) -> Source:
        """The source with a prefix of its documents' ids, if they are those of another source's documents."""
        prefix, name = "", source.name
        while self._collides(paths, prefix, source.place):
            if prefix == _prefix(source, name):
                name = next(free)
            prefix = _prefix(source, name)
        return replace(source, name=name, options={**source.options, "prefix": prefix}) if prefix else source

    def _collides(self, paths: Sequence[str], prefix: str, place: str) -> bool:
        ids = [f"{prefix}{path}" for path in paths]
        if not self._ids.isdisjoint(ids):
            return True
        return next(self.store.sources.taken(ids, place=place), None) is not None

    def _new_run(self, source: Source, scope: str) -> SourceRun:
        return SourceRun(self.store.sources, source, settings_of(source, self.passages), scope)


def _prefix(source: Source, name: str) -> str:
    """What a source of some name puts before ids: `NAME/`; a file's own name stays its last part."""
    return f"{name}/" if source.kind == "folder" else name.removesuffix(printable(Path(source.place).name))
