"""Checksums of documents, turns and votes. Rows of earlier versions have none until `qa-bot migrate` or `repair`."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for table in ("documents", "turns", "feedback"):
        op.add_column(table, sa.Column("checksum", sa.String(length=32), nullable=True))
