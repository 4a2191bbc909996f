"""Compares the files of a source with those of its last synchronisation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from qa_bot.documents.ingest.files.digest import file_digest
from qa_bot.documents.ingest.records import Limits, Notice, Reject
from qa_bot.documents.sources.listing import FileState, Listing
from qa_bot.home.store import SourceFile

WHOLE = "read"
"""Outcome of a file: all of it was read, and its documents are those of the file."""
STALE = "stale"
"""Outcome of a file that was read, but whose earlier documents were kept, because only `sync` removes documents."""
REJECTED = "rejected"
"""Outcome of a file of which something was rejected; it is read again every time."""

NOTHING_LEFT = "There is nothing any more, and its documents are removed; `qa-bot sources remove` forgets the source."


@dataclass(frozen=True, slots=True)
class Visiting:
    """How websites are visited for a synchronisation.

    Attributes:
        limits: bounds on the bytes of a page, and on what is unpacked from it.
        pages: called with the number of pages that were visited so far.
        removing: documents of pages that are gone are to be removed …
        allow_empty: … also if only no link leads to the pages.
    """

    limits: Limits
    pages: Callable[[int], None]
    removing: bool = True
    allow_empty: bool = False


@dataclass(slots=True)
class SyncPlan:
    """What differs between a source and its last synchronisation; paths are below the source, with forward slashes."""

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of the path before and the path now."""
    deleted: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    """Unchanged files that are read again: rejected ones, and ones that were read with other settings."""
    touched: list[SourceFile] = field(default_factory=list)
    """Rows of files with a new time and the same content."""
    unchanged: int = 0
    documents: int = 0
    """Documents of the unchanged files."""
    present: int = 0
    """Files on disk."""
    states: dict[str, FileState] = field(default_factory=dict)
    """The files to read, in the order of the walk."""
    problems: list[Reject | Notice] = field(default_factory=list)
    error: str = ""
    """Why nothing was compared: the source is unreachable, or suddenly empty."""

    @property
    def gone(self) -> list[str]:
        """Paths whose documents are removed."""
        return [*self.deleted, *(before for before, _ in self.moved)]

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to be read, removed or noted."""
        return not (self.states or self.deleted or self.moved or self.touched)


def compare(
    rows: Mapping[str, SourceFile],
    listing: Listing,
    *,
    settings: str,
    incomplete: Callable[[SourceFile], bool] = lambda _: False,
    allow_empty: bool = False,
) -> SyncPlan:
    """Compare by size and time first; the content is read only if one of them differs, or to find moved files.

    Args:
        rows: the files of the last synchronisation within the listing's scope, by path.
        settings: what affects how files are read; a file that was read with others is read again.
        incomplete: whether an unchanged file must be read again, because documents of it are missing.
        allow_empty: an empty or missing place means that all files were deleted.
    """
    plan = SyncPlan(problems=listing.problems)
    seen: set[str] = set()
    try:
        for state in listing.states():
            plan.present += 1
            seen.add(state.path)
            _compare_file(plan, state, rows.get(state.path), settings, incomplete)
    except OSError as error:
        if not rows and not listing.scope and isinstance(error, FileNotFoundError):
            return SyncPlan(problems=[Notice(str(listing.place), NOTHING_LEFT)])
        if not allow_empty or not isinstance(error, FileNotFoundError):
            return SyncPlan(error=_unreachable(listing.place, error.strerror or "it does not exist"))
    if rows and not plan.present and not allow_empty:
        return SyncPlan(error=_unreachable(listing.place, "it has no files any more"), problems=listing.problems)
    gone = [path for path in rows if path not in seen and not listing.is_unreadable(path)]
    _find_moves(plan, gone, rows)
    return plan


def _compare_file(
    plan: SyncPlan,
    state: FileState,
    row: SourceFile | None,
    settings: str,
    incomplete: Callable[[SourceFile], bool],
) -> None:
    if row is None:
        plan.new.append(state.path)
    else:
        is_same = (state.size, state.mtime_ns) == (row.size, row.mtime_ns)
        if not is_same and (state.size != row.size or file_digest(state.location) != row.hash):
            plan.changed.append(state.path)
        elif row.outcome == REJECTED or row.settings != settings or incomplete(row):
            plan.again.append(state.path)
        else:
            plan.unchanged += 1
            plan.documents += row.documents
            if not is_same:
                plan.touched.append(row._replace(mtime_ns=state.mtime_ns))
            return
    plan.states[state.path] = state


def _find_moves(plan: SyncPlan, gone: Iterable[str], rows: Mapping[str, SourceFile]) -> None:
    """Pair new files with gone ones of the same content; each is used once."""
    by_content: dict[tuple[int, str], list[str]] = {}
    for path in sorted(gone):
        by_content.setdefault((rows[path].size, rows[path].hash), []).append(path)
    sizes = {size for size, _ in by_content if size}
    staying: list[str] = []
    for path in plan.new:
        state = plan.states[path]
        before = by_content.get((state.size, file_digest(state.location))) if state.size in sizes else None
        if before:
            plan.moved.append((before.pop(0), path))
        else:
            staying.append(path)
    plan.new = staying
    plan.deleted = sorted(path for paths in by_content.values() for path in paths)


def _unreachable(place: Path, reason: str) -> str:
    return (
        f"Expected files at {place}, but {reason}; nothing was deleted: mount or restore it, name its new place with "
        "`qa-bot sources move`, or, if it is really gone, sync with --allow-empty or use `qa-bot sources remove`."
    )
