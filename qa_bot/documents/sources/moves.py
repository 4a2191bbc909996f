"""Files that went into another source: what their ids begin with there, so that votes follow them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from qa_bot.documents.sources.plan import REJECTED
from qa_bot.home.store import SourceFile

if TYPE_CHECKING:
    from qa_bot.documents.sources.source_run import SourceRun


def stems_now(deleted: Sequence[SourceFile], runs: Iterable[SourceRun]) -> dict[str, str]:
    """The stem of the file that now has the content of each deleted file, by the path of the deleted one.

    Files that are gone themselves, and empty ones, are nowhere.

    Args:
        deleted: files of one source that are gone.
        runs: the sources of its collection that are synchronised with it; the store knows the files of the others.
    """
    contents = {row.content for row in deleted if row.size}
    if not contents:
        return {}
    runs = list(runs)
    gone = {(run.source.id, path) for run in runs for path in run.plan.gone}
    read = {(run.source.id, path) for run in runs for path in run.results}
    first = next(iter(runs))
    stems = {
        row.content: row.stem
        for source, row in first.store.by_content(first.source.collection, contents)
        if (source, row.path) not in gone | read and row.outcome != REJECTED
    }
    for run in runs:
        for result in run.results.values():
            if result.content in contents and result.outcome != REJECTED:
                stems[result.content] = result.stem
    return {row.path: stems[row.content] for row in deleted if row.content in stems}
