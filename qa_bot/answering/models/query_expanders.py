"""The query expander that the configuration names."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from qa_bot.home.config import ConfigError
from qa_bot.home.sections import RetrievalSection

if TYPE_CHECKING:
    from retrievers.query_expander import QueryExpander

_TRAIN = "train one with `qa-bot train expansion --data pairs.jsonl --out FOLDER`"


def configured_expander(config: RetrievalSection) -> QueryExpander | None:
    """The expander, shared by all bots of a process; None if queries are not expanded by generated answers.

    Raises ConfigError if the configuration names no trained expander.
    """
    if config.expansion == "none":
        return None
    if not config.expander:
        raise ConfigError(
            f'Expected a folder in retrieval.expander for retrieval.expansion = "{config.expansion}", but got none; '
            f"{_TRAIN}, and name it: qa-bot config set retrieval.expander FOLDER"
        )
    folder = Path(config.expander).expanduser()
    try:
        return _opened(folder, (folder / "config.json").stat().st_mtime_ns)
    except (OSError, ValueError, ModuleNotFoundError) as error:
        raise ConfigError(f"Expected a query expander in retrieval.expander, but got: {error}; {_TRAIN}.") from error


@lru_cache(maxsize=2)
def _opened(folder: Path, _changed: int) -> QueryExpander:
    from retrievers.query_expander import QueryExpander  # late: it needs torch

    return QueryExpander.load(folder)
