"""Backups by `[backup] every`: after `add`, and in an idle service."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.backup.manifest import names
from qa_bot.backup.schedule import ScheduledBackups, backup_when_due, is_due, seconds_of
from qa_bot.home.checks.last_backup import LastBackup, last_backup
from qa_bot.home.config import Config, ConfigError, load_config
from qa_bot.home.folder import Home
from qa_bot.home.sections import BackupSection

DAILY = Config(backup=BackupSection(every="1d", to="/backups"))


@pytest.mark.parametrize(
    ("text", "seconds"), [("", 0), ("90m", 5400), ("6h", 21_600), ("1.5 D", 129_600), ("1w", 604_800)]
)
def test_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["6", "h", "0h", "-1d", "1y", "6 hours"])
def test_other_durations_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"Expected a number with m, h, d or w for backup\.every"):
        seconds_of(text)


def test_when_a_backup_is_due() -> None:
    last = LastBackup(Path("/backups"), "a", 1_000_000.0)
    assert is_due(DAILY, None, 0.0)
    assert not is_due(DAILY, last, 1_000_000.0 + 86_399)
    assert is_due(DAILY, last, 1_000_000.0 + 86_400)
    assert is_due(DAILY, last, 999_999.0), "the clock was set back"
    assert not is_due(replace(DAILY, backup=BackupSection(every="1d")), None, 0.0), "no folder"
    assert not is_due(Config(), None, 0.0)


def test_add_writes_the_backup_that_is_due(home, qa_bot, write_lines, tmp_path) -> None:
    qa_bot("config", "set", "backup.to", tmp_path / "backups")
    qa_bot("config", "set", "backup.every", "1d")
    assert "backup 2" in qa_bot("add", write_lines("a.jsonl", {"_id": "a", "text": "One."})).err
    assert "backup 2" not in qa_bot("add", write_lines("b.jsonl", {"_id": "b", "text": "Two."})).err
    assert len(names(tmp_path / "backups")) == 1
    last = last_backup(Home(home))
    assert last is not None
    assert last.folder == tmp_path / "backups"


def test_a_failure_is_a_warning(home, tmp_path, caplog) -> None:
    (tmp_path / "file").write_text("")
    config = Config(backup=BackupSection(every="1d", to=str(tmp_path / "file")))
    assert backup_when_due(Home(home), config) is None
    assert "The backup that is due could not be written" in caplog.text


def test_an_idle_service_writes_it(home, tmp_path) -> None:
    config = replace(load_config(home), backup=BackupSection(every="1d", to=str(tmp_path / "backups")))
    idle, written = [0.0], threading.Event()
    scheduled = ScheduledBackups(Home(home), lambda: config, lambda: idle[0])
    looked = threading.Event()

    def idle_seconds() -> float:
        looked.set()
        return idle[0]

    scheduled = ScheduledBackups(Home(home), lambda: config, idle_seconds)
    thread = threading.Thread(target=scheduled.run, args=[lambda _: written.set()], kwargs={"check": 0.01})
    thread.start()
    try:
        assert looked.wait(30)
        assert not names(tmp_path / "backups"), "a question is in work"
        idle[0] = 60.0
        assert written.wait(30)
    finally:
        scheduled.stop.set()
        thread.join()
    assert len(names(tmp_path / "backups")) == 1
