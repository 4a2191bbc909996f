"""Output in a terminal: search results, reports, tables, progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qa_bot.terminal.cleaned_console import cleaned
from qa_bot.terminal.sigint import check_interrupt
from qa_core.counted import counted
from qa_core.text.markdown_text import plain_text
from qa_core.text.safe_text import clean
from qa_core.types import Candidate

if TYPE_CHECKING:
    from generators.topics.grid_map import GridMap
    from qa_bot.documents.graph import AddedGraph
    from qa_bot.documents.reject_log import AddReport
    from qa_bot.home.config import Setting
    from qa_bot.home.doctor import Check
    from qa_bot.home.store import ConversationInfo
    from qa_bot.transfer.exporting import Exported
    from qa_bot.transfer.importing import Imported
    from qa_bot.transfer.judgements import VoteCounts

SNIPPET = 160
CELLS = 5
"""Grid cells that are shown for a hint."""
REFRESH = 0.25
SHOWN = 20
"""Rejects, and notices, that are shown of a report."""


def show_chart(chart: GridMap, *, console: Console | None = None) -> None:
    """The most likely grid cells of a hint, with the words of their windows."""
    console = cleaned(console)
    if chart.notice or chart.posterior is None:
        console.print(Text(chart.notice or "No hint.", style="yellow"))
        return
    for cell in chart.posterior.argsort()[::-1][:CELLS].tolist():
        row, column = divmod(cell, chart.width)
        share = f"{chart.posterior[cell]:6.1%}"
        position = f"row {row + 1}, column {column + 1}"
        console.print(
            Text.assemble((f"{share}  ", "bold"), ", ".join(chart.window_words(cell)), (f"  {position}", "dim"))
        )


def notify(message: str) -> None:
    """A message on stderr, apart from results."""
    cleaned(stderr=True).print(Text(message, style="dim"))


def show_candidates(candidates: Sequence[Candidate], *, console: Console | None = None) -> None:
    """Ranked documents with places, scores and the beginning of their best passages."""
    from qa_bot.answering.stages.compose import source_of
    from qa_bot.terminal.answer_labels import ENGLISH
    from qa_bot.terminal.answer_output import source_line

    console = cleaned(console)
    if not candidates:
        console.print("Nothing found; ask in other words or add documents.")
    for number, candidate in enumerate(candidates, start=1):
        line = source_line(f"{number:>3}.", source_of(candidate), ENGLISH, f"{candidate.score:.3f}")
        console.print(line, soft_wrap=not console.is_terminal)
        console.print(Padding(Text(_snippet(candidate.passage.text), style="dim"), (0, 0, 0, 5), expand=False))


def show_added(added: AddReport, *, dry_run: bool, console: Console | None = None) -> None:
    """Counts of an `add`; rejects with their reasons on stderr."""
    console = cleaned(console)
    errors = cleaned(stderr=True)
    for notice in added.notices[:SHOWN]:
        errors.print(Text(f"{notice.where}: {notice.message}", style="yellow"))
    _show_rejects(added, errors)
    would = "would be " if dry_run else ""
    parts = [f"{getattr(added, what):,} {what}" for what in ("added", "updated", "unchanged", "rejected")]
    parts += [f"{added.removed:,} removed"] * bool(added.removed)
    moved = sum(len(source.moved) for source in added.sources)
    parts += [f"{counted(moved, 'file')} moved"] * bool(moved)
    repeats = f", {added.duplicates:,} of them nearly the same as another" * bool(added.duplicates)
    console.print(would + ", ".join(parts) + f" ({added.passages:,} passages{repeats})" * bool(added.passages))


def show_graph_added(added: AddedGraph, *, console: Console | None = None) -> None:
    """Counts of each file and of the graph; rejects with their reasons on stderr."""
    console = cleaned(console)
    _show_rejects(added, cleaned(stderr=True))
    for file in added.files:
        others = [f"{file.rejected:,} rejected"] * bool(file.rejected)
        others += [f"{file.dropped:,} in other languages"] * bool(file.dropped)
        console.print(Text(f"{file.path}: {', '.join([f'{file.triples:,} triples', *others])}"))
    rate = added.triples / added.seconds if added.seconds else 0.0
    console.print(
        f"{added.stats['triples']:,} distinct triples, {added.stats['names']:,} names; "
        f"{added.seconds:.1f} s ({rate:,.0f} triples a second)"
    )


def show_graph(figures: Mapping[str, Any], *, console: Console | None = None) -> None:
    console = cleaned(console)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name in ("generation", "triples", "terms", "literals", "predicates", "names", "bytes"):
        table.add_row(Text(name, style="dim"), f"{figures[name]:,}")
    console.print(table)
    _heading(console, "Most frequent predicates")
    for predicate in figures["most_frequent"]:
        console.print(Text(f"{predicate['triples']:>12,}  {predicate['predicate']}"))


def show_facts(facts: Sequence[Mapping[str, Any]], *, console: Console | None = None) -> None:
    """A fact a line, in words."""
    console = cleaned(console)
    if not facts:
        console.print("No such fact.")
    for fact in facts:
        words = fact["labels"]
        console.print(Text(f"{words['subject']} · {words['predicate']} · {words['object']}"))


def show_exported(exported: Exported, *, console: Console | None = None) -> None:
    console = cleaned(console)
    names = ("documents", "facts", "conversations", "turns", "votes")
    parts = [f"{getattr(exported, name):,} {name}" for name in names]
    console.print(Text(f"{', '.join(parts)} to {exported.path} ({exported.bytes / 1e6:,.1f} MB)"))


def show_imported(imported: Imported, *, console: Console | None = None) -> None:
    """Counts of an import; rejects with their reasons and omitted parts on stderr."""
    show_added(imported.documents, dry_run=False, console=console)
    console = cleaned(console)
    joined = imported.joined
    new = f"{imported.facts:,} facts, {imported.conversations:,} conversations, {joined.turns:,} turns"
    console.print(f"new: {new}, {joined.votes:,} votes ({joined.known:,} turns were here)")
    for notice in imported.notices:
        notify(notice)


def show_vote_counts(counts: VoteCounts, *, console: Console | None = None) -> None:
    console = cleaned(console)
    line = f"{counts.votes:,} votes"
    if counts.judgements:
        line += f": {counts.judgements:,} judgements of {counts.questions:,} questions, {counts.ties:,} tied"
    if counts.unused:
        line += f", {counts.unused:,} votes on answers without a document"
    console.print(line)


def show_conversations(conversations: Sequence[ConversationInfo], *, console: Console | None = None) -> None:
    """Id, time of the last question, number of questions, and title."""
    console = cleaned(console)
    if not conversations:
        console.print("No conversations yet.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("id", "last used", "questions", "title"):
        table.add_column(name, justify="right" if name == "questions" else "left", no_wrap=name == "id")
    for row in conversations:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.updated))
        table.add_row(Text(row.id), used, f"{row.turns:,}", Text(row.title))
    console.print(table)


def show_status(figures: Mapping[str, Any], *, console: Console | None = None) -> None:
    console = cleaned(console)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name in ("home", "size", "encoder", "generation", "documents", "passages", "near_duplicates", "facts", "turns"):
        table.add_row(Text(name.replace("_", " "), style="dim"), _plain(name, figures[name]))
    last = figures.get("last_backup")
    table.add_row(Text("last backup", style="dim"), f"{last['name']} in {last['folder']}" if last else "none")
    for collection in figures["collections"]:
        table.add_row(
            Text("collection", style="dim"),
            f"{collection['name']}: {collection['documents']:,} documents, {collection['passages']:,} passages",
        )
    console.print(table)


def show_checks(checks: Sequence[Check], *, console: Console | None = None) -> None:
    console = cleaned(console)
    for check in checks:
        mark = Text("✓ ", style="green") if check.ok else Text("✗ ", style="bold red")
        effect = f" It affects {check.affects}." if check.affects else ""
        console.print(mark + Text(f"{check.name}: {check.detail}{effect}"))


def show_settings(settings: Sequence[Setting], *, console: Console | None = None) -> None:
    console = cleaned(console)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("key", "value", "from", ""):
        table.add_column(name)
    for setting in settings:
        table.add_row(setting.key, setting.value, setting.origin, Text(setting.description, style="dim"))
    console.print(table)


def show(what: Any, *, error: bool = False) -> None:
    """Print anything that rich can render, on stdout or stderr."""
    cleaned(stderr=error).print(what)


class Counter(Protocol):
    """Receives a running count, and optionally the current step."""

    def __call__(self, count: int, doing: str = "", /) -> None: ...


@contextmanager
def counting(label: str) -> Iterator[Counter]:
    """A line on stderr with a count and its rate; nothing if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield _nothing
        return
    started = shown = time.monotonic()

    def progress(count: int, doing: str = "", /) -> None:
        nonlocal shown
        check_interrupt()
        now = time.monotonic()
        if now - shown >= REFRESH:
            shown = now
            sys.stderr.write(f"\r\x1b[K{clean(doing or label)}: {count:,} ({count / (now - started):,.0f} a second)")
            sys.stderr.flush()

    try:
        yield progress
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _nothing(_count: int, _doing: str = "", /) -> None:
    """Progress without a terminal."""
    check_interrupt()


def _show_rejects(added: AddReport | AddedGraph, errors: Console) -> None:
    for reject in added.examples[:SHOWN]:
        errors.print(Text(f"{reject.where}: {reject.reason}", style="red"))
    if added.rejected > SHOWN:
        errors.print(f"… and {added.rejected - SHOWN:,} more")
    if added.rejects_file:
        errors.print(Text(f"All rejects with their reasons: {added.rejects_file}"))


def _heading(console: Console, text: str) -> None:
    console.print(Text(f"\n{text}", style="bold"))


def _snippet(text: str) -> str:
    flat = " ".join(plain_text(text).split())
    return flat if len(flat) <= SNIPPET else flat[:SNIPPET].rsplit(" ", 1)[0] + " …"


def _plain(name: str, value: object) -> str:
    if name == "size":
        return f"{int(str(value)) / 1e6:,.1f} MB"
    return f"{value:,}" if isinstance(value, int) else str(value)
