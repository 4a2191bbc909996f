"""Options that several tasks share."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class System(StrEnum):
    """Those of `qa_lab.evaluate.systems`, whose import is slow."""

    plain = "plain"
    keyword = "keyword"
    dense = "dense"
    hybrid = "hybrid"


def values(systems: Sequence[StrEnum] | None) -> tuple[Any, ...]:
    """Names of systems; none if none was given, because each task has its own defaults."""
    return tuple(system.value for system in systems or ())


Judged = Annotated[Path, typer.Option("--data", help="A judged folder, in BEIR layout or ours, or MS MARCO's files.")]
Readable = Annotated[Path, typer.Option("--data", help="Documents: whatever `add` reads.")]
Split = Annotated[str, typer.Option(help="Split of the data.")]
Engines = Annotated[list[System] | None, typer.Option(help="System to measure; may be given again.")]
Encoders = Annotated[list[str] | None, typer.Option(help="Encoder to measure; may be given again.")]
Models = Annotated[list[Path] | None, typer.Option(help="A trained model to measure; may be given again.")]
Limit = Annotated[int | None, typer.Option(help="Number of questions at most.", min=1)]
Relevant = Annotated[int, typer.Option(help="Least grade that binary measures count.", min=1)]
Run = Annotated[Path | None, typer.Option(help="Write the ranked documents as a TREC run.")]
HeldOut = Annotated[float, typer.Option(help="Only the share that training held out.", min=0, max=0.9)]
