"""A console that shows no control characters of the texts that it prints.

Ids, titles, addresses, configuration and messages hold what strangers wrote. An escape sequence among them could clear
the screen or write to the clipboard.
"""

from __future__ import annotations

import os
from weakref import WeakSet

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment

from qa_core.text.safe_text import clean

WIDE = 10_000
"""Characters of a line of a file: rich would wrap at 80."""
_CLEANED: WeakSet[Console] = WeakSet()


class _Cleaned:
    """Renders another object, and removes the control characters from its text."""

    def __init__(self, inner: ConsoleRenderable) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from map(_cleaned_segment, console.render(self._inner, options))


class _CleaningHook(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Cleaned(renderable) for renderable in renderables]


def cleaned(console: Console | None = None, *, stderr: bool = False) -> Console:
    """The console, or a new one, without control characters in what it prints.

    A new one shows `[link=…]` and `:cat:` in names unchanged, and does not wrap lines that go to a file or a pipe,
    unless the environment sets COLUMNS.
    """
    if console is None:
        console = Console(markup=False, emoji=False, highlight=False, stderr=stderr)
        if not console.is_terminal and "COLUMNS" not in os.environ:
            console.width = WIDE
    if console not in _CLEANED:
        _CLEANED.add(console)
        console.push_render_hook(_CleaningHook())
    return console


def _cleaned_segment(segment: Segment) -> Segment:
    """The segment; one of rich's own control codes is unchanged."""
    return segment if segment.control else Segment(clean(segment.text), segment.style)
