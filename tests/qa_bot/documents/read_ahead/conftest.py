"""Fixtures of this room: reading by this process alone, and processes that fail."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from qa_bot.documents.read_ahead import children
from qa_bot.documents.read_ahead.children import Children


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch, few_suffice: None) -> None:
    """No process begins, so that this one reads all files."""
    monkeypatch.setattr(Children, "submit", lambda _, requests: Future())


@pytest.fixture
def child_that(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Has the processes run some lines at each request instead of `_answer`."""

    def child_that(lines: str) -> None:
        code = (
            "import os, time\n"
            "from qa_bot.documents.ingest.worker.messages import frame\n"
            "from qa_bot.documents.ingest.worker.serving import serve, write\n"
            "from qa_bot.documents.read_ahead.file_read import read_file\n"
            "from qa_bot.documents.read_ahead.messages import file_frame, request_of\n"
            "def answer(payload, out):\n"
            f"    {lines}\n"
            "serve(answer)\n"
        )
        (tmp_path / "strange_child.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(children, "MODULE", "strange_child")

    return child_that
