"""Python's search for circular garbage, which costs a tenth of the time of adding documents."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

NEW_OBJECTS = 50_000
"""Between two searches, instead of Python's 700: parsing makes many small objects, of which few are circular."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Search less often while documents are read and written."""
    thresholds = gc.get_threshold()
    gc.set_threshold(NEW_OBJECTS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
