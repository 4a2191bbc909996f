"""Deleted conversations stay deleted: an answer that was being made during the deletion is not recorded later.

Such an answer may come from another process, through its journal. Only a digest of the conversation's id is stored,
and only for a day, which is longer than any answer takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from sqlalchemy import Connection, delete, select, update

from qa_bot.home.store.documents import insert_new
from qa_bot.home.store.records import Turn
from qa_bot.home.store.schema import deleted_conversations

LIFETIME = 86_400.0
"""Seconds; more than the longest deadline, and than turns wait in a journal."""


def record_deletion(connection: Connection, conversation: str, now: float) -> None:
    """Remember that a conversation was deleted at `now`, and forget deletions older than `LIFETIME`."""
    insert_new(connection, deleted_conversations, {"key": _key(conversation), "deleted": now})
    this = deleted_conversations.c.key == _key(conversation)
    connection.execute(update(deleted_conversations).where(this).values(deleted=now))
    connection.execute(delete(deleted_conversations).where(deleted_conversations.c.deleted < now - LIFETIME))


def turns_of_deleted(connection: Connection, candidates: Iterable[Turn]) -> set[str]:
    """Ids of the turns that were asked before their conversation was deleted."""
    keys = {turn.id: (_key(turn.conversation), turn.asked) for turn in candidates if turn.conversation is not None}
    query = select(deleted_conversations).where(deleted_conversations.c.key.in_({key for key, _ in keys.values()}))
    deleted = {row.key: row.deleted for row in connection.execute(query)} if keys else {}
    return {id_ for id_, (key, asked_at) in keys.items() if asked_at <= deleted.get(key, float("-inf"))}


def _key(conversation: str) -> str:
    return blake2b(conversation.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
