"""Alembic runs this file for every command, on the connection that `upgrade` passes."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    render_as_batch=True,  # SQLite changes a table by copying it
)
context.run_migrations()
