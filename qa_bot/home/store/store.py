"""The store as one object; each method runs one short transaction, or several for long work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Engine

from qa_bot.home.store import aliases, documents, gaps, history, retention
from qa_bot.home.store.commits import CommitStore
from qa_bot.home.store.database import (
    empty_journal,
    ensure_schema,
    file_of,
    gone,
    open_engine,
    reading,
    storable,
    writing,
)
from qa_bot.home.store.integrity.rows import Integrity
from qa_bot.home.store.records import (
    CollectionInfo,
    ConversationInfo,
    Counts,
    Feedback,
    Gap,
    GenerationInfo,
    InsertedDocument,
    KnownDocument,
    NewDocument,
    StoredDocument,
    Turn,
    Vote,
)
from qa_bot.home.store.sources import SourceStore
from qa_core.wall_clock import now

INSERT_BATCH = 200  # documents a transaction, which blocks other writers for about 0.1 s
TURN_BATCH = 50  # turns a transaction: some 0.01 s


class Store:
    """Documents by generation, conversations, turns, feedback, `sources`, `integrity`; safe to share between threads.

    A generation is written in many short transactions: `begin`, any number of `known`, `retire` and `insert`, then
    `finish` and `purge`. The next `begin` undoes an unfinished generation. Every method raises StoreError if the
    database fails.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine, self._file = engine, file_of(engine)
        self.sources, self.commits, self.integrity = SourceStore(engine), CommitStore(engine), Integrity(engine)

    @classmethod
    def open(cls, url: str) -> Store:
        """Connect and migrate the schema; raises StoreError for the database of a newer qa-bot."""
        engine = open_engine(url)
        try:
            ensure_schema(engine)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine)

    def is_replaced(self) -> bool:
        """Whether SQLite's file is another one now: what is written to the former one is lost.

        Raises StoreError if the file is gone.
        """
        present = file_of(self._engine)
        if present is None and self._file is not None:
            raise gone(self._engine)
        return present != self._file

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- generations ---

    def begin(self, encoder: str, *, published: int | None = None) -> int:
        """Return the number of a new generation, above all others.

        Unfinished generations are undone first, except the `published` one: its index was already current when its
        writer died, so it is finished.
        """
        with reading(self._engine) as connection:
            unfinished = history.unfinished(connection)
        for number in unfinished:
            end: Callable[[int], None] = self.finish if number == published else self.roll_back
            end(number)
        with writing(self._engine) as connection:
            return history.open_generation(connection, encoder, above=published or 0)

    def finish(self, generation: int, counts: Mapping[str, int] | None = None) -> None:
        """Make `generation` the current one."""
        with writing(self._engine) as connection:
            history.finish_generation(connection, generation, counts)

    def purge(self, generation: int) -> int:
        """Delete documents retired up to `generation`, and return their number."""
        purged = self._in_chunks(documents.purge_some, generation)
        with writing(self._engine) as connection:
            documents.drop_empty_collections(connection)
        empty_journal(self._engine)
        return purged

    def generation(self) -> GenerationInfo | None:
        """The current generation."""
        with reading(self._engine) as connection:
            return history.current_generation(connection)

    # --- documents ---

    def collection(self, name: str) -> int:
        """The key of a collection, which is created if missing."""
        with writing(self._engine) as connection:
            return documents.collection(connection, name)

    def collections(self) -> list[CollectionInfo]:
        """Collections by name, counting the documents of the current generation."""
        with reading(self._engine) as connection:
            return documents.all_collections(connection)

    def known(self, collection_id: int, external_ids: Iterable[str]) -> dict[str, KnownDocument]:
        """Documents of the generation being built, by external id."""
        by_id: dict[str, KnownDocument] = {}
        for chunk in documents.chunks(map(storable, external_ids)):
            with reading(self._engine) as connection:
                by_id.update(documents.known(connection, collection_id, chunk))
        return by_id

    def find(self, external_ids: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """Keys by external id, in any collection; former ids are known, too, others are left out."""
        keys: dict[str, tuple[int, ...]] = {}
        for chunk in documents.chunks(map(storable, external_ids)):
            with reading(self._engine) as connection:
                live = list(documents.find(connection, chunk))
                former = aliases.targets(connection, sorted({*chunk} - {*dict(live)}))
                for external_id, key in (*live, *former):
                    keys[external_id] = (*keys.get(external_id, ()), key)
        return keys

    def with_id(self, external_id: str) -> list[StoredDocument]:
        """The documents of an id, or of a former one, in the current generation: one a collection."""
        with reading(self._engine) as connection:
            return documents.documents_with_id(connection, storable(external_id))

    def of_collection(self, name: str) -> list[int]:
        """The keys of a collection's documents, ascending; none if the collection does not exist."""
        with reading(self._engine) as connection:
            return documents.of_collection(connection, name)

    def insert(self, generation: int, new: Iterable[NewDocument]) -> list[InsertedDocument]:
        """Add documents in order; earlier versions of them must be retired before.

        A passage that shares two of its three sketches with an earlier live one is marked as its near-duplicate.
        """
        inserted: list[InsertedDocument] = []
        for batch in documents.chunks(new, INSERT_BATCH):
            with writing(self._engine) as connection:
                inserted += documents.insert_documents(connection, generation, batch)
        return inserted

    def retire(self, generation: int, keys: Iterable[int]) -> int:
        """Remove documents from `generation`, and return the number removed."""
        retired = 0
        for chunk in documents.chunks(keys):
            with writing(self._engine) as connection:
                retired += documents.retire(connection, generation, chunk)
        return retired

    def stream_documents(self, *, batch: int = 256, collection: str | None = None) -> Iterator[StoredDocument]:
        """All live documents by ascending key; memory holds one batch, and no transaction stays open between batches.

        With `collection`, only its documents of the current generation.
        """
        key = -1
        while True:
            with reading(self._engine) as connection:
                page = documents.documents_after(connection, key, batch, collection=collection)
            if not page:
                return
            yield from page
            key = page[-1].key

    def counts(self) -> Counts:
        with reading(self._engine) as connection:
            return history.count_rows(connection)

    # --- turns and conversations ---

    def save_turn(
        self,
        *,
        question: str,
        answer: Mapping[str, Any],
        rewritten: str = "",
        timings: Mapping[str, float] | None = None,
        conversation: str | None = None,
        persona: str = "",
        asked: float | None = None,
        id: str = "",  # noqa: A002  # the noun's own name
    ) -> str:
        """Record a question and its answer object, and return the turn's id. A missing conversation is created."""
        present = now()
        turn = Turn(
            id or history.new_id(),
            question,
            answer,
            rewritten,
            conversation,
            timings or {},
            asked=present if asked is None else asked,
            created=present,
            persona=persona,
        )
        with writing(self._engine) as connection:
            history.save_turn(connection, turn)
        return turn.id

    def save_new_turns(self, many: Iterable[Turn]) -> None:
        """Record turns in batches; turns that are recorded already are skipped."""
        for batch in documents.chunks(many, TURN_BATCH):
            with writing(self._engine) as connection:
                history.save_new_turns(connection, batch)

    def turn(self, id: str) -> Turn:  # noqa: A002  # the noun's own name
        """Raises NotFoundError."""
        with reading(self._engine) as connection:
            return history.turn_by_id(connection, id)

    def revise_answer(self, id: str, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Turn:  # noqa: A002  # the noun's own name
        """Replace a recorded answer object by `change` of it, and return the new turn.

        Raises NotFoundError, and any error of `change`; nothing is changed then.
        """
        with writing(self._engine) as connection:
            return history.revise_answer(connection, id, change)

    def has_turn(self, id: str) -> bool:  # noqa: A002  # the noun's own name
        with reading(self._engine) as connection:
            return history.has_turn(connection, id)

    def save_feedback(self, turn: str, vote: Vote, comment: str = "") -> None:
        """Raises NotFoundError for a turn that is not recorded."""
        with writing(self._engine) as connection:
            history.save_feedback(connection, Feedback(turn, vote, comment, now()))

    def feedback(self, turn: str) -> list[Feedback]:
        """All feedback on a turn, oldest first."""
        with reading(self._engine) as connection:
            return history.feedback_of(connection, turn)

    def voted(self) -> list[tuple[Turn, Feedback]]:
        """Turns with a vote, in the order they were asked, each with its last vote."""
        with reading(self._engine) as connection:
            return history.voted(connection)

    def last_feedback(self, conversation: str) -> dict[str, Feedback]:
        """The last vote on each turn of a conversation, by the turn's id; turns without a vote are left out."""
        with reading(self._engine) as connection:
            return history.last_feedback_in(connection, conversation)

    def gaps(self, *, limit: int = 100) -> tuple[list[Gap], int]:
        """Questions without a good answer, the most frequent first, and the number of all of them."""
        with reading(self._engine) as connection:
            return gaps.most_frequent(connection, limit)

    def settle_gap(self, key: str) -> int:
        """Hide a question, by its `question_key`, until it is asked again; returns the number of its turns."""
        with writing(self._engine) as connection:
            return gaps.settle(connection, key, now())

    def conversations(self, *, limit: int = 100, before: float | None = None) -> list[ConversationInfo]:
        """The last used first; with `before` only those last used before that time."""
        with reading(self._engine) as connection:
            return history.all_conversations(connection, limit, before)

    def conversation(self, id: str) -> ConversationInfo:  # noqa: A002  # the noun's own name
        """Raises NotFoundError."""
        with reading(self._engine) as connection:
            return history.conversation_by_id(connection, id)

    def turns(self, conversation: str) -> list[Turn]:
        """A conversation's turns in the order they were asked; raises NotFoundError."""
        with reading(self._engine) as connection:
            return history.turns_of(connection, conversation)

    def last_turns(self, conversation: str, count: int) -> list[Turn]:
        """The last turns of a conversation, in the order they were asked; none in an unknown one."""
        with reading(self._engine) as connection:
            return history.last_turns_of(connection, conversation, count)

    def turn_ids_by_reference(self, conversation: str) -> dict[str, str]:
        """Ids of turns by the caller's references, oldest first; none for an unknown conversation."""
        with reading(self._engine) as connection:
            return history.turn_ids_by_reference(connection, conversation)

    def rename_conversation(self, conversation: str, title: str) -> None:
        """Raises NotFoundError."""
        with writing(self._engine) as connection:
            history.rename_conversation(connection, conversation, title)

    def delete_conversation(self, conversation: str) -> None:
        """Delete a conversation with its turns and feedback, also from the files; raises NotFoundError."""
        with writing(self._engine) as connection:
            history.delete_conversation(connection, conversation)
        empty_journal(self._engine)

    def asked_around(self, at: float) -> tuple[float | None, float | None]:
        """The times of the last turn before `at` and of the first one from then on; None without one."""
        with reading(self._engine) as connection:
            return retention.asked_around(connection, at)

    def used_until_now(self, since: float, now: float) -> None:
        """Let conversations and single questions of a wrong clock, from `since` on, be last used now."""
        with writing(self._engine) as connection:
            retention.used_until_now(connection, since, now)

    def expire(self, before: float) -> tuple[list[str], int]:
        """Delete what was last used before a time: ids of the conversations, number of turns without one."""
        with reading(self._engine) as connection:
            if not retention.has_expired(connection, before):
                return [], 0
        deleted, lone_turns = list[str](), 0
        while True:
            with writing(self._engine) as connection:
                old, lone = retention.expire_some(connection, before)
            if not old and not lone:
                empty_journal(self._engine)
                return deleted, lone_turns
            deleted, lone_turns = deleted + old, lone_turns + lone

    # --- to other homes and from them ---

    def stream_conversations(self, *, batch: int = 256) -> Iterator[ConversationInfo]:
        """All conversations by id, without the number of their turns."""
        last = ""
        while True:
            with reading(self._engine) as connection:
                page = retention.conversations_after(connection, last, batch)
            if not page:
                return
            yield from page
            last = page[-1].id

    def stream_turns(
        self, *, batch: int = TURN_BATCH, voted: bool = False
    ) -> Iterator[tuple[Turn, tuple[Feedback, ...]]]:
        """All turns in the order they were recorded, each with its votes; with `voted` only turns with votes."""
        cursor = None
        while True:
            with reading(self._engine) as connection:
                page = retention.turns_after(connection, cursor, batch, voted=voted)
            if not page:
                return
            yield from page
            last, _ = page[-1]
            cursor = last.created, last.id

    def settled_gaps(self) -> list[tuple[str, float]]:
        """Keys of the questions that the owner settled, and the time of each."""
        with reading(self._engine) as connection:
            return retention.settled(connection)

    @contextmanager
    def joining(self) -> Iterator[retention.Joining]:
        """One transaction that imports conversations; an error undoes all of it."""
        with writing(self._engine) as connection:
            yield retention.Joining(connection)

    def roll_back(self, generation: int) -> None:
        """Undo an unfinished generation: delete what it added, restore what it retired."""
        self._in_chunks(documents.unmake_some, generation)
        with writing(self._engine) as connection:
            documents.restore(connection, generation)
            documents.drop_empty_collections(connection)
            history.forget_generation(connection, generation)

    def _in_chunks(self, some: Callable[[Connection, int], int], generation: int) -> int:
        total = 0
        while True:
            with writing(self._engine) as connection:
                count = some(connection, generation)
            if not count:
                return total
            total += count
