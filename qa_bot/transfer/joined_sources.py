"""Sources of an archive in the home that imports it: which they are there, and which ids their documents have.

A source at the same place is the same source. A new one whose files have ids of another source's files gets its name in
front of them, as `add` does; answers of imported conversations are changed alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby

from qa_bot.documents.record_sync import NO_OWNER, Owner
from qa_bot.documents.sources.plan import REJECTED, STALE, WHOLE
from qa_bot.home.store import PresentIds, Renaming, Source, SourceFile, Store
from qa_bot.transfer.source_lines import AliasLine, FileLine, SourceLine

Files = Callable[[], Iterable[FileLine]]
"""Reads the lines of the files of sources, each time anew."""


@dataclass(slots=True)
class JoinedSources:
    """The archive's sources here, by their keys in the archive."""

    store: Store
    files: Files
    sources: dict[int, Source] = field(default_factory=dict)
    new: list[Source] = field(default_factory=list)
    present: dict[tuple[str, str], str] = field(default_factory=dict)
    """By collection and id in the archive: the id here of each document that has another one."""
    _renamed: PresentIds = field(default_factory=lambda: PresentIds([]))
    _stems: dict[tuple[int, str], tuple[str, str]] = field(default_factory=dict)
    """Beginnings of ids in the archive and here, by key of the source in the archive and file; equal ones left out."""

    def match(self, lines: Iterable[SourceLine]) -> None:
        """Find each source here, or make it. Call it first."""
        known = {(source.place, source.collection): source for source in self.store.sources.all()}
        used, key = {source.name for source in known.values()}, self.store.sources.next_key()
        taken = {one.stem for one in self.store.sources.stems()}
        colliding = {file.source for file in self.files() if file.stem in taken}
        for line in lines:
            place = line.place, line.collection
            if place not in known:
                name = next(name for name in _names(line.name) if name not in used)
                prefix = f"{name}/" if line.kind != "website" and line.key in colliding else ""
                known[place] = line.source(key, name, prefix=prefix)
                used.add(name)
                self.new.append(known[place])
                key += 1
            self.sources[line.key] = known[place]
        self._compare_stems()

    def owner(self, source: int | None, file: str) -> Owner:
        """What owns a document of the archive."""
        local = self.sources.get(source or 0)
        return Owner(local.id, file, local.first_name) if local else NO_OWNER

    def id_and_path(self, source: int | None, file: str, id_: str, path: str, collection: str) -> tuple[str, str]:
        """The id of a document here, which is remembered if it differs, and the path of its file."""
        stems = self._stems.get((source or 0, file))
        if stems is None:
            return id_, path
        old, new = stems
        if id_.startswith(old):
            self.present[collection, id_] = id_ = new + id_.removeprefix(old)
        return id_, new + path.removeprefix(old) if path.startswith(old) else path

    def finish(self, aliases: Iterable[AliasLine]) -> None:
        """Store new sources, files and former ids. Call it when the documents are in the current generation."""
        for source in self.new:
            self.store.sources.create(source)
        for key, lines in groupby(self.files(), lambda line: line.source):
            if key in self.sources:
                local = self.sources[key].id
                self.store.sources.save_files(local, self._rows(local, lines))
        self._join_aliases([*aliases])

    def present_id(self, collection: str, id_: str, at: float) -> str:
        """The id that a document has here, from an id in the archive and the time when that was used."""
        id_ = self._renamed(collection, id_, at)
        return self.present.get((collection, id_), id_)

    def _compare_stems(self) -> None:
        """Files that are here keep their ids; others follow the prefix of their source."""
        known: dict[int, Mapping[str, SourceFile]] = {}
        for line in self.files():
            local = self.sources.get(line.source)
            if local is None or local.kind == "website":
                continue
            if local.id not in known:
                known[local.id] = self.store.sources.files(local.id)
            row = known[local.id].get(line.path)
            stem = row.stem if row else self._new_stem(local, line)
            if stem != line.stem:
                self._stems[line.source, line.path] = line.stem, stem

    def _new_stem(self, local: Source, line: FileLine) -> str:
        prefix = local.options.get("prefix", "")
        return line.stem if line.stem.startswith(prefix) else f"{prefix}{line.path}"

    def _rows(self, source: int, lines: Iterable[FileLine]) -> Iterator[SourceFile]:
        """Rows to store; a file with other content than here, or without some of its documents, is read again."""
        rows, held = self.store.sources.files(source), self.store.sources.documents_by_file(source)
        for line in lines:
            row = rows.get(line.path)
            outcome: str = line.outcome
            if held.get(line.path, 0) < line.documents:
                outcome = REJECTED
            elif row and row.hash == line.hash:
                continue
            elif row and outcome == WHOLE:
                outcome = STALE
            stem = self._stems.get((line.source, line.path), ("", line.stem))[1]
            yield line.file(stem=stem, outcome=outcome)

    def _join_aliases(self, lines: Sequence[AliasLine]) -> None:
        """Add former ids, but those that mean another document here: imported answers have present ids anyway."""
        self._renamed = PresentIds((line.collection, line.renaming) for line in lines)
        known = {(collection, one.old) for collection, one in self.store.sources.aliases()}
        collections = {info.name: info.id for info in self.store.collections()}
        for line in lines:
            collection = collections.get(line.collection)
            if collection is None or (line.collection, line.old) in known:
                continue
            last, since = self._renamed.since(line.collection, line.new, line.renaming.end)
            new = self.present.get((line.collection, last), last)
            if self.store.known(collection, [new]) and not self.store.known(collection, [line.old]):
                self.store.sources.add_aliases(collection, [Renaming(line.old, new, line.until, since)])


def _names(name: str) -> Iterator[str]:
    """The name, then numbered ones."""
    yield name
    yield from (f"{name}-{number}" for number in count(2))
