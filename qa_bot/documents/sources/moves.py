"""Files that are elsewhere now, in their source or another one: which ids their documents had, so that votes follow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from qa_bot.documents.sources.plan import REJECTED, WHOLE
from qa_bot.home.store import Content, DepartedFile, Renaming, SourceFile, SourceStore
from qa_core.wall_clock import now

if TYPE_CHECKING:
    from qa_bot.documents.sources.source_run import SourceRun

DEPARTED = 10_000
"""Files of a source that are remembered when they are gone."""
MOST_IDS = 1000
"""Documents of a file that is gone and remembered; files with more of them are not remembered."""

Pair = tuple[str, str, float | None]
"""A document's id before, its id now, and until when it had the one before; None until now."""


class Step(NamedTuple):
    """Former ids of a file's documents, by what follows the stem, until when they held, and where the file is now."""

    ids: Mapping[str, str]
    until: float | None
    place: Place


class Place(NamedTuple):
    """A file of a source: the source's key and first name, the path, and what the ids of the documents begin with."""

    source: int
    name: str
    path: str
    stem: str


def rename(store: SourceStore, collection: int, pairs: Iterable[Pair]) -> None:
    """Record that documents of a collection have new ids since now."""
    since = now()
    store.add_aliases(collection, (Renaming(old, new, until or since, since) for old, new, until in pairs))


@dataclass(slots=True)
class Moves:
    """The moves of files in a collection whose sources were read; the update is not committed yet.

    A file that is gone has moved to any file with its content. One at whose path is another file now has moved to a new
    or changed file. A new file may be one that was gone at an earlier synchronisation.
    """

    store: SourceStore
    collection: str
    runs: Sequence[SourceRun]
    is_removing: bool
    steps: list[Step] = field(default_factory=list)
    departed: list[DepartedFile] = field(default_factory=list)
    returned: set[Content] = field(default_factory=set)

    def find(self) -> bool:
        """Find the moves; whether there is anything to record."""
        within = {run.source.id: self._within(run) for run in self.runs}
        left = {run.source.id: self._left(run, within[run.source.id]) for run in self.runs}
        fresh, others = self._present({row.content for rows in left.values() for row in rows})
        for run in self.runs:
            places = within[run.source.id]
            for row in left[run.source.id]:
                place = fresh.get(row.content) or (None if row.path in run.results else others.get(row.content))
                if place:
                    places[row.path] = place
            self.steps += [Step(ids, None, places[path]) for path, ids in self._ids_before(run, places).items()]
            lost = [row.path for row in left[run.source.id] if row.path not in places and row.path not in run.results]
            self._note_departed(run, lost[:DEPARTED])
        self._note_returned()
        return bool(self.steps or self.departed or self.returned)

    def record(self, collection: int) -> None:
        """Record the moves; call it in the transaction that commits."""
        rename(self.store, collection, self._pairs())
        self.store.forget_departed(self.collection, self.returned)
        present = now()
        self.store.note_departed(self.collection, (one._replace(departed=present) for one in self.departed))

    def _within(self, run: SourceRun) -> dict[str, Place]:
        """Where files of a source are that moved in it, by the path before; those that stay until a sync left out."""
        return {
            before: _place(run, path)
            for before, path in run.plan.moved
            if path in run.results
            and run.results[path].outcome == WHOLE
            and (self.is_removing or before in run.plan.states)
        }

    def _left(self, run: SourceRun, within: Mapping[str, Place]) -> list[SourceFile]:
        """The rows of files whose content is no longer at their paths, and that are not in `within`."""
        deleted = [run.rows[path] for path in run.plan.deleted] if self.is_removing else []
        changed = [run.rows[path] for path, result in run.results.items() if run.had_other_content(path, result)]
        return [row for row in (*deleted, *changed) if row.size and row.path not in within]

    def _present(self, contents: Collection[Content]) -> tuple[dict[Content, Place], dict[Content, Place]]:
        """Files that have some contents now: new or changed ones, and others."""
        fresh, others = dict[Content, Place](), dict[Content, Place]()
        if not contents:
            return fresh, others
        passed = {(run.source.id, path) for run in self.runs for path in (*run.plan.gone, *run.results)}
        for source, row in self.store.by_content(self.collection, contents):
            if (source, row.path) not in passed and row.outcome != REJECTED:
                others[row.content] = Place(source, "", row.path, row.stem)
        for run in self.runs:
            again = set(run.plan.again)
            for path, result in run.results.items():
                if result.content in contents and result.outcome != REJECTED:
                    (others if path in again else fresh)[result.content] = _place(run, path)
        return fresh, others

    def _ids_before(self, run: SourceRun, paths: Iterable[str]) -> dict[str, dict[str, str]]:
        """The ids that documents of some files have in the current generation, by file and by what follows the stem."""
        ids: dict[str, dict[str, str]] = {}
        for one in self.store.of_files(run.source.id, paths, of_current=True):
            rest = _rest(one.external_id, run.rows[one.file].stem, run.source.first_name)
            ids.setdefault(one.file, {})[rest] = one.external_id
        return ids

    def _pairs(self) -> Iterator[Pair]:
        """The ids before and now of the documents of all steps."""
        present = self._present_ids()
        for ids, until, place in self.steps:
            present_ids = present.get(place, {})
            if len(ids) == len(present_ids) == 1:  # a page may have the id of its canonical address
                pairs = [*zip(ids.values(), present_ids.values(), strict=True)]
            else:
                pairs = [(id_, present_ids[rest]) for rest, id_ in ids.items() if rest in present_ids]
            yield from ((old, new, until) for old, new in pairs if old != new)

    def _present_ids(self) -> dict[Place, dict[str, str]]:
        """The ids of documents at the places of all steps, by what follows the stem."""
        places = {(step.place.source, step.place.path): step.place for step in self.steps}
        ids: dict[Place, dict[str, str]] = {}
        for source in {key for key, _ in places}:
            for one in self.store.of_files(source, [path for key, path in places if key == source]):
                place = places[source, one.file]
                ids.setdefault(place, {})[_rest(one.external_id, place.stem, place.name)] = one.external_id
        return ids

    def _note_departed(self, run: SourceRun, paths: Sequence[str]) -> None:
        for path, ids in self._ids_before(run, paths).items():
            if len(ids) <= MOST_IDS:
                row = run.rows[path]
                self.departed.append(DepartedFile(row.content, row.stem, ids, 0))

    def _note_returned(self) -> None:
        """Pair the ids of files that were gone at an earlier synchronisation with those of new files."""
        new = {
            result.content: _place(run, path)
            for run in self.runs
            for path in (*run.plan.new, *run.plan.changed)
            if (result := run.results.get(path)) and result.outcome == WHOLE and result.state.size
        }
        for one in self.store.departed(self.collection, new):
            self.returned.add(one.content)
            self.steps.append(Step(one.ids, one.departed, new[one.content]))


def _place(run: SourceRun, path: str) -> Place:
    return Place(run.source.id, run.source.first_name, path, run.results[path].stem)


def _rest(id_: str, stem: str, name: str) -> str:
    """What follows the stem in a document's id, also behind the name of its source; other ids unchanged."""
    return next((id_.removeprefix(start) for start in (stem, f"{name}/{stem}") if id_.startswith(start)), id_)
