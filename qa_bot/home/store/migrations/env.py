"""Alembic runs this file for every command; the connection is handed over by `upgrade`."""

from __future__ import annotations

from alembic import context

from qa_bot.home.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a table by copying it
)
context.run_migrations()
