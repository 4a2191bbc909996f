"""From the name of a task to its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qa_bot.evaluation.datasets import DatasetError, read_dataset
from qa_bot.evaluation.known_item import evaluate_known_item
from qa_bot.evaluation.liveqa import evaluate_liveqa
from qa_bot.evaluation.report import Row
from qa_bot.evaluation.retrieval import evaluate_retrieval


def measure(
    task: str,
    data: Path,
    *,
    split: str,
    engines: Sequence[str],
    limit: int | None,
    relevant: int,
    summary: bool,
    run: Path | None,
    **common: Any,
) -> list[Row]:
    """The rows of `retrieval`, `liveqa` or `known-item`.

    Args:
        engines: none means what the task measures by default.
        common: `encoders`, `home` and `progress`, as every task takes them.
    """
    chosen: dict[str, Any] = {**common, "engines": engines} if engines else common
    if task == "known-item":
        return evaluate_known_item(data, **({**chosen, "limit": limit} if limit else chosen))
    dataset = read_dataset(data, split=split, limit=limit)
    if task == "liveqa":
        if "plain" in engines:
            raise DatasetError("Expected the engine keyword, dense or hybrid for liveqa, but got plain.")
        return evaluate_liveqa(dataset, summary=summary, relevant=relevant, run=run, **chosen)
    return evaluate_retrieval(dataset, relevant=relevant, run=run, **chosen)
