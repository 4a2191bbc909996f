"""Output about sources of documents: what a synchronisation changed, and a table of the sources."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qa_bot.terminal.cleaned_console import cleaned
from qa_bot.terminal.output import show_added

if TYPE_CHECKING:
    from qa_bot.documents.reject_log import AddReport, SourceReport
    from qa_bot.home.store import SourceInfo

LISTED = 20
"""Most files of each kind that are shown for a source after a synchronisation; a dry run shows all."""


def show_synchronised(report: AddReport, *, dry_run: bool, console: Console | None = None) -> None:
    """The files that differ, source by source, then counts of documents; errors and rejects on stderr."""
    console = cleaned(console)
    if not report.sources:
        console.print("No sources to compare; `qa-bot add PATH` makes one.")
    for source in report.sources:
        _show_files(source, console, None if dry_run else LISTED)
    show_errors(report)
    if report.records or report.sources:
        show_added(report, dry_run=dry_run, console=console)


def show_errors(report: AddReport) -> None:
    """Why sources could not be compared, on stderr."""
    errors = cleaned(stderr=True)
    for source in report.sources:
        if source.error:
            errors.print(Text(f"{source.name}: {source.error}", style="red"))


def _show_files(source: SourceReport, console: Console, limit: int | None) -> None:
    counts = [f"{len(getattr(source, name)):,} {name}" for name in ("new", "changed", "moved", "deleted")]
    console.print(Text(f"{source.name}: {', '.join(counts)}, {source.unchanged:,} unchanged files", style="bold"))
    moved = [f"{before} → {now}" for before, now in source.moved]
    lists = (("+", source.new), ("~", source.changed), (">", moved), ("-", source.deleted))
    for sign, paths in lists:
        for path in paths[:limit]:
            console.print(Text(f"  {sign} {path}"))
        if limit is not None and len(paths) > limit:
            console.print(Text(f"  {sign} … and {len(paths) - limit:,} more", style="dim"))


def show_sources(infos: Sequence[SourceInfo], *, console: Console | None = None) -> None:
    """Name, collection, kind, counts, last synchronisation and place of each source, and its last error below it."""
    console = cleaned(console)
    if not infos:
        console.print("No sources yet; `qa-bot add PATH` makes one.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("name", "collection", "kind", "files", "documents", "passages", "last sync", "place"):
        is_count = name in ("files", "documents", "passages")
        table.add_column(name, justify="right" if is_count else "left", no_wrap=is_count, overflow="fold")
    for info in infos:
        source = info.source
        synced = time.strftime("%Y-%m-%d %H:%M", time.localtime(source.synced)) if source.synced else "never"
        counts = (f"{count:,}" for count in (info.files, info.documents, info.passages))
        table.add_row(Text(source.name), Text(source.collection), source.kind, *counts, synced, Text(source.place))
    console.print(table)
    for info in infos:
        if info.source.error:
            console.print(Text(f"{info.source.name}: {info.source.error}", style="red"))


def source_fields(info: SourceInfo) -> dict[str, Any]:
    """An entry of `sources --json`; times are seconds since 1970, `options` those that were given to `add`."""
    source = info.source
    format_ = {name: value for name, value in source.options.items() if name == "format" and value}
    return {
        "name": source.name,
        "kind": source.kind,
        "place": source.place,
        "collection": source.collection,
        "options": {**format_, **source.options.get("site", {})},
        "files": info.files,
        "documents": info.documents,
        "passages": info.passages,
        "last_sync": source.synced,
        "last_error": source.error or None,
    }
