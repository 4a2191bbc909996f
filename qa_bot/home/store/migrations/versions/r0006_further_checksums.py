"""Checksums of conversations and sources. Earlier rows have none until `qa-bot migrate` or `repair`."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    for table in ("conversations", "sources"):
        op.add_column(table, sa.Column("checksum", sa.String(length=32), nullable=True))
