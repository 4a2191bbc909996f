"""The first schema, spelled out: a later change of `qa_bot.home.store.schema` must not change this revision."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _tables_that_refer_to_none()
    _documents()
    _turns_and_votes()
    _passages()
    op.execute("INSERT INTO counters (name, next) VALUES ('documents', 1), ('passages', 1)")


def _tables_that_refer_to_none() -> None:
    op.create_table(
        "collections",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_collections"),
        sa.UniqueConstraint("name", name="uq_collections_name"),
    )
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("updated", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )
    op.create_index("ix_conversations_updated", "conversations", ["updated"])
    op.create_table(
        "counters",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("next", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_counters"),
    )
    op.create_table(
        "generations",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("encoder", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.CheckConstraint(
            "state IN ('building', 'current', 'old')", name="ck_generations_ck_generations_state"
        ),  # as 0.1 named it
        sa.PrimaryKeyConstraint("number", name="pk_generations"),
    )


def _documents() -> None:
    op.create_table(
        "documents",
        sa.Column("id", KEY, autoincrement=False, nullable=False),
        sa.Column("collection_id", KEY, nullable=False),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("born", sa.Integer(), nullable=False),
        sa.Column("retired", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collections.id"], name="fk_documents_collection_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
    )
    op.create_index("ix_documents_born", "documents", ["born"])
    op.create_index("ix_documents_external_id", "documents", ["external_id"])
    op.create_index(
        "ix_documents_retired",
        "documents",
        ["retired"],
        sqlite_where=sa.text("retired IS NOT NULL"),
        postgresql_where=sa.text("retired IS NOT NULL"),
    )
    op.create_index(
        "uq_documents_live",
        "documents",
        ["collection_id", "external_id"],
        unique=True,
        sqlite_where=sa.text("retired IS NULL"),
        postgresql_where=sa.text("retired IS NULL"),
    )


def _turns_and_votes() -> None:
    op.create_table(
        "turns",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("conversation_id", sa.String(length=64), nullable=True),
        sa.Column("asked", sa.Double(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("rewritten", sa.Text(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("timings", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name="fk_turns_conversation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_turns"),
    )
    op.create_index("ix_turns_conversation_id", "turns", ["conversation_id"])
    op.create_index("ix_turns_created", "turns", ["created"])
    op.create_table(
        "feedback",
        sa.Column("id", KEY, nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("vote", sa.String(length=8), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.CheckConstraint("vote IN ('up', 'down')", name="ck_feedback_ck_feedback_vote"),  # as 0.1 named it
        sa.ForeignKeyConstraint(["turn_id"], ["turns.id"], name="fk_feedback_turn_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_feedback"),
    )
    op.create_index("ix_feedback_turn_id", "feedback", ["turn_id"])


def _passages() -> None:
    op.create_table(
        "passages",
        sa.Column("id", KEY, autoincrement=False, nullable=False),
        sa.Column("document_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("duplicate_of", KEY, nullable=True),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name="fk_passages_document_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["duplicate_of"], ["passages.id"], name="fk_passages_duplicate_of", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_passages"),
        sa.UniqueConstraint("document_id", "position", name="uq_passages_document_id_position"),
    )
    op.create_index("ix_passages_duplicate_of", "passages", ["duplicate_of"])
    op.create_table(
        "sketches",
        sa.Column("value", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("passage_id", KEY, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["passage_id"], ["passages.id"], name="fk_sketches_passage_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("value", "passage_id", name="pk_sketches"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_sketches_passage_id", "sketches", ["passage_id"])
