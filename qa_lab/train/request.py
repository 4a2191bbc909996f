"""What a command line asks of any `train` verb."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEV_SHARE = 0.1
"""Share of the questions that is held out if no development data is named."""


@dataclass(frozen=True, slots=True)
class Request:
    """One run."""

    data: tuple[Path, ...]
    out: Path
    base: Path | None = None  # the model to start from
    config: Path | None = None
    dev: str = str(DEV_SHARE)  # a share of the questions, or a path with development data
    limit: int | None = None  # examples
    seed: int = 0
    resume: bool = False
    plots: bool = False
    feedback: Path | None = None  # a home whose votes replace the data
    relations: Path | None = None  # names of relations, one a line, which pools give by number

    @property
    def data_names(self) -> str:
        """The data without folders."""
        return ", ".join(path.name for path in self.data)

    @property
    def base_path(self) -> str:
        """The absolute path of the base; empty without one."""
        return str(self.base.resolve()) if self.base else ""
