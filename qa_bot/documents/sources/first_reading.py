"""Reads the files of a home's first source ahead while the home is made, and filled with the starter collection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from qa_bot.documents.ingest.records import Limits
from qa_bot.documents.read_ahead.ahead import ReadAhead, reading_ahead
from qa_bot.documents.read_ahead.file_read import Request, Settings
from qa_bot.documents.sources.listing import Listing
from qa_bot.documents.sources.places import kind_of, resolve
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations


@contextmanager
def reading_first(
    home: Home,
    config: Config,
    paths: Sequence[Path],
    *,
    format: str | None,  # noqa: A002  # the option's name
    limits: Limits,
) -> Iterator[ReadAhead | None]:
    """Read the files of one path ahead if the home is empty, so that all of them are new; see `reading_ahead`.

    If the source gets other ids than expected, its files are read in turn.
    """
    if len(paths) != 1 or Generations(home.index).current_number() is not None:
        yield None
        return
    settings = Settings(limits, config.passages.characters, config.passages.overlap)
    with reading_ahead(partial(_requests, resolve(paths[0]), format or ""), settings) as ahead:
        yield ahead


def _requests(place: Path, format_: str) -> Iterator[Request]:
    """The files of a new source."""
    with suppress(OSError):  # said when the source is compared
        is_named = kind_of(place) != "folder"
        for state in Listing(place).states():
            yield Request(state.location, state.size, state.path, is_named, "", format_)
