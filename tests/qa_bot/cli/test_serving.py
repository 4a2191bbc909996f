"""What `serve` does before it serves."""

from pathlib import Path
from typing import NoReturn

import pytest

from qa_bot.bot import Bot
from qa_bot.cli.app import run


def test_heaps_are_bounded_before_the_home_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads index the first documents, and the heaps that they get stay: eight, if these are bounded later."""
    steps = []

    def opened(*_args: object, **_options: object) -> NoReturn:
        steps.append("opened")
        raise OSError("no home")

    monkeypatch.setattr("qa_core.process_memory.bound_heaps", lambda: steps.append("bounded"))
    monkeypatch.setattr(Bot, "open", opened)
    assert run(["--home", str(tmp_path), "serve"]) == 1
    assert steps == ["bounded", "opened"]
