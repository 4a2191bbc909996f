"""`Bot`: opens a home, answers, searches, and remembers conversations. Every front end uses it."""

from __future__ import annotations

import logging
import os
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Self, get_args

from qa_bot.answering.ask import Ask
from qa_bot.answering.corridor import Corridor, SearchEngine
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.events import Listener, ignore_event
from qa_bot.answering.fit_confidence import calibrations as calibrations_of
from qa_bot.answering.models.personas import PersonaStore
from qa_bot.answering.models.query_expanders import configured_expander
from qa_bot.answering.models.ranker_loading import ConfiguredRankers, RankerError, open_configured
from qa_bot.answering.recording import record
from qa_bot.answering.scope import EVERYTHING, Scope
from qa_bot.answering.tiling.leads.read_leads import with_read_leads
from qa_bot.answering.verification.configured_verifier import configured_verifier
from qa_bot.conversation.answering import answer_alone, answer_turn, replayed
from qa_bot.conversation.memory import Memory, RememberedTurn, recorded_turns
from qa_bot.documents.first_fill import prepare
from qa_bot.home.config import Config, ConfigError
from qa_bot.home.encoders import mismatch, name_of, resolve
from qa_bot.home.folder import Home
from qa_bot.home.generations import CorruptGenerationError, Damage, Generations, Stamp, present_config, stamp
from qa_bot.home.index import Index, Manifest
from qa_bot.home.index_part import parts
from qa_bot.home.journal import FULL, open_store, take_up
from qa_bot.interleaving.challenger import open_challenger
from qa_core.arguments import ArgumentError, expect_count, expect_number, expect_one_of, expect_text, expect_type
from qa_core.text.safe_text import valid
from qa_core.types import Answer, Candidate, Encoder, Question
from qa_core.wall_clock import now

if TYPE_CHECKING:
    from qa_bot.answering.graph.facts import Facts
    from qa_bot.home.store import Store, Turn
    from qa_bot.home.store.records import Vote
    from qa_bot.interleaving.challenger import Challenger

log = logging.getLogger(__name__)

THREADS = 4
"""Worker threads for each question that is answered at once: three stages, and one that overran."""


class _State(NamedTuple):
    """The state of the home that a corridor was opened from; cheap to check before every question."""

    generation: Stamp | None
    graph: Stamp | None
    configured: Stamp | None


class _Opened(NamedTuple):
    state: _State
    corridor: Corridor
    unpin: Callable[[], object]
    """Releases the generation; otherwise that happens when the last question that uses the corridor is answered."""


class Bot:
    """Answers questions from a home; safe to share between threads. Open it with `Bot.open`."""

    def __init__(
        self, home: Home, config: Config, *, flags: Mapping[str, object] | None = None, record: bool = True
    ) -> None:
        self.home, self.config = home, config
        self._flags, self._recording = flags, record
        self._generations, self._graphs = Generations(home.index), Generations(home.graph)
        self._workers = ThreadPoolExecutor(THREADS * config.serve.workers, thread_name_prefix="qa-bot")
        self._lock = Lock()
        self._opened: _Opened | None = None
        self._store: Store | None = None
        self.memory = Memory(lambda conversation: recorded_turns(lambda: self.store, conversation))
        self._warned = ""  # fingerprint of the last index that another encoder made

    @classmethod
    def open(
        cls, path: str | Path | None = None, *, flags: Mapping[str, object] | None = None, record: bool = True
    ) -> Self:
        """Open the home at `path` (else `QA_BOT_HOME`, else the platform's); an empty one gets the starter collection.

        Changes of documents and configuration by other processes apply from the next question on.

        Args:
            flags: configuration by `section.key` that stands above file and environment.
            record: keep questions and answers: first in the journal, and in the store when it is next opened.

        Raises:
            HomeError, ConfigError, EncoderError, RankerError, StoreError, CorruptGenerationError: each says what to do.
        """
        home = Home.open(None if path is None else Path(path))
        bot = cls(home, present_config(home, flags), flags=flags, record=record)
        prepare(home, bot.config, lambda: bot.encoder)
        return bot

    @cached_property
    def encoder(self) -> Encoder:
        """The configured encoder, opened when first needed; with `starter` the table."""
        return self._open_encoder(self.config.dense.encoder)

    @cached_property
    def rankers(self) -> ConfiguredRankers:
        """The configured rankers, opened when first needed."""
        return open_configured(self.config.ranking, models=self.home.models)

    @cached_property
    def challenger(self) -> Challenger | None:
        """The fusion that is tried on a share of the questions, if one is configured."""
        return open_challenger(self.config.ranking)

    @property
    def store(self) -> Store:
        """The database, opened when first needed; it holds every turn recorded so far."""
        with self._lock:
            self.home.expect_present()
            if self._store is not None and self._store.is_replaced():
                self._store.close()
                self._store = None
            if self._store is None:
                self._store = open_store(self.home, self.config)
            else:
                take_up(self.home, self._store)
            return self._store

    @property
    def personas(self) -> tuple[str, ...]:
        """Personas that answers can be styled in, by name."""
        return self.voices.names

    @cached_property
    def voices(self) -> PersonaStore:
        """The personas, opened when one first speaks."""
        return PersonaStore(self.home.personas, self.config.style)

    def ask(
        self,
        question: str | Question | Ask,
        *,
        deadline: float | Deadline | None = None,
        listen: Listener = ignore_event,
        **fields: Any,
    ) -> Answer:
        """One answer with its sources; it is recorded before it is returned.

        In a conversation a question may be a follow-up, which is asked as understood after the turns before it, or
        talk about the answers; votes of the conversation count.

        Args:
            question: a text, a `Question` with title and body, or an `Ask` with everything.
            deadline: seconds, or a running deadline, which may be cancelled; by default as `Ask.seconds` or the
                configuration says.
            listen: called in this thread with the events of the answer.
            fields: of an `Ask`, if `question` is none: `persona`, `hint`, `top`, `trace`, `conversation`, …

        Raises:
            ArgumentError: an argument of another type, or out of its range.
            Cancelled: the caller cancelled the question.
            PersonaError: an unknown persona.
        """
        if isinstance(question, Ask) and fields:
            raise ArgumentError(f"Expected these in the `Ask`, but got them beside it: {', '.join(fields)}.")
        ask = question if isinstance(question, Ask) else Ask.of(question, **fields)
        ask.expect_usable()
        asked_at = now()
        deadline = self._deadline(ask.seconds if deadline is None else deadline)
        if ask.persona:
            self.voices.parts(ask.persona)
        ask = replace(ask, id=ask.id or uuid.uuid4().hex)
        if ask.conversation is None and ask.history is None:
            answer = replace(answer_alone(self.corridor(), ask, deadline, listen), id=ask.id)
        else:
            answer = self._answer_turn(ask, deadline, listen)
        if self._recording and record(self.home, ask, answer, asked_at) > FULL:
            self._workers.submit(self._take_up)
        return answer

    async def ask_async(self, question: str | Question | Ask, **options: Any) -> Answer:
        """`ask` in a worker thread."""
        import asyncio  # slow to load, and the command line does without it

        return await asyncio.to_thread(self.ask, question, **options)

    def search(
        self,
        query: str,
        *,
        engine: SearchEngine = "hybrid",
        top: int = 10,
        deadline: float | Deadline | None = None,
        scope: Scope = EVERYTHING,
    ) -> tuple[Candidate, ...]:
        """The results of one engine, best first; no answer is composed and nothing is recorded.

        Raises:
            ArgumentError: an argument of another type, or out of its range.
            Cancelled: the caller cancelled the search.
        """
        expect_text("query", query)
        expect_one_of("engine", engine, get_args(SearchEngine))
        expect_count("top", top)
        expect_type("scope", scope, Scope)
        deadline, corridor = self._deadline(deadline), self.corridor()
        return corridor.search(valid(query), corridor.start(deadline), engine=engine, top=top, scope=scope)

    def ask_graph(self, question: str, *, deadline: float | None = None, trace: bool = False) -> Answer:
        """One answer from the graph alone, with its triples as sources; it is not recorded."""
        ask, until = Ask.of(question, trace=trace), self._deadline(deadline)
        corridor = self.corridor()
        return corridor.answer_from_graph(ask, corridor.start(until))

    def vote(self, id: str, vote: Vote, comment: str = "") -> None:  # noqa: A002  # the noun's own name
        """Record a vote on an answer with the trace of the answer; it affects this conversation at once.

        Raises:
            ArgumentError: a vote other than "up" and "down", or a comment that is no text.
            NotFoundError: no such answer is recorded.
        """
        store = self.store
        store.save_feedback(id, vote, comment)
        turn = store.turn(id)
        self.memory.vote(turn.conversation, id, vote)
        if (trace := self.memory.trace(id)) is not None and "trace" not in turn.answer:
            store.revise_answer(id, lambda answer: {**answer, "trace": trace})

    def delete_conversation(self, id: str) -> None:  # noqa: A002  # the noun's own name
        """Delete a conversation with its turns and votes, and with answers in progress.

        A later question under the same id begins a new conversation.

        Raises:
            NotFoundError: no such conversation is recorded.
        """
        self.store.delete_conversation(id)
        self.memory.forget(id)

    def choose(self, id: str, choice: int | str) -> Turn:  # noqa: A002  # the noun's own name
        """Choose another sentence for a styled answer, and record it; the sourced part is unchanged.

        Args:
            id: of the recorded answer.
            choice: an index into `styled.lines`, the text of one of them, or a new text.

        Raises:
            NotFoundError: no such answer is recorded.
            ChoiceError: the answer offers no such choice, or the text is empty or too long.
        """
        from qa_bot.conversation.persona_choice import choose

        return self.store.revise_answer(id, lambda answer: choose(answer, choice))

    def corridor(self) -> Corridor:
        """The corridor over the current generation; after a change of the home, a new one."""
        state = self._state()
        opened = self._opened
        if opened is None or opened.state != state:
            with self._lock:
                opened = self._opened
                if opened is None or opened.state != state:
                    opened = self._opened = self._open(state)
        return opened.corridor

    def close(self) -> None:
        """Finish recording, and close the index and the store."""
        self._workers.shutdown()
        if self._opened:
            self._opened.unpin()
            self._opened = None
        if self._store:
            self._store.close()
            self._store = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _deadline(self, limit: float | Deadline | None) -> Deadline:
        """A running deadline unchanged; seconds from now on, by default as configured."""
        if isinstance(limit, Deadline):
            return limit
        seconds = self.config.answer.deadline if limit is None else limit
        expect_number("deadline", seconds)
        return Deadline.after(seconds)

    def _answer_turn(self, ask: Ask, deadline: Deadline, listen: Listener) -> Answer:
        """The answer to a turn of a conversation; the conversation remembers it from now on."""
        corridor, conversation = self.corridor(), ask.conversation
        if conversation is not None:
            past: Sequence[RememberedTurn] = self.memory.recall(conversation)
        else:
            titled = [turn._replace(title=self.memory.title(turn.reply)) for turn in ask.history or ()]
            past = replayed(corridor, replace(ask, history=titled), deadline)
        traced = replace(answer_turn(corridor, replace(ask, trace=True), past, deadline, listen), id=ask.id)
        self.memory.note(traced)
        if conversation is not None:
            brief = {"confidence": (traced.trace or {}).get("confidence", {})}
            turn = RememberedTurn.of(ask.question.title, replace(traced, trace=brief), reference=ask.reference)
            self.memory.add(conversation, turn, traced.trace)
        return traced if ask.trace else replace(traced, trace=None)

    def _state(self) -> _State:
        return _State(self._generations.stamp(), self._graphs.stamp(), stamp(self.home.config_file))

    def _open(self, state: _State) -> _Opened:
        if self._opened:
            self._reconfigure()
        with ExitStack() as held:
            generation = held.enter_context(self._generations.pin_current())
            if generation is None:  # a home is filled before it is asked
                self.home.expect_present()
                raise CorruptGenerationError(Damage("missing", self.home.index / "CURRENT", "something removed it"))
            self._generations.expect_whole(generation)
            name = name_of(self.config.dense.encoder, Manifest.of(generation).encoder)
            loading = self._workers.submit(self._open_encoder, name)  # beside the index: half of a cold start
            index = Index(generation)
            encoder = self._encoder_for(index, loading.result())
            owners, starter = parts(index, self.config.starter.mode)
            build = partial(
                Corridor,
                encoder=encoder,
                calibrations=calibrations_of(encoder, self.home.models, self.config.ranking.cross_encoder),
                config=self.config,
                workers=self._workers,
                rankers=self.rankers,
                verifier=configured_verifier(self.config.ranking, self.home.models, choose_leads=with_read_leads),
                personas=lambda: self.voices,
            )
            facts, reorder = self._facts(held), [self.challenger.reorder] if self.challenger else []
            fallback = build(starter, facts=facts) if starter else None
            expander = configured_expander(self.config.retrieval)
            corridor = build(owners, facts=facts, reorder=reorder, fallback=fallback, expander=expander)
            unpin = weakref.finalize(corridor, held.pop_all().close)
        return _Opened(state, corridor, unpin)

    def _open_encoder(self, name: str) -> Encoder:
        dense = self.config.dense
        if name == dense.encoder and "encoder" in self.__dict__:
            return self.encoder
        threads = min(dense.threads, os.cpu_count() or 1)
        return resolve(name, models=self.home.models, int8=dense.int8, threads=threads, prompts=dense.prompts)

    def _facts(self, held: ExitStack) -> Facts | None:
        """The home's graph; None if the home has no usable one."""
        if not self.config.facts.enabled or self._graphs.is_empty():
            return None
        from qa_bot.answering.graph.facts import FactsError, open_facts

        try:
            return open_facts(self.home, self.config, held)
        except FactsError as error:
            log.warning("Facts are left out: %s", error)
            return None

    def _reconfigure(self) -> None:
        """Apply the changed configuration; the opened store stays."""
        try:
            config = present_config(self.home, self._flags)
            configured_expander(config.retrieval)
            changed = config.ranking != self.config.ranking
            rankers = open_configured(config.ranking, models=self.home.models) if changed else self.rankers
            challenger = open_challenger(config.ranking) if changed else self.challenger
        except (ConfigError, RankerError) as error:
            log.warning("The configuration was changed, but cannot be used; the former one still holds: %s", error)
            return
        if config.dense != self.config.dense:
            self.__dict__.pop("encoder", None)
        if config.style != self.config.style:
            self.__dict__.pop("voices", None)
        self.__dict__["rankers"], self.__dict__["challenger"] = rankers, challenger
        self.config = config

    def _encoder_for(self, index: Index, encoder: Encoder) -> Encoder | None:
        """The configured encoder, or None where the index was made by one that gives its texts other vectors."""
        if index.has_vectors_of(encoder):
            return encoder
        if self._warned != index.manifest.fingerprint:
            self._warned = index.manifest.fingerprint
            log.warning(mismatch(self.config.dense.encoder, index.encoder))
        return None

    def _take_up(self) -> None:
        try:
            _ = self.store
        except Exception as error:
            log.warning("Turns stay in the journal, since the store cannot be used: %s", error)
