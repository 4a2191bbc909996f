"""A home of version 0.1 is backed up before it is migrated, goes on after an interruption, and can go back."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from qa_bot.backup.manifest import BackupError, chosen, write_manifest
from qa_bot.home.checks.schema_version import NEWEST, is_older, schema_of
from qa_bot.home.config import Config, load_config, set_value
from qa_bot.home.folder import Home
from qa_bot.home.store import Store
from qa_bot.home.store.copies.database_copy import server_schema
from qa_bot.home.store.database import open_engine, writing
from qa_bot.home.store.migrations import upgrade
from qa_bot.home.store.schema import REVISIONS
from tests.qa_bot.postgres_server import new_schema

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


@pytest.mark.postgres
def test_the_database_of_a_server_is_backed_up_before_it_is_migrated(postgres, home, qa_bot, tmp_path, caplog) -> None:
    url = new_schema(postgres)
    engine = open_engine(url)
    with writing(engine) as connection:
        upgrade(connection, to="0004")
        connection.execute(text("INSERT INTO conversations VALUES ('c', 'Why?', '', 5.0, 5.0)"))
        turn = "INSERT INTO turns VALUES ('t', 'c', 5.0, 'Why?', '', '{\"kind\": \"none\"}', '{}', 5.0, NULL)"
        connection.exec_driver_sql(turn)
    engine.dispose()
    set_value(home, "store.url", url)
    config = load_config(home)
    assert is_older(Home(home), config)
    assert qa_bot("migrate").code == 0
    assert "An older version wrote this home (schema 0004)" in caplog.text
    assert server_schema(url) == NEWEST
    manifest = chosen(home / "upgrades")
    assert (manifest.schema, manifest.store, manifest.turns) == ("0004", "postgresql", 1)
    restored = tmp_path / "restored"
    assert qa_bot("restore", home / "upgrades", "--into", restored).code == 0
    assert schema_of(restored / "store.sqlite") == "0004"
    with Store.open(f"sqlite:///{restored / 'store.sqlite'}") as store:
        assert store.turn("t").answer == {"kind": "none"}


@pytest.mark.postgres
def test_a_server_is_asked_once_for_its_schema(postgres, home, monkeypatch) -> None:
    url = new_schema(postgres)
    set_value(home, "store.url", url)
    config = load_config(home)
    assert not is_older(Home(home), config)
    Store.open(url).close()
    assert not is_older(Home(home), config)
    monkeypatch.setattr("qa_bot.home.store.copies.database_copy.server_schema", lambda _: "0001")
    assert not is_older(Home(home), config)
    set_value(home, "store.url", f"{url}&application_name=other")
    assert is_older(Home(home), load_config(home)), "another database"
