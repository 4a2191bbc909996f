"""What is known of documents (date, language, …), and where in them passages stand (headings, page, row).

Like every revision it imports nothing of ours: later changes of the code must not change what it does.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("documents", sa.Column("details", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("passages", sa.Column("place", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("passages", sa.Column("units", sa.JSON(), nullable=False, server_default="[]"))
