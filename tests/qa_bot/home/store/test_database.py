"""Errors of databases and their messages; the schema and its migrations; concurrent opening."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import event, text

from qa_bot.home.store import NewDocument, NewPassage, Store, StoreError, migrate, migrations
from qa_bot.home.store import database as module
from qa_bot.home.store.database import open_engine, reading, writing
from qa_bot.home.store.schema import REVISIONS, metadata


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


def refused(url: str, match: str) -> str:
    with pytest.raises(StoreError, match=match) as caught:
        Store.open(url)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_file_that_is_no_database_is_refused(file: Path) -> None:
    file.write_text("shopping list: eggs, milk, and so on, longer than a header " * 40)
    assert str(file) in refused(f"sqlite:///{file}", "is no SQLite database")
    assert file.read_text().startswith("shopping list"), "the file is unchanged"


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    refused(f"sqlite:///{tmp_path / 'none' / 'store.sqlite'}", "its folder is missing")


def test_paths_with_special_characters(tmp_path: Path) -> None:
    folder = tmp_path / "a b%20c?x=1#é"
    folder.mkdir()
    Store.open(f"sqlite:///{folder / 'store.sqlite'}").close()
    assert (folder / "store.sqlite").exists()


@pytest.mark.parametrize(
    "url", ["mysql://root@localhost/x", "store.sqlite", "", "oracle://u:secret@h/x", "postgresql://me:secret@h:five/x"]
)
def test_other_databases_are_refused(url: str) -> None:
    assert "secret" not in refused(url, "Expected a URL sqlite:///… or postgresql://…")


def test_unreachable_server_is_reported_without_the_password() -> None:
    pytest.importorskip("psycopg")
    assert "secret" not in refused("postgresql://me:secret@127.0.0.1:1/x", "no server answers there")


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    refused("postgres://me@localhost/x", r'pip install "qa-bot\[postgres\]"')


def test_a_newer_schema_is_refused(store: Store, store_url: str) -> None:
    engine = open_engine(store_url)
    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    refused(store_url, "got 9999, made by a newer qa-bot")


def test_locked_database_is_reported_after_the_wait(file: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.05)
    holder = open_engine(f"sqlite:///{file}")
    with Store.open(f"sqlite:///{file}") as second, writing(holder):
        assert second.counts().turns == 0, "readers do not wait"
        with pytest.raises(StoreError, match="another process kept it locked"):
            second.save_turn(question="q", answer={})
    holder.dispose()
    store.save_turn(question="q", answer={})


def with_pragma(store: Store, pragma: str) -> None:
    """Run this pragma at the start of each connection of the store."""
    store._engine.dispose()
    event.listen(store._engine, "connect", lambda connection, _entry: connection.execute(f"PRAGMA {pragma}").close())


def test_full_disk_is_reported_and_loses_nothing(file: Path, store: Store) -> None:
    turn = store.save_turn(question="q", answer={})
    collection, number = store.collection("c"), store.begin("starter")
    large = NewDocument(collection, "d", "t", "b" * 3_000_000, "h", (NewPassage("x", 0, 1),))
    with_pragma(store, "max_page_count = 300")  # SQLite then reports a full disk
    with pytest.raises(StoreError, match="the disk is full"):
        store.insert(number, [large])
    assert store.turn(turn).question == "q"
    with Store.open(f"sqlite:///{file}") as roomy:
        assert len(roomy.insert(number, [large])) == 1


def test_read_only_database_is_reported(store: Store) -> None:
    with_pragma(store, "query_only = ON")
    with pytest.raises(StoreError, match="it is read-only"):
        store.save_turn(question="q", answer={})


def test_errors_contain_no_text_of_users(store: Store) -> None:
    store.save_turn(question="q", answer={}, id="same")
    with pytest.raises(StoreError) as caught:
        store.save_turn(question="a secret question", answer={}, id="same")
    assert "secret" not in str(caught.value)
    assert "secret" not in str(caught.value.__cause__)


def test_pragmas_of_sqlite(store: Store) -> None:
    with reading(store._engine) as connection:
        names = ("journal_mode", "busy_timeout", "foreign_keys", "synchronous")
        assert [connection.execute(text(f"PRAGMA {name}")).scalar() for name in names] == ["wal", 10_000, 1, 2]


def test_migrations_create_the_tables_of_the_code(any_store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with reading(any_store._engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_every_revision_is_known_to_the_code() -> None:
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert [revision.revision for revision in script.walk_revisions()] == list(reversed(REVISIONS))


def test_migrate_returns_old_and_new_revision(any_store_url: str) -> None:
    assert migrate(any_store_url) == (None, REVISIONS[-1])
    assert migrate(any_store_url) == (REVISIONS[-1], REVISIONS[-1])


def test_a_failed_migration_changes_nothing(any_store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name = (migrations, "upgrade") if "postgres" in any_store_url else (module, "_create")
    original = getattr(owner, name)

    def make_then_fail(connection) -> None:
        original(connection)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, make_then_fail)
        with pytest.raises(KeyboardInterrupt):
            migrate(any_store_url)
    assert migrate(any_store_url) == (None, REVISIONS[-1])


def test_concurrent_opening_of_an_empty_database(any_store_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        for opened in [pool.submit(Store.open, any_store_url) for _ in range(4)]:
            opened.result().close()


def test_concurrent_connections_to_a_new_file(tmp_path: Path) -> None:
    """SQLite refuses concurrent changes of the journal mode: without a retry, one round in fifteen fails."""

    def connect(url: str) -> None:
        engine = open_engine(url)
        with reading(engine) as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        engine.dispose()

    with ThreadPoolExecutor(6) as pool:
        for number in range(60):
            for connected in [pool.submit(connect, f"sqlite:///{tmp_path / str(number)}.sqlite") for _ in range(6)]:
                connected.result()


def test_opening_a_store_imports_alembic_only_to_migrate(store: Store, store_url: str) -> None:
    code = "import sys\nfrom qa_bot.home.store import Store\n"
    code += "Store.open(sys.argv[1]).close()\nprint('alembic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, store_url], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
