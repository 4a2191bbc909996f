"""Questions without a good answer (gaps), and which conversations were deleted.

Like every revision it imports nothing of ours: later changes of the code must not change what it does.
"""

from __future__ import annotations

import re
from hashlib import blake2b

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

BATCH = 5_000

turns = sa.table(
    "turns",
    sa.column("id", sa.String()),
    sa.column("question", sa.Text()),
    sa.column("rewritten", sa.Text()),
    sa.column("answer", sa.JSON()),
    sa.column("created", sa.Double()),
)
feedback = sa.table(
    "feedback", sa.column("id", sa.BigInteger()), sa.column("turn_id", sa.String()), sa.column("vote", sa.String())
)


def upgrade() -> None:
    _add_gaps()
    _add_deleted_conversations()


def _add_gaps() -> None:
    """Create the table of gaps and fill it from the recorded turns."""
    gaps = op.create_table(
        "gaps",
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("unanswered", sa.Boolean(), nullable=False),
        sa.Column("downvoted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.id"], name="fk_gaps_turn_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("turn_id", name="pk_gaps"),
    )
    op.create_index("ix_gaps_key", "gaps", ["key", "created", "unanswered", "downvoted"])
    op.create_table(
        "settled_gaps",
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("settled", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_settled_gaps"),
    )
    result = op.get_bind().execute(_turns_with_gaps(), execution_options={"yield_per": BATCH})
    for rows in result.partitions():
        op.bulk_insert(gaps, [_gap(row) for row in rows])


def _turns_with_gaps() -> sa.Select[tuple[object, ...]]:
    """Turns that were not answered, or whose last vote is down, in any order."""
    unanswered = turns.c.answer["answered"].as_boolean().is_(False)
    latest = sa.select(sa.func.max(feedback.c.id)).group_by(feedback.c.turn_id)
    down = sa.select(feedback.c.turn_id).where(feedback.c.id.in_(latest), feedback.c.vote == "down")
    downvoted = turns.c.id.in_(down)
    return sa.select(
        turns.c.id,
        turns.c.question,
        turns.c.rewritten,
        turns.c.created,
        sa.func.coalesce(unanswered, sa.false()).label("unanswered"),
        downvoted.label("downvoted"),
    ).where(sa.or_(unanswered, downvoted))


def _gap(row: sa.Row[tuple[object, ...]]) -> dict[str, object]:
    return {
        "turn_id": row.id,
        "key": _question_key(row.rewritten or row.question),
        "created": row.created,
        "unanswered": bool(row.unanswered),
        "downvoted": bool(row.downvoted),
    }


def _question_key(question: str) -> str:
    """The key as version 0.1 computes it."""
    blank = " ".join(re.sub("[\x00\ud800-\udfff\ufffd]", " ", question.casefold()).split())
    return blake2b((blank.rstrip(".?!…。．？！؟ ") or blank).encode(), digest_size=16).hexdigest()


def _add_deleted_conversations() -> None:
    op.create_table(
        "deleted_conversations",
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("deleted", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_deleted_conversations"),
    )
