"""Deleted conversations stay deleted: an answer that was on its way when its conversation was deleted is not recorded.

It may come from another process, through its journal, and later than the deletion. Only a digest of the id is kept,
and for no longer than an answer can take.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from sqlalchemy import Connection, delete, select, update

from qa_bot.home.store.documents import insert_new
from qa_bot.home.store.records import Turn
from qa_bot.home.store.schema import deleted_conversations

KEPT = 86_400.0
"""Seconds for which a deletion is remembered: more than the longest deadline, and than a journal waits."""


def note(connection: Connection, conversation: str, now: float) -> None:
    """Remember that a conversation was deleted now."""
    insert_new(connection, deleted_conversations, {"key": _key(conversation), "deleted": now})
    this = deleted_conversations.c.key == _key(conversation)
    connection.execute(update(deleted_conversations).where(this).values(deleted=now))
    connection.execute(delete(deleted_conversations).where(deleted_conversations.c.deleted < now - KEPT))


def outlived(connection: Connection, given: Iterable[Turn]) -> set[str]:
    """Ids of those turns that were asked before their conversation was deleted."""
    keys = {turn.id: (_key(turn.conversation), turn.asked) for turn in given if turn.conversation is not None}
    query = select(deleted_conversations).where(deleted_conversations.c.key.in_({key for key, _ in keys.values()}))
    deleted = {row.key: row.deleted for row in connection.execute(query)} if keys else {}
    return {id_ for id_, (key, asked) in keys.items() if asked <= deleted.get(key, float("-inf"))}


def _key(conversation: str) -> str:
    return blake2b(conversation.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
