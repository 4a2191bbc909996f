"""Times of former ids, because an id can be that of several documents one after another; and files that are gone.

Earlier former ids mean the document in what was written before the migration.
"""

from __future__ import annotations

import time

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    former = sa.table("document_aliases", sa.column("collection_id"), sa.column("old"), sa.column("new"))
    rows = op.get_bind().execute(sa.select(former)).mappings().all()
    present = time.time()
    op.drop_table("document_aliases")
    _add_aliases([{**row, "until": present, "since": present} for row in rows])
    _add_departed_files()


def _add_aliases(rows: list[dict[str, object]]) -> None:
    aliases = op.create_table(
        "document_aliases",
        sa.Column("collection_id", KEY, autoincrement=False, nullable=False),
        sa.Column("old", sa.Text(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.Column("new", sa.Text(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collections.id"], name="fk_document_aliases_collection_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("collection_id", "old", "until", name="pk_document_aliases"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_document_aliases_old", "document_aliases", ["old"])
    op.bulk_insert(aliases, rows)


def _add_departed_files() -> None:
    op.create_table(
        "departed_files",
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("stem", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("ids", sa.JSON(), nullable=False),
        sa.Column("departed", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("collection", "hash", "stem", name="pk_departed_files"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_departed_files_departed", "departed_files", ["departed"])
