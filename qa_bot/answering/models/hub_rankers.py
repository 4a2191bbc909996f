"""Rerankers from the hub: fetched on request, verified, and opened from their folder.

Only `fetch_ranker` downloads anything.
"""

from __future__ import annotations

from pathlib import Path

from qa_bot.home.encoders import Confirm, EncoderError, cache_of, fetch
from rankers.answer_selection.cross_encoder import THREADS, CrossEncoder
from rankers.answer_selection.pretrained_cross_encoder import check_reranker, open_reranker


def fetch_ranker(name: str, models: Path, confirm: Confirm, *, endpoint: str | None = None) -> Path:
    """Fetch the reranker `org/name` into `models` and verify it; one that exists is only verified.

    `confirm` is called before the download. Raises EncoderError if the hub cannot be reached, or has no such reranker
    in a usable form.
    """
    return fetch(name, models, confirm, endpoint=endpoint, check=lambda folder: verify_ranker(folder, models=models))


def verify_ranker(folder: Path, *, models: Path, int8: bool = False) -> None:
    """Export the weights if need be, and score a trial pair. Raises EncoderError."""
    try:
        open_hub_ranker(folder, models=models, int8=int8)
    except (OSError, ValueError, ModuleNotFoundError) as error:
        raise EncoderError(str(error)) from error


def open_hub_ranker(folder: Path, *, models: Path, int8: bool = False) -> CrossEncoder:
    """Open a folder in Hugging Face layout; raises the errors of `open_reranker`."""
    check_reranker(folder)
    return open_reranker(folder, cache=cache_of(folder, models), threads=THREADS, int8=int8)
