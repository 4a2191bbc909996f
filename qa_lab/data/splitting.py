"""Which examples are for training and which for development: by a hash, equal on every machine and for every order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from qa_lab.errors import TrainingDataError

T = TypeVar("T")
Items = TypeVar("Items")


def split_by_hash(items: Iterable[T], share: float, key: Callable[[T], str]) -> tuple[list[T], list[T]]:
    """Items for training, and about `share` of them held out; items with the same key are on one side."""
    parts: tuple[list[T], list[T]] = ([], [])
    for item in items:
        parts[hash_below(key(item), share)].append(item)
    return parts


def hash_below(text: str, share: float) -> bool:
    """Whether the hash of a text is within the first `share` of all hashes."""
    return int.from_bytes(text_hash(text), "big") < share * 2**64


def text_hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def normalised(text: str) -> str:
    """Without differences of case and white space."""
    return " ".join(text.casefold().split())


def dev_share(dev: str, *, most: float = 1.0, zero: bool = False) -> float | None:
    """The share that --dev names; None for a path.

    Raises:
        TrainingDataError: the share is not between 0 and `most`; `zero` allows 0.
    """
    try:
        share = float(dev)
    except ValueError:
        return None
    if not (0 < share < most or (zero and share == 0)):
        raise TrainingDataError(f"Expected a share between 0 and {most:g}, or a path, for --dev, but got {dev}.")
    return share


def train_dev_split(
    dev: str, items: Items, split: Callable[[Items, float], tuple[Items, Items]], read: Callable[[Path], Items]
) -> tuple[Items, Items]:
    """Items for training and for development: a share of them is held out, or --dev names a path with others."""
    share = dev_share(dev)
    return split(items, share) if share is not None else (items, read(Path(dev)))
