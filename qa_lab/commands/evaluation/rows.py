"""What the tasks with rows of results share: a line of progress, and the output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from qa_bot.cli.context import print_json

if TYPE_CHECKING:
    from qa_lab.evaluate.report import Row


class Common(TypedDict):
    """Arguments of every evaluation over documents."""

    encoders: Sequence[str]
    home: Path | None
    progress: Callable[[str, int], None]


@contextmanager
def measuring() -> Iterator[Callable[[str, int], None]]:
    """A line on stderr that says what is measured, if stderr is a terminal."""
    from qa_bot.terminal.output import counting

    with counting("") as progress:
        yield lambda doing, done: progress(done, doing)


def print_rows(rows: Sequence[Row], *, json: bool) -> None:
    """One JSON object, or a table."""
    from qa_bot.terminal.output import show
    from qa_lab.evaluate.report import as_json, table

    if json:
        print_json(as_json(rows))
    else:
        show(table(rows))
