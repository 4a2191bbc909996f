"""From a folder to the trained ranker in it."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import cast

from qa_core.checkpoints import CONFIG
from rankers.neural import PairScorer

KINDS = {"PairConfig": ("qa_core.pair_classifier", "PairClassifier")}
"""By the `kind` of a folder's config.json: the module and the class whose `load` opens it."""


class RankerError(ValueError):
    """A ranker that cannot be opened; the message says what is wrong with it and what to do."""


def open_ranker(folder: Path) -> PairScorer:
    """Raises RankerError where the folder holds no ranker, or a damaged one."""
    try:
        head = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RankerError(
            f"Expected a trained ranker in {folder}, but got no {CONFIG}; name the --out of a `qa-bot train`."
        ) from None
    except (OSError, ValueError) as error:
        raise RankerError(f"{folder / CONFIG}: Expected a readable JSON file, but got {error}; train again.") from error
    kind = head.get("kind") if isinstance(head, dict) else None
    if kind not in KINDS:
        raise RankerError(f"Expected a ranker in {folder}, but its {CONFIG} names the kind {kind!r}; choose another.")
    module, name = KINDS[kind]
    try:
        return cast(PairScorer, getattr(import_module(module), name).load(folder))
    except (ValueError, FileNotFoundError, ModuleNotFoundError) as error:
        raise RankerError(f"{folder}: {error}") from error
