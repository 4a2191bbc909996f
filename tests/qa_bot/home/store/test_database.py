"""What can be wrong with a database, and how it is told; the schema and its migrations."""

from __future__ import annotations

import subprocess
import sys
import threading
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


@pytest.fixture
def local(file: Path):
    with Store.open(f"sqlite:///{file}") as opened:
        yield opened


def refused(url: str, match: str) -> str:
    with pytest.raises(StoreError, match=match) as caught:
        Store.open(url)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_file_that_is_no_database_is_refused(file: Path) -> None:
    file.write_text("shopping list: eggs, milk, and so on, longer than a header " * 40)
    assert str(file) in refused(f"sqlite:///{file}", "is no SQLite database")
    assert file.read_text().startswith("shopping list"), "and left as it is"


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    refused(f"sqlite:///{tmp_path / 'none' / 'store.sqlite'}", "its folder is missing")


def test_any_path_will_do(tmp_path: Path) -> None:
    folder = tmp_path / "a b%20c?x=1#é"
    folder.mkdir()
    Store.open(f"sqlite:///{folder / 'store.sqlite'}").close()
    assert (folder / "store.sqlite").exists()


@pytest.mark.parametrize("url", ["mysql://root@localhost/x", "store.sqlite", "", "oracle://u:secret@h/x"])
def test_other_databases_are_refused(url: str) -> None:
    assert "secret" not in refused(url, "Expected a URL sqlite:///… or postgresql://…")


def test_a_server_that_does_not_answer_is_told_without_the_password() -> None:
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


def test_a_lock_is_waited_for_and_then_told(file: Path, local: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.05)
    holder = open_engine(f"sqlite:///{file}")
    with Store.open(f"sqlite:///{file}") as second, writing(holder):
        assert second.counts().turns == 0, "readers do not wait"
        with pytest.raises(StoreError, match="another process kept it locked"):
            second.save_turn(question="q", answer={})
    holder.dispose()
    local.save_turn(question="q", answer={})


def limited(store: Store, pragma: str) -> None:
    """Let every connection of the store begin with this pragma."""
    store._engine.dispose()
    event.listen(store._engine, "connect", lambda connection, _entry: connection.execute(f"PRAGMA {pragma}").close())


def test_a_full_disk_is_told_and_loses_nothing(file: Path, local: Store) -> None:
    kept = local.save_turn(question="q", answer={})
    collection, number = local.collection("c"), local.begin("starter")
    large = NewDocument(collection, "d", "t", "b" * 3_000_000, "h", (NewPassage("x", 0, 1),))
    limited(local, "max_page_count = 300")  # SQLite's own way to say that there is no more room
    with pytest.raises(StoreError, match="the disk is full"):
        local.insert(number, [large])
    assert local.turn(kept).question == "q"
    with Store.open(f"sqlite:///{file}") as roomy:
        assert len(roomy.insert(number, [large])) == 1


def test_a_read_only_database_is_told(local: Store) -> None:
    limited(local, "query_only = ON")
    with pytest.raises(StoreError, match="it is read-only"):
        local.save_turn(question="q", answer={})


def test_errors_hold_no_text_of_users(local: Store) -> None:
    local.save_turn(question="q", answer={}, id="same")
    with pytest.raises(StoreError) as caught:
        local.save_turn(question="a secret question", answer={}, id="same")
    assert "secret" not in str(caught.value)
    assert "secret" not in str(caught.value.__cause__)


def test_sqlite_is_set_up_as_promised(local: Store) -> None:
    with reading(local._engine) as connection:
        names = ("journal_mode", "busy_timeout", "foreign_keys", "synchronous")
        assert [connection.execute(text(f"PRAGMA {name}")).scalar() for name in names] == ["wal", 10_000, 1, 1]


def test_migrations_lead_to_the_tables_of_the_code(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with reading(store._engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_every_revision_is_known_to_the_code() -> None:
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert [revision.revision for revision in script.walk_revisions()] == list(reversed(REVISIONS))


def test_migrate_tells_from_where_to_where(store_url: str) -> None:
    assert migrate(store_url) == (None, REVISIONS[-1])
    assert migrate(store_url) == (REVISIONS[-1], REVISIONS[-1])


def test_a_failed_migration_changes_nothing(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = migrations.upgrade

    def upgrade_then_fail(connection) -> None:
        original(connection)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(migrations, "upgrade", upgrade_then_fail)
        with pytest.raises(KeyboardInterrupt):
            migrate(store_url)
    assert migrate(store_url) == (None, REVISIONS[-1])


def test_several_may_open_an_empty_database_at_once(store_url: str) -> None:
    failed: list[Exception] = []

    def open_it() -> None:
        try:
            Store.open(store_url).close()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_new_file_may_be_connected_to_by_many_at_once(tmp_path: Path) -> None:
    """SQLite refuses a second change of the journal at once; about one round in fifteen would fail."""
    failed: list[Exception] = []

    def connect(url: str) -> None:
        try:
            engine = open_engine(url)
            with reading(engine) as connection:
                assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            engine.dispose()
        except Exception as error:
            failed.append(error)

    for number in range(60):
        url = f"sqlite:///{tmp_path / str(number)}.sqlite"
        threads = [threading.Thread(target=connect, args=(url,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []


def test_opening_a_store_imports_alembic_only_to_migrate(store: Store, store_url: str) -> None:
    code = "import sys\nfrom qa_bot.home.store import Store\n"
    code += "Store.open(sys.argv[1]).close()\nprint('alembic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, store_url], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
