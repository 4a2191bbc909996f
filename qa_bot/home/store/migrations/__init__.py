"""Schema migrations; this package is the one door of Alembic.

A new migration is a file in `versions/` and its revision at the end of `qa_bot.home.store.schema.REVISIONS`.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def upgrade(connection: Connection) -> None:
    """Run what is missing within the connection's transaction: after an error the database is as it was."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
