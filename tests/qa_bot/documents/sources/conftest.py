"""Fixtures of this room: folders of small files, and what a home has of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa_bot.documents.sync import (
    add,
    synchronise,
)
from qa_bot.home.folder import Home
from qa_core.encoders.static_encoder import StaticEncoder
from tests.qa_bot.documents.sources.folders import CONFIG, TEXTS, Add, write


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "one" / "docs", TEXTS)


@pytest.fixture
def added(empty_home: Home, encoder: StaticEncoder) -> Add:
    """Adds paths to the home."""
    return lambda *paths, **options: add(empty_home, CONFIG, encoder, paths, **options)


@pytest.fixture
def synced(empty_home: Home, encoder: StaticEncoder) -> Add:
    """Synchronises sources of the home."""
    return lambda *names, **options: synchronise(empty_home, CONFIG, encoder, names, **options)
