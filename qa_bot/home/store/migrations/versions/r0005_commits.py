"""The token of the last commit.

Like every revision it imports nothing of ours: later changes of the code must not change what it does.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    commits = op.create_table(
        "commits",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("token", sa.String(length=32), nullable=False),
        sa.Column("committed", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_commits"),
    )
    op.bulk_insert(commits, [{"id": 1, "token": "", "committed": 0.0}])
