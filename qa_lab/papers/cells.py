"""A measured row of a table, in memory and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of a table by one kind of settings: its figures, or why there are none.

    `state` is a hash of the declaration, of the size of the sample and of the data.
    """

    table: str
    row: str
    settings: str  # `paper` or `default`
    figures: dict[str, tuple[float, float | None]] = field(default_factory=dict)  # mean and standard error
    reason: str = ""
    command: list[str] = field(default_factory=list)
    seconds: float = 0.0
    quick: bool = False
    state: str = ""


def read_cell(path: Path) -> Cell | None:
    """A cell that was written; None for a missing or damaged file."""
    try:
        fields: dict[str, Any] = orjson.loads(path.read_bytes())
        fields["figures"] = {name: (mean, error) for name, (mean, error) in fields["figures"].items()}
        return Cell(**fields)
    except (OSError, orjson.JSONDecodeError, TypeError, KeyError, ValueError):
        return None
