"""What is known of documents (date, language, …), where in them passages stand (headings, page, row), and sources.

Like every revision it imports nothing of ours: later changes of the code must not change what it does.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("documents", sa.Column("details", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("passages", sa.Column("place", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("passages", sa.Column("units", sa.JSON(), nullable=False, server_default="[]"))
    _add_sources()
    _add_aliases()


def _add_sources() -> None:
    op.create_table(
        "sources",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("synced", sa.Double(), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sources"),
        sa.UniqueConstraint("name", name="uq_sources_name"),
        sa.UniqueConstraint("place", "collection", name="uq_sources_place_collection"),
    )
    op.create_table(
        "source_files",
        sa.Column("source_id", KEY, autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("stem", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("settings", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("state", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name="fk_source_files_source_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("source_id", "path", name="pk_source_files"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_source_files_stem", "source_files", ["stem"])
    op.add_column("documents", sa.Column("source_id", sa.BigInteger(), nullable=True))
    op.add_column("documents", sa.Column("file", sa.Text(), nullable=False, server_default=""))
    op.create_index(
        "ix_documents_source",
        "documents",
        ["source_id", "file"],
        sqlite_where=sa.text("source_id IS NOT NULL"),
        postgresql_where=sa.text("source_id IS NOT NULL"),
    )


def _add_aliases() -> None:
    op.create_table(
        "document_aliases",
        sa.Column("collection_id", KEY, autoincrement=False, nullable=False),
        sa.Column("old", sa.Text(), nullable=False),
        sa.Column("new", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collections.id"], name="fk_document_aliases_collection_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("collection_id", "old", name="pk_document_aliases"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_document_aliases_old", "document_aliases", ["old"])
