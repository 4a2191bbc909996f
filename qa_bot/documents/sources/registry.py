"""Decides which source a path belongs to, and makes new sources; ids of documents are decided here once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from qa_bot.documents.sources.places import holder, inner_sources, kind_of, names, resolve
from qa_bot.documents.sources.source_run import SourceRun
from qa_bot.documents.sources.synchronise import settings_of
from qa_bot.home.sections import PassagesSection
from qa_bot.home.store import Source, Store


@dataclass(slots=True)
class Registry:
    """The sources of a home while paths are added. Without `writing` new sources are only imagined."""

    store: Store
    passages: PassagesSection
    writing: bool
    removing: bool = False
    allow_empty: bool = False
    made: list[Source] = field(default_factory=list)
    """New sources, to be removed if the run fails."""
    _ids: set[str] = field(default_factory=set)  # of files of new sources, which are not stored yet

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

    def undo(self) -> None:
        """Forget the sources that were made."""
        for source in self.made:
            self.store.sources.remove(source.id)

    def _run(self, place: Path, collection: str | None, format_: str | None) -> SourceRun:
        sources = self.store.sources.all()
        held = holder(place, sources, collection)
        if held is None:
            return self._make(place, collection or "default", {"format": format_} if format_ else {}, sources)
        source, scope = held
        if format_ and format_ != source.options.get("format") and not scope:
            source = replace(source, options={**source.options, "format": format_})
            if self.writing:
                self.store.sources.change(source.id, options=source.options)
        run = self._new_run(source, scope)
        run.compare(completing=True, removing=self.removing, allow_empty=self.allow_empty)
        return run

    def _make(self, place: Path, collection: str, options: dict[str, Any], sources: Sequence[Source]) -> SourceRun:
        """A source at a new place; it takes over the sources below it."""
        kind, used = kind_of(place), {source.name for source in sources}
        inner = inner_sources(place, sources, collection)
        free = (name for name in names(place) if name not in used)
        name = next(free)
        source = Source(-1 - len(self._ids), name, kind, str(place), collection, options)
        if self.writing:
            source = self.store.sources.create(name, kind, str(place), collection, options)
            self.made += [] if inner else [source]
            for one, path in inner:
                folder = path if one.kind == "folder" else path.rpartition("/")[0]
                self.store.sources.absorb(one.id, source.id, folder)
        run = self._new_run(source, "")
        run.compare(completing=True, removing=self.removing, allow_empty=self.allow_empty)
        paths = [path for path in run.plan.states if path not in run.rows]
        run.source = self._told_apart(source, paths, name, free)
        self._ids |= {run.stem(path) for path in paths}
        return run

    def _told_apart(self, source: Source, paths: Sequence[str], name: str, free: Iterator[str]) -> Source:
        """The source with a prefix of its documents' ids, if they are those of another source's documents."""
        prefix = ""
        while self._collides(paths, prefix, source.place):
            if prefix == _prefix(source, name):
                name = next(free)
            prefix = _prefix(source, name)
        if not prefix:
            return source
        changed = replace(source, name=name, options={**source.options, "prefix": prefix})
        if self.writing:
            self.store.sources.change(source.id, name=name, options=changed.options)
        return changed

    def _collides(self, paths: Sequence[str], prefix: str, place: str) -> bool:
        ids = [f"{prefix}{path}" for path in paths]
        if not self._ids.isdisjoint(ids):
            return True
        return next(self.store.sources.taken(ids, place=place), None) is not None

    def _new_run(self, source: Source, scope: str) -> SourceRun:
        return SourceRun(self.store.sources, source, settings_of(source, self.passages), scope)


def _prefix(source: Source, name: str) -> str:
    """What a source of some name puts before ids: `NAME/`; a file's own name stays its last part."""
    return f"{name}/" if source.kind == "folder" else name.removesuffix(Path(source.place).name)
