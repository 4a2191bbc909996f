"""What every `train` verb is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SHARE = 0.1
"""Of the questions, held out where no development data is named."""


@dataclass(frozen=True, slots=True)
class Request:
    """One run as it was asked for."""

    data: tuple[Path, ...]
    out: Path
    base: Path | None = None  # what to start from
    config: Path | None = None
    dev: str = str(SHARE)  # a share of the questions, or a path with development data
    limit: int | None = None  # examples
    seed: int = 0
    resume: bool = False
    plots: bool = False
    feedback: Path | None = None  # a home whose people's votes take the place of data
    relations: Path | None = None  # names of relations, one a line, that pools give by number
