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
from qa_core.wall_clock import AHEAD, is_ahead

LIFETIME = 86_400.0
"""Seconds; more than the longest deadline, and than turns wait in a journal."""


def record_deletion(connection: Connection, conversation: str, now: float) -> None:
    """Remember that a conversation was deleted at `now`; forget those older than `LIFETIME` or of a wrong clock."""
    insert_new(connection, deleted_conversations, {"key": _key(conversation), "deleted": now})
    this = deleted_conversations.c.key == _key(conversation)
    connection.execute(update(deleted_conversations).where(this).values(deleted=now))
    is_near = deleted_conversations.c.deleted.between(now - LIFETIME, now + AHEAD)
    connection.execute(delete(deleted_conversations).where(~is_near))


def turns_of_deleted(connection: Connection, candidates: Iterable[Turn]) -> set[str]:
    """Ids of the turns that were asked before their conversation was deleted.

    A deletion at a time of the future, by a clock that was wrong, hides no turn of a new conversation with that id.
    """
    keys = {turn.id: (_key(turn.conversation), turn.asked) for turn in candidates if turn.conversation is not None}
    query = select(deleted_conversations).where(deleted_conversations.c.key.in_({key for key, _ in keys.values()}))
    rows = connection.execute(query) if keys else ()
    deleted = {row.key: row.deleted for row in rows if not is_ahead(row.deleted)}
    return {id_ for id_, (key, asked_at) in keys.items() if asked_at <= deleted.get(key, float("-inf"))}


def _key(conversation: str) -> str:
    return blake2b(conversation.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
