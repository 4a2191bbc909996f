"""What a conversation leaves behind: questions that want an answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from qa_bot.answering.stages.owner_answers import question_key

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
    """Questions without a good answer, also those that were asked before."""
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
    found = op.get_bind().execute(_asked_before(), execution_options={"yield_per": BATCH})
    for rows in found.partitions():
        op.bulk_insert(gaps, [_gap(row) for row in rows])


def _asked_before() -> sa.Select[tuple[object, ...]]:
    """Turns that were not answered, or whose last vote is down; in no order, for there may be many."""
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
        "key": question_key(row.rewritten or row.question),
        "created": row.created,
        "unanswered": bool(row.unanswered),
        "downvoted": bool(row.downvoted),
    }


def _add_deleted_conversations() -> None:
    op.create_table(
        "deleted_conversations",
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("deleted", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_deleted_conversations"),
    )
