"""A service makes better vectors when it is idle, and opens the new index before the next question."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest

from qa_bot.bot import Bot
from qa_bot.web.server import _improving
from qa_bot.web.service import AnswerService

pytestmark = pytest.mark.usefixtures("no_shipped_voices", "transformer")
PATIENCE = 30.0


@pytest.fixture
def quick_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qa_bot.documents.idle_improving.CHECK", 0.001)
    monkeypatch.setattr("qa_bot.documents.idle_improving.os.setpriority", lambda *_: None)


@pytest.mark.usefixtures("quick_checks")
def test_an_idle_service_answers_with_better_vectors(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def until_improved(bot: Bot) -> None:
        end = time.monotonic() + PATIENCE
        with _improving(bot, SimpleNamespace(idle_seconds=60.0)):
            while "improved" not in caplog.messages and time.monotonic() < end:
                await asyncio.sleep(0.01)

    with caplog.at_level(logging.INFO), Bot.open(home, flags={"dense.improve": True}) as bot:
        asyncio.run(until_improved(bot))
        assert bot.corridor().index.encoder == "starter-transformer"
    assert "improved" in caplog.messages


@pytest.mark.usefixtures("quick_checks")
def test_the_setting_switches_it_off(home: Path) -> None:
    async def wait(bot: Bot) -> None:
        with _improving(bot, SimpleNamespace(idle_seconds=60.0)):
            await asyncio.sleep(0.02)

    with Bot.open(home) as bot:
        asyncio.run(wait(bot))
        assert bot.corridor().index.encoder == "starter"


def test_a_service_is_idle_after_its_last_answer() -> None:
    async def scenario() -> list[float]:
        service = AnswerService(SimpleNamespace(), SimpleNamespace(watch=lambda *_: None), workers=1, queue=1)
        seconds = [service.idle_seconds]  # it is starting
        service.starting = False
        service._taken = 1
        seconds.append(service.idle_seconds)
        service._leave(Event(), None)
        await asyncio.sleep(0.001)
        return [*seconds, service.idle_seconds]

    starting, working, idle = asyncio.run(scenario())
    assert (starting, working) == (0.0, 0.0)
    assert 0.0 < idle < PATIENCE
