"""The query expander that the configuration names."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from qa_bot.home.config import ConfigError
from qa_bot.home.sections import RetrievalSection
from qa_core.networks.checkpoints import CONFIG
from retrievers.expansion import LikelyAnswers

if TYPE_CHECKING:
    from retrievers.query_expander import QueryExpander

KIND = "QueryExpanderConfig"
_TRAIN = "train one with `qa-bot train expansion --data pairs.jsonl --out FOLDER`"


@dataclass(frozen=True, slots=True)
class ConfiguredExpander:
    """A folder whose model is opened with the first question: that takes seconds, and must not delay the answer."""

    folder: Path
    changed: int  # nanoseconds, of its configuration

    def likely_answers(self, question: str, *, language: str, check: Callable[[], object]) -> LikelyAnswers:
        """See `QueryExpander.likely_answers`. Raises ConfigError for a damaged model."""
        return self.opened().likely_answers(question, language=language, check=check)

    def opened(self) -> QueryExpander:
        """The model, shared by all bots of a process. Raises ConfigError if it is damaged."""
        try:
            return _opened(self.folder, self.changed)
        except (OSError, ValueError) as error:
            raise _refused(error) from error


def configured_expander(config: RetrievalSection) -> ConfiguredExpander | None:
    """The expander; None if queries are not expanded by generated answers.

    Raises ConfigError if the configuration names no trained expander.
    """
    if config.expansion == "none":
        return None
    if not config.expander:
        raise ConfigError(
            f'Expected a folder in retrieval.expander for retrieval.expansion = "{config.expansion}", but got none; '
            f"{_TRAIN}, and name it: qa-bot config set retrieval.expander FOLDER"
        )
    return _configured(Path(config.expander).expanduser())


def opened_expander(folder: str) -> QueryExpander:
    """The expander in a folder. Raises ConfigError if it is missing or damaged."""
    return _configured(Path(folder).expanduser()).opened()


def _configured(folder: Path) -> ConfiguredExpander:
    try:
        head = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        kind = head.get("kind") if isinstance(head, dict) else None
        if kind != KIND:
            raise ValueError(f"{folder / CONFIG} names the kind {kind!r}")
        return ConfiguredExpander(folder, (folder / CONFIG).stat().st_mtime_ns)
    except (OSError, ValueError) as error:
        raise _refused(error) from error


def _refused(error: Exception) -> ConfigError:
    return ConfigError(f"Expected a query expander in retrieval.expander, but got: {error}; {_TRAIN}.")


@lru_cache(maxsize=2)
def _opened(folder: Path, _changed: int) -> QueryExpander:
    from retrievers.query_expander import QueryExpander  # late: it needs torch

    return QueryExpander.load(folder)
