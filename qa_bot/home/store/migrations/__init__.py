"""Schema migrations, and the only file that imports Alembic's commands.

To add one, write a file in `versions/` that imports nothing of ours, and append its revision to
`qa_bot.home.store.schema.REVISIONS`.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the missing migrations up to a revision in the connection's transaction; an error changes nothing."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, to)
