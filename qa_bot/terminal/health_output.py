"""The health of a service or a home as a table."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qa_bot.terminal.cleaned_console import cleaned
from qa_core.disk_space import DiskSpace
from qa_core.text.safe_text import clean

STYLES = {"ok": "green", "warning": "yellow", "error": "bold red"}
UNITS = (("d", 86_400), ("h", 3600), ("min", 60))


def show_health(health: Mapping[str, Any], *, console: Console | None = None) -> None:
    """One look; in a terminal it replaces the last one."""
    console = cleaned(console)
    if console.is_terminal:
        console.clear()
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, value in _rows(health):
        table.add_row(Text(name, style="dim"), value)
    console.print(table)
    for problem in health["problems"]:
        console.print(Text(clean(f"{problem['level']}: {problem['detail']}"), style=STYLES[problem["level"]]))


def _rows(health: Mapping[str, Any]) -> list[tuple[str, Text]]:
    status = health["status"]
    clock = time.strftime("%H:%M:%S", time.localtime(health["time"]))
    rows = [("status", Text(status, style=STYLES[status])), ("time", Text(f"{clock}, from the {health['from']}"))]
    if "queue" in health:
        queue = health["queue"]
        state = f"{health['state']}, up {age(health['uptime'])}"
        waits = f", the oldest for {queue['longest_wait']:.1f} s" if queue["waiting"] else ""
        rows += [("service", Text(state))]
        rows += [("questions", Text(f"{queue['running']} in work, {queue['waiting']} of {queue['limit']} wait{waits}"))]
    index, graph, disk = health["index"], health["graph"], health["disk"]
    counts = f"{index['documents']:,} documents, {index['passages']:,} passages"
    rows += [("index", Text(f"generation {index['generation']}, {counts}"))]
    rows += [("graph", Text(f"generation {graph['generation']}, {graph['facts']:,} facts"))]
    rows += [("vectors", Text(clean(_vectors(health["improving"]))))]
    rows += [("source", Text(clean(_source(source)))) for source in health["sources"]]
    backup = health["backup"]
    rows += [("backup", Text("none" if backup is None else f"{age(backup['age'])} ago"))]
    rows += [("disk", Text(f"{DiskSpace(disk['free'], disk['size']).free_in_words} free, {disk['percent']:.1f} %"))]
    return rows


def age(seconds: float) -> str:
    """`3 min`, `2 h`: a duration in its largest unit."""
    for unit, length in UNITS:
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(seconds)} s"


def _vectors(improving: Mapping[str, Any]) -> str:
    now = str(improving["vectors"])
    if improving.get("progress") is not None:
        return f"{now}, better ones {improving['progress']:.0%}"
    return f"{now}, better ones can be made" if improving["improvable"] else now


def _source(source: Mapping[str, Any]) -> str:
    synced = "never synchronised" if source["age"] is None else f"synchronised {age(source['age'])} ago"
    return f"{source['name']}: {synced}" + (", not complete" if source["error"] else "")
