"""One object for the whole store: every method is one short transaction, or several where its work is long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Engine

from qa_bot.home.store import documents, gaps, history, retention
from qa_bot.home.store.database import empty_journal, ensure_schema, open_engine, reading, storable, writing
from qa_bot.home.store.records import (
    CollectionInfo,
    ConversationInfo,
    Counts,
    Feedback,
    Gap,
    GenerationInfo,
    InsertedDocument,
    JoinedCounts,
    KnownDocument,
    NewDocument,
    StoredDocument,
    Turn,
    Vote,
)

INSERT_BATCH = 200  # documents a transaction: about a tenth of a second in which nobody else can write

TURN_BATCH = 50  # turns a transaction: some hundredths of a second


class Store:
    """Documents by generation, and what was asked.

    A generation is written in many short transactions: `begin`, then `known`, `retire`, `insert` at will, then
    `finish`, then `purge`. The rows of one that was never finished are undone by the next `begin`. Safe to share
    between threads. Every method raises StoreError where the database fails.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str) -> Store:
        """Connect, and bring the schema up to date; a database that a newer qa-bot made is refused."""
        engine = open_engine(url)
        try:
            ensure_schema(engine)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine)

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
        """The number of a new generation, above all others.

        What an earlier writer left unfinished is undone first, unless it is the `published` one: its index was already
        current when the writer died, so that it is finished instead.
        """
        with reading(self._engine) as connection:
            left = history.unfinished(connection)
        for number in left:
            if number == published:
                self.finish(number)
            else:
                self.roll_back(number)
        with writing(self._engine) as connection:
            return history.open_generation(connection, encoder, above=published or 0)

    def finish(self, generation: int, counts: Mapping[str, int] | None = None) -> None:
        """Make `generation` the current one."""
        with writing(self._engine) as connection:
            history.finish_generation(connection, generation, counts)

    def purge(self, generation: int) -> int:
        """Delete what was retired up to `generation`; how many documents."""
        purged = self._in_chunks(documents.purge_some, generation)
        with writing(self._engine) as connection:
            documents.drop_empty_collections(connection)
        empty_journal(self._engine)
        return purged

    def generation(self) -> GenerationInfo | None:
        """The current one."""
        with reading(self._engine) as connection:
            return history.current_generation(connection)

    # --- documents ---

    def collection(self, name: str) -> int:
        """The key of a collection, made where it is missing."""
        with writing(self._engine) as connection:
            return documents.collection(connection, name)

    def collections(self) -> list[CollectionInfo]:
        """By name, with what the current generation holds of each."""
        with reading(self._engine) as connection:
            return documents.all_collections(connection)

    def known(self, collection_id: int, external_ids: Iterable[str]) -> dict[str, KnownDocument]:
        """What the building generation holds, by external id."""
        found: dict[str, KnownDocument] = {}
        for chunk in documents.chunks(map(storable, external_ids)):
            with reading(self._engine) as connection:
                found.update(documents.known(connection, collection_id, chunk))
        return found

    def find(self, external_ids: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """Keys by external id, in any collection; ids that nobody has are left out."""
        found: dict[str, tuple[int, ...]] = {}
        for chunk in documents.chunks(map(storable, external_ids)):
            with reading(self._engine) as connection:
                for external_id, key in documents.find(connection, chunk):
                    found[external_id] = (*found.get(external_id, ()), key)
        return found

    def of_collection(self, name: str) -> list[int]:
        """The keys of a collection's documents, ascending; none where there is no such collection."""
        with reading(self._engine) as connection:
            return documents.of_collection(connection, name)

    def insert(self, generation: int, new: Iterable[NewDocument]) -> list[InsertedDocument]:
        """Add documents whose predecessors are retired, in the order given.

        A passage that shares two of its three sketches with an earlier living one, here or in the store, is marked.
        """
        inserted: list[InsertedDocument] = []
        for batch in documents.chunks(new, INSERT_BATCH):
            with writing(self._engine) as connection:
                inserted += documents.insert_documents(connection, generation, batch)
        return inserted

    def retire(self, generation: int, keys: Iterable[int]) -> int:
        """Take documents out of `generation`; how many were in it."""
        retired = 0
        for chunk in documents.chunks(keys):
            with writing(self._engine) as connection:
                retired += documents.retire(connection, generation, chunk)
        return retired

    def stream_documents(self, *, batch: int = 256, collection: str | None = None) -> Iterator[StoredDocument]:
        """All living documents by ascending key; memory holds one batch, and no transaction stays open between two.

        Of a `collection` those of the current generation, whatever a writer who died has left.
        """
        key = -1
        while True:
            with reading(self._engine) as connection:
                found = documents.stored_after(connection, key, batch, collection=collection)
            if not found:
                return
            yield from found
            key = found[-1].key

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
        """Record a question and its answer object; the turn's id. A missing conversation is made."""
        now = time.time()
        asked = now if asked is None else asked
        turn = Turn(
            id or history.new_id(), question, answer, rewritten, conversation, timings or {}, asked, now, persona
        )
        with writing(self._engine) as connection:
            history.save_turn(connection, turn)
        return turn.id

    def save_new_turns(self, many: Iterable[Turn]) -> None:
        """Record turns, a batch of them in each transaction; those that are recorded already are left alone."""
        for batch in documents.chunks(many, TURN_BATCH):
            with writing(self._engine) as connection:
                history.save_new_turns(connection, batch)

    def turn(self, id: str) -> Turn:  # noqa: A002  # the noun's own name
        """Raises NotFoundError."""
        with reading(self._engine) as connection:
            return history.turn_by_id(connection, id)

    def revise_answer(self, id: str, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Turn:  # noqa: A002  # the noun's own name
        """Put what `change` makes of a recorded answer object in its place; the turn as it is then.

        Raises NotFoundError, and what `change` raises: nothing is changed then.
        """
        with writing(self._engine) as connection:
            return history.revise_answer(connection, id, change)

    def has_turn(self, id: str) -> bool:  # noqa: A002  # the noun's own name
        with reading(self._engine) as connection:
            return history.has_turn(connection, id)

    def save_feedback(self, turn: str, vote: Vote, comment: str = "") -> None:
        """Raises NotFoundError for a turn that is not recorded."""
        with writing(self._engine) as connection:
            history.save_feedback(connection, Feedback(turn, vote, comment, time.time()))

    def feedback(self, turn: str) -> list[Feedback]:
        """What was said about a turn, oldest first."""
        with reading(self._engine) as connection:
            return history.feedback_of(connection, turn)

    def voted(self) -> list[tuple[Turn, Feedback]]:
        """Turns that somebody voted on, in the order they were asked, each with the last vote."""
        with reading(self._engine) as connection:
            return history.voted(connection)

    def last_feedback(self, conversation: str) -> dict[str, Feedback]:
        """The last vote on each turn of a conversation that has one, by the turn's id."""
        with reading(self._engine) as connection:
            return history.last_feedback_in(connection, conversation)

    def gaps(self, *, limit: int = 100) -> tuple[list[Gap], int]:
        """Questions without a good answer, the most frequent first; and how many there are in all."""
        with reading(self._engine) as connection:
            return gaps.most_frequent(connection, limit)

    def settle_gap(self, key: str) -> int:
        """Let a question be gone until it is asked again (its `question_key`); of how many turns it was."""
        with writing(self._engine) as connection:
            return gaps.settle(connection, key, time.time())

    def conversations(self, *, limit: int = 100, before: float | None = None) -> list[ConversationInfo]:
        """The last used first; only those used before the time `before`, where one is given."""
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
        """Turns' ids by the askers' own ids of their questions, oldest first; none in an unknown conversation."""
        with reading(self._engine) as connection:
            return history.turn_ids_by_reference(connection, conversation)

    def rename_conversation(self, conversation: str, title: str) -> None:
        """Raises NotFoundError."""
        with writing(self._engine) as connection:
            history.rename_conversation(connection, conversation, title)

    def delete_conversation(self, conversation: str) -> None:
        """With its turns and feedback, and with what the files still hold of them; raises NotFoundError."""
        with writing(self._engine) as connection:
            history.delete_conversation(connection, conversation)
        empty_journal(self._engine)

    def expire(self, before: float) -> tuple[list[str], int]:
        """Remove what was last used before a time, and what the files still hold of it.

        What is returned are the ids of the conversations that went, and how many turns without one.
        """
        with reading(self._engine) as connection:
            if not retention.has_expired(connection, before):
                return [], 0
        gone, alone = list[str](), 0
        while True:
            with writing(self._engine) as connection:
                old, lone = retention.expire_some(connection, before)
            if not old and not lone:
                empty_journal(self._engine)
                return gone, alone
            gone, alone = gone + old, alone + lone

    # --- to other homes and from them ---

    def stream_conversations(self, *, batch: int = 256) -> Iterator[ConversationInfo]:
        """All of them by id, without the number of their turns."""
        last = ""
        while True:
            with reading(self._engine) as connection:
                found = retention.conversations_after(connection, last, batch)
            if not found:
                return
            yield from found
            last = found[-1].id

    def stream_turns(
        self, *, batch: int = TURN_BATCH, voted: bool = False
    ) -> Iterator[tuple[Turn, tuple[Feedback, ...]]]:
        """All turns in the order they were recorded, each with all votes on it; with `voted` only such as have one."""
        place = None
        while True:
            with reading(self._engine) as connection:
                found = retention.turns_after(connection, place, batch, voted=voted)
            if not found:
                return
            yield from found
            last, _ = found[-1]
            place = last.created, last.id

    def settled_gaps(self) -> list[tuple[str, float]]:
        """Keys of the questions that the owner settled, and when."""
        with reading(self._engine) as connection:
            return retention.settled(connection)

    @contextmanager
    def joining(self) -> Iterator[Joining]:
        """One transaction in which conversations from elsewhere join; an error leaves everything as it was."""
        with writing(self._engine) as connection:
            yield Joining(connection)

    def roll_back(self, generation: int) -> None:
        """Undo an unfinished generation: what was born in it goes, what it retired lives again."""
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


class Joining:
    """A transaction in which conversations, turns and votes from elsewhere are put in; known ones are left alone."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def settled_gaps(self, given: Iterable[tuple[str, float]]) -> None:
        """To be called before turns: settled questions want no answer."""
        retention.join_settled(self._connection, given)

    def conversations(self, given: Sequence[ConversationInfo]) -> int:
        """How many of them are new."""
        return retention.join_conversations(self._connection, given)

    def known(self, conversations: Iterable[str]) -> set[str]:
        """Which of these ids are of conversations."""
        return retention.known_conversations(self._connection, conversations)

    def turns(self, given: Sequence[tuple[Turn, Sequence[Feedback]]]) -> JoinedCounts:
        """Turns of no conversation or of known ones, each with all votes on it."""
        return retention.join_turns(self._connection, given)


def migrate(url: str) -> tuple[str | None, str]:
    """Bring a database to the newest schema; the revisions before (None: it was empty) and after."""
    engine = open_engine(url)
    try:
        return ensure_schema(engine)
    finally:
        engine.dispose()
