"""Migrations import nothing of our packages and recreate the tables of version 0.1."""

from __future__ import annotations

import ast
import sqlite3
import time
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from qa_bot.home.store import Store, migrate, migrations
from qa_bot.home.store.database import open_engine, writing
from qa_bot.home.store.schema import REVISIONS

SCRIPTS = sorted(Path(migrations.__file__).parent.glob("versions/*.py"))
FIXTURE = Path(__file__).parents[3] / "fixtures" / "home-0.1.zip"
PACKAGES = {"qa_core", "retrievers", "rankers", "generators", "kg_index", "qa_bot", "qa_lab"}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The database of a home that version 0.1 wrote, at its last revision."""
    with zipfile.ZipFile(FIXTURE) as archive:
        return Path(archive.extract("store.sqlite", tmp_path))


def imported_packages(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                names |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=module, level=level):
                names.add(f"qa_bot.{module}" if level else str(module))
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("script", [*SCRIPTS, SCRIPTS[0].parent.parent / "env.py"], ids=lambda path: path.stem)
def test_migrations_import_none_of_our_packages(script: Path) -> None:
    assert imported_packages(script) & PACKAGES == set()


def undo_0001(database: sqlite3.Connection) -> None:
    undo_0002(database)
    tables = "feedback turns conversations sketches passages documents collections counters generations"
    for table in (*tables.split(), "alembic_version"):
        database.execute(f"DROP TABLE {table}")


def undo_0002(database: sqlite3.Connection) -> None:
    undo_0003(database)
    for table in ("gaps", "settled_gaps", "deleted_conversations"):
        database.execute(f"DROP TABLE {table}")
    database.execute("UPDATE alembic_version SET version_num = '0001'")


def undo_0007(database: sqlite3.Connection) -> None:
    rows = database.execute("SELECT collection_id, old, new FROM document_aliases").fetchall()
    for table in ("document_aliases", "departed_files"):
        database.execute(f"DROP TABLE {table}")
    database.execute(
        "CREATE TABLE document_aliases (collection_id INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE, "
        "old TEXT NOT NULL, new TEXT NOT NULL, PRIMARY KEY (collection_id, old)) WITHOUT ROWID"
    )
    database.executemany("INSERT INTO document_aliases VALUES (?, ?, ?)", rows)
    database.execute("UPDATE alembic_version SET version_num = '0006'")


def undo_0006(database: sqlite3.Connection) -> None:
    undo_0007(database)
    for table in ("conversations", "sources"):
        database.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
    database.execute("UPDATE alembic_version SET version_num = '0005'")


def undo_0005(database: sqlite3.Connection) -> None:
    undo_0006(database)
    database.execute("DROP TABLE commits")
    database.execute("UPDATE alembic_version SET version_num = '0004'")


def undo_0004(database: sqlite3.Connection) -> None:
    undo_0005(database)
    for table in ("documents", "turns", "feedback"):
        database.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
    database.execute("UPDATE alembic_version SET version_num = '0003'")


def undo_0003(database: sqlite3.Connection) -> None:
    undo_0004(database)
    for table in ("source_files", "sources", "document_aliases"):
        database.execute(f"DROP TABLE {table}")
    database.execute("DROP INDEX ix_documents_source")
    database.execute("ALTER TABLE documents DROP COLUMN source_id")
    database.execute("ALTER TABLE documents DROP COLUMN file")
    database.execute("ALTER TABLE documents DROP COLUMN details")
    database.execute("ALTER TABLE passages DROP COLUMN place")
    database.execute("ALTER TABLE passages DROP COLUMN units")
    database.execute("UPDATE alembic_version SET version_num = '0002'")


UNDO: dict[str, Callable[[sqlite3.Connection], None]] = {
    "0001": undo_0001,
    "0002": undo_0002,
    "0003": undo_0003,
    "0004": undo_0004,
    "0005": undo_0005,
    "0006": undo_0006,
    "0007": undo_0007,
}


def schema(database: Path) -> list[tuple[str, str, list[str]]]:
    """Type, name and sorted lines of the definition of each table and index."""
    with closing(sqlite3.connect(database)) as connection:
        query = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name"
        rows = connection.execute(query).fetchall()
    stripped = [(kind, name, sorted(line.strip(" \t,") for line in sql.splitlines())) for kind, name, sql in rows]
    return [(kind, name, [*filter(None, lines)]) for kind, name, lines in stripped]


def test_the_newest_schema_is_what_all_migrations_make() -> None:
    newest = Path(migrations.__file__).parent / "newest.sql"
    assert newest.read_text() == migrations.newest(), "run `python -m qa_bot.home.store.migrations`"


def test_a_new_database_has_the_tables_of_a_migrated_one(tmp_path: Path, database: Path) -> None:
    migrate(f"sqlite:///{tmp_path / 'new.sqlite'}")
    migrate(f"sqlite:///{database}")
    assert schema(tmp_path / "new.sqlite") == schema(database)


def test_a_database_of_0_1_needs_no_migration_up_to_0002(database: Path) -> None:
    assert migrate(f"sqlite:///{database}") == ("0002", REVISIONS[-1])


@pytest.mark.parametrize("revision", REVISIONS)
def test_each_migration_recreates_the_tables_of_0_1(database: Path, revision: str) -> None:
    migrate(f"sqlite:///{database}")
    before = schema(database)
    with closing(sqlite3.connect(database)) as connection, connection:
        UNDO[revision](connection)
    assert schema(database) != before
    with writing(open_engine(f"sqlite:///{database}")) as store:
        migrations.upgrade(store)
    assert schema(database) == before


def test_0002_counts_the_gaps_of_earlier_turns(database: Path) -> None:
    query = "SELECT turn_id, key, unanswered, downvoted FROM gaps ORDER BY turn_id"
    migrate(f"sqlite:///{database}")
    with closing(sqlite3.connect(database)) as connection:
        before = connection.execute(query).fetchall()
        with connection:
            undo_0002(connection)
        migrate(f"sqlite:///{database}")
        after = connection.execute(query).fetchall()
    (settled,) = set(after) - set(before)  # the owner's answer was recorded in a table of 0002
    assert settled[0::2] == ("lone-0", 0)
    assert set(before) <= set(after)


def test_0002_keeps_turns_votes_and_conversations(database: Path) -> None:
    migrate(f"sqlite:///{database}")
    with closing(sqlite3.connect(database)) as connection, connection:
        undo_0002(connection)
    with Store.open(f"sqlite:///{database}") as store:
        counts = store.counts()
        assert (counts.documents, counts.conversations, counts.turns, counts.feedback) == (235, 1, 7, 3)


def test_0007_keeps_former_ids_for_what_was_written_before(database: Path) -> None:
    migrate(f"sqlite:///{database}")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO document_aliases VALUES (1, 'a.md', 1.0, 'b.md', 1.0)")
        undo_0007(connection)
    before = time.time()
    with Store.open(f"sqlite:///{database}") as store:
        ((_, renaming),) = store.sources.aliases()
    assert (renaming.old, renaming.new) == ("a.md", "b.md")
    assert before <= renaming.until == renaming.since <= time.time()
