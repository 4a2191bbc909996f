"""Schema migrations, and the only file that imports Alembic's commands.

To add one, write a file in `versions/` that imports nothing of ours, append its revision to
`qa_bot.home.store.schema.REVISIONS`, and write `newest.sql` anew: `python -m qa_bot.home.store.migrations`.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the missing migrations up to a revision in the connection's transaction; an error changes nothing."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def newest() -> str:
    """The statements that make what all migrations make of an empty SQLite database, a blank line between them."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        upgrade(connection)
    with engine.connect() as connection:
        database = connection.connection.driver_connection
        assert database is not None
        _begin, *statements, _commit = database.iterdump()
    return "\n\n".join("\n".join(filter(None, map(str.rstrip, one.splitlines()))) for one in statements) + "\n"
