"""Compares the files of a source with those of its last synchronisation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from qa_bot.documents.ingest.files.digest import file_digest
from qa_bot.documents.ingest.records import Limits, Notice, Reject
from qa_bot.documents.sources.listing import FileState, Listing
from qa_bot.home.store import Content, SourceFile

WHOLE = "read"
"""Outcome of a file: all of it was read, and its documents are those of the file."""
STALE = "stale"
"""Outcome of a file that was read, but whose earlier documents were kept, because only `sync` removes documents."""
REJECTED = "rejected"
"""Outcome of a file of which something was rejected; it is read again every time."""

OTHERS = "it has none of the files that it had before"
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
    """Pairs of the path before and the path now; at the path before may be another file now."""
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
        """Paths without a file, whose documents are removed."""
        return [*self.deleted, *(before for before, _ in self.moved if before not in self.states)]

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to be read, removed or noted."""
        return not (self.states or self.deleted or self.moved or self.touched)


def compare(
    rows: Mapping[str, SourceFile],
    listing: Listing,
    *,
    settings: str,
    is_folder: bool | None = None,
    incomplete: Callable[[SourceFile], bool] = lambda _: False,
    removing: bool = True,
    allow_empty: bool = False,
) -> SyncPlan:
    """Compare by size and time first; the content is read only if one of them differs, or to find moved files.

    Args:
        rows: the files of the last synchronisation within the listing's scope, by path.
        settings: what affects how files are read; a file that was read with others is read again.
        is_folder: whether the place was a folder before, None if there was none.
        incomplete: whether an unchanged file must be read again, because documents of it are missing.
        removing: documents of deleted files are to be removed.
        allow_empty: an empty or missing place, or one with other files only, means that all files were deleted.
    """
    plan = SyncPlan(problems=listing.problems)
    if is_folder is not None and listing.place.exists() and listing.place.is_dir() != is_folder and not allow_empty:
        thing = "it is a file now" if is_folder else "it is a folder now"
        return SyncPlan(error=_unreachable(listing.place, thing))
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
    if removing and not allow_empty and _is_another(plan, rows):
        return SyncPlan(error=_unreachable(listing.place, OTHERS), problems=listing.problems)
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


def _find_moves(plan: SyncPlan, gone: Sequence[str], rows: Mapping[str, SourceFile]) -> None:
    """Pair new and changed files with gone and changed ones that had the same content; each is used once.

    What is now at the path of a file that moved is new, unless it has moved, too, as when two files are swapped.
    """
    by_content: dict[Content, list[str]] = {}
    for path in (*sorted(gone), *plan.changed):
        if rows[path].size and rows[path].hash:
            by_content.setdefault(rows[path].content, []).append(path)
    sizes = {content.size for content in by_content}
    for path in (*plan.new, *plan.changed):
        state = plan.states[path]
        if state.size in sizes and (before := by_content.get(Content(state.size, file_digest(state.location)))):
            plan.moved.append((before.pop(0), path))
    left, come = {before for before, _ in plan.moved}, {now for _, now in plan.moved}
    differing = left.union(plan.new, plan.changed) - come
    others = [path for path in plan.states if path in differing]
    plan.new = [path for path in others if path in left or path not in rows]
    plan.changed = [path for path in others if path not in left and path in rows]
    plan.deleted = sorted(path for path in gone if path not in left)


def _is_another(plan: SyncPlan, rows: Mapping[str, SourceFile]) -> bool:
    """Whether nothing of before is there any more, as on a share that is not mounted.

    The only file of a source may have another name and another content; it is gone only if something was added.
    """
    if len(plan.deleted) < len(rows) or not any(row.documents for row in rows.values()):
        return False
    return len(rows) > 1 or not any(state.size for state in plan.states.values())


def _unreachable(place: Path, reason: str) -> str:
    return (
        f"Expected files at {place}, but {reason}; nothing was deleted: mount or restore it, name its new place with "
        "`qa-bot sources move`, or, if it is really gone, sync with --allow-empty or use `qa-bot sources remove`."
    )
