"""A home of version 0.1 is backed up before it is migrated, goes on after an interruption, and can go back."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.backup.manifest import BackupError, chosen, write_manifest
from qa_bot.home.checks.schema_version import NEWEST, is_older, schema_of
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.store.schema import REVISIONS

FIXTURE = Path(__file__).parents[2] / "fixtures" / "home-0.1.zip"

pytestmark = pytest.mark.usefixtures("no_shipped_voices")


@pytest.fixture
def old_home(tmp_path: Path) -> Path:
    with zipfile.ZipFile(FIXTURE) as archive:
        archive.extractall(tmp_path / "old")
    return tmp_path / "old"


def test_the_newest_schema_is_named() -> None:
    assert REVISIONS[-1] == NEWEST


def test_an_old_home_is_backed_up_and_migrated(old_home, qa_bot, caplog) -> None:
    before = (old_home / "index" / "CURRENT").read_bytes()
    assert is_older(Home(old_home), Config())
    assert qa_bot("--home", old_home, "status").code == 0
    assert "An older version wrote this home (schema 0002)" in caplog.text
    assert schema_of(old_home / "store.sqlite") == NEWEST
    assert "have no checksum yet" not in qa_bot("--home", old_home, "doctor").out
    manifest = chosen(old_home / "upgrades") if (old_home / "upgrades").exists() else None
    assert manifest is None, "doctor passed, so the copy is gone"
    assert (old_home / "index" / "CURRENT").read_bytes() == before


def test_an_upgrade_can_be_undone(old_home, qa_bot) -> None:
    qa_bot("--home", old_home, "status")
    assert chosen(old_home / "upgrades").schema == "0002"
    assert qa_bot("--home", old_home, "restore", "--undo").code == 0
    assert schema_of(old_home / "store.sqlite") == "0002"
    with zipfile.ZipFile(FIXTURE) as archive:
        for name in ("index/CURRENT", "graph/CURRENT", "qa-bot.toml"):
            assert (old_home / name).read_bytes() == archive.read(name)


def test_an_interrupted_upgrade_goes_on(old_home, qa_bot, monkeypatch) -> None:
    def fails(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("qa_bot.home.store.migrations.command.upgrade", lambda *_: fails(None))
    assert qa_bot("--home", old_home, "status").code == 130
    assert schema_of(old_home / "store.sqlite") == "0002"
    monkeypatch.undo()
    assert qa_bot("--home", old_home, "status").code == 0
    assert schema_of(old_home / "store.sqlite") == NEWEST


def test_a_backup_of_a_newer_version_is_refused_by_name(home, qa_bot, tmp_path) -> None:
    qa_bot("backup", tmp_path / "backups")
    manifest = chosen(tmp_path / "backups")
    write_manifest(tmp_path / "backups", replace(manifest, schema="9999", by="9.0"))
    called = qa_bot("restore", tmp_path / "backups")
    assert (called.code, "by qa-bot 9.0; install that version" in called.err) == (1, True)
    with pytest.raises(BackupError):
        chosen(tmp_path / "backups", "20200101T000000Z")
