"""The corridor that every question goes through.

    formulate → retrieve → fuse → rank → verify → decide → compose → style

    corridor = Corridor(index, encoder, calibrations, config, workers)
    answer = corridor.answer(ask, corridor.start(deadline))

Experiments (`reorder`), the votes of a conversation (`preferences`) and clarification (`interpose`) attach from
outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

from qa_bot.answering.ask import STANDS_ALONE, Ask, Readings
from qa_bot.answering.clock import MODEL_TIME_SHARE, STAGE_TIME_SHARES, Clock
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.events import ChoicesOffered, Listener, StageBegun, announce, ignore_event
from qa_bot.answering.evidence.question_words import AskedPlaces
from qa_bot.answering.models.ranker_loading import ConfiguredRankers
from qa_bot.answering.scope import EVERYTHING, FactsScopeError, Knowledge, Scope
from qa_bot.answering.spelling import corrected
from qa_bot.answering.stages.abstention import WHICH, demoted_reason, no_fact_reason, reason, wording_for
from qa_bot.answering.stages.compose import TILED, Composed, compose
from qa_bot.answering.stages.decide import Calibrations, Decided, Decision, Preferences, answers_instead, decide_passage
from qa_bot.answering.stages.formulate import Expander, formulate_in_time
from qa_bot.answering.stages.fuse import fuse
from qa_bot.answering.stages.owner_answers import has_alike, is_owned
from qa_bot.answering.stages.passages import find_passages, rank_passages, unranked
from qa_bot.answering.stages.persona_line import ROOM
from qa_bot.answering.stages.rank import Ranking, RankingStage
from qa_bot.answering.stages.retrieve import SearchMode, retrieve
from qa_bot.answering.stages.style import style
from qa_bot.answering.trace import answer_trace, note_counts
from qa_bot.home.config import Config
from qa_bot.home.starter import NAME as STARTER
from qa_core.types import Answer, Candidate, Encoder, Question
from retrievers.engines.index import Index
from retrievers.formulate import Formulation
from retrievers.long_questions import TITLE, shortened

if TYPE_CHECKING:
    from qa_bot.answering.graph.entities import Entities
    from qa_bot.answering.graph.facts import FactResult, Facts
    from qa_bot.answering.models.personas import PersonaStore
    from qa_bot.answering.verification.verify import Verifier

SearchEngine = Literal["keyword", "dense", "hybrid", "facts"]

Reorder = Callable[[Ranking, Clock], Ranking]
"""A change of the ranking before the decision, such as an interleaving."""
Interpose = Callable[[Decided, Clock], Decided]
"""A change of the decision, such as asking back."""


class Corridor:
    """Answers questions from one generation of the index; safe to share between threads."""

    def __init__(
        self,
        index: Index,
        encoder: Encoder | None,
        calibrations: Calibrations,
        config: Config,
        workers: ThreadPoolExecutor,
        *,
        rankers: ConfiguredRankers | None = None,
        verifier: Verifier | None = None,
        expander: Expander | None = None,
        facts: Facts | None = None,
        personas: Callable[[], PersonaStore] | None = None,  # opens them when one is first asked for
        reorder: Sequence[Reorder] = (),
        fallback: Corridor | None = None,
    ) -> None:
        """
        Args:
            encoder: None if the index was made by another encoder; its vectors are then not searched.
            rankers: trained rankers, cheapest first, and a learned fusion.
            verifier: reads the first passages; None if nothing reads them.
            expander: generates answers, whose words are searched, too.
            facts: the knowledge graph, if there is one; with a fallback, what is not in the starter graph.
            reorder: changes of every ranking, in this order.
            fallback: the corridor of the starter collection; it answers if this one does not.
        """
        self.index, self._fallback = index, fallback
        self.facts = facts.owners() if facts and fallback else facts
        self._encoder, self._calibrations, self._config, self._workers = encoder, calibrations, config, workers
        self._formulated = partial(formulate_in_time, index=index, expander=expander)
        self._rankers = rankers or ConfiguredRankers()
        self._ranking = RankingStage(index, self._rankers, config.ranking)
        self._verifier, self._personas, self._reorder = verifier, personas, tuple(reorder)

    @cached_property
    def entities(self) -> Entities | None:
        """Names that the graph knows."""
        if self.facts is None:
            return None
        from qa_bot.answering.graph.entities import Entities  # late: only conversations need it

        return Entities(self.facts.lookup)

    def corrected(self, question: str) -> str:
        """The question with misspelt words corrected by the words of the documents."""
        return question if self._encoder is None else corrected(question, self.index, self._encoder)

    @property
    def knowledge(self) -> Knowledge:
        further = self._fallback.index.whole_documents if self._fallback else 0
        return Knowledge(self.index.whole_documents, len(self.facts.lookup.triples) if self.facts else 0, further)

    def start(self, deadline: Deadline, listen: Listener = ignore_event) -> Clock:
        """The clock of a question that has just arrived."""
        models = {model.name: MODEL_TIME_SHARE for model in self._rankers.models}
        caps = {name: share * deadline.left() for name, share in {**models, **STAGE_TIME_SHARES}.items()}
        return Clock(deadline, self._workers, caps, listen)

    def answer(
        self, ask: Ask, clock: Clock, *, preferences: Preferences | None = None, interpose: Interpose | None = None
    ) -> Answer:
        """One answer with its sources, within the clock's deadline.

        Args:
            preferences: the votes of a conversation.
            interpose: may change the decision; clarification puts choices in place of an answer.

        Raises:
            Cancelled: the caller cancelled the question.
            PersonaError: `ask.persona` is unknown.
            ScopeError: no document is in `ask.scope`.
        """
        ask.scope.expect_documents(self.index)
        if self._fallback is not None and ask.scope.collections == (STARTER,):
            return self._fallback.answer(ask, clock, preferences=preferences, interpose=interpose)
        decided = self._decided(ask, clock, preferences, interpose)
        least = ask.readings.least_alone
        if decided.verdict == "abstain" and least is not None and clock.deadline.left() > 0:
            again = self._decided(ask.in_one_text(), clock, preferences, interpose)
            decided = decided if again.refused or again.confidence < least else again
        if self._fallback is not None and decided.gives_way and clock.deadline.left() > 0:
            other = self._fallback._decided(ask.in_one_text(), clock, preferences, None, has_alike)
            if answers_instead(other, decided):
                note = wording_for(decided.ranking).from_starter
                return self._fallback._answer(ask, other, clock, note=note)
        return self._answer(ask, decided, clock)

    def _decided(
        self,
        ask: Ask,
        clock: Clock,
        preferences: Preferences | None,
        interpose: Interpose | None,
        is_read: Callable[[Sequence[Candidate]], bool] = bool,  # whether it is worth to read them
    ) -> Decided:
        depth = max(self._config.ranking.depth if ask.trace or interpose else TILED, ask.top)
        ranking = self.rank(ask.question, clock, depth=depth, scope=ask.scope, readings=ask.readings)
        if is_read(ranking.passages or ranking.candidates):
            ranking = self.verify(ranking, clock, ask)
        for change in self._reorder:
            ranking = change(ranking, clock)
        decided = self._decide(ranking, clock, preferences, ask.precision)
        note_counts(clock.log, decided)
        return decided if interpose is None else interpose(decided, clock)

    def _answer(self, ask: Ask, decided: Decided, clock: Clock, *, note: str = "") -> Answer:
        composed = self._compose(decided, ask, clock)
        return self._finished(ask, decided, self._styled(composed, decided, ask, clock), clock, note)

    def answer_talk(self, ask: Ask, answer: Answer, clock: Clock) -> Answer:
        """An answer that needed no search, with a persona's sentence and events like any other."""
        composed = Composed(answer.kind, answer.text, answer.sources, answer.styled, answer.lead)
        if ask.persona:
            composed = self._with_persona(composed, ask, clock, top=1)
        announce(composed.sources, composed.text, clock.listen, notice=answer.reason if answer.answered else "")
        return replace(
            answer,
            question=ask.question.title,
            text=composed.text,
            kind=composed.kind,
            sources=composed.sources,
            styled=composed.styled,
            lead=composed.lead,
            timings=clock.report(),
            skipped=tuple(clock.skipped),
        )

    def answer_from_graph(self, ask: Ask, clock: Clock) -> Answer:
        """One answer from the graph alone, facts of the starter included."""
        if self._fallback is not None:
            return self._fallback.answer_from_graph(ask, clock)
        fact = self._fact(ask.question, clock)
        accepted = fact is not None and fact.accepted
        text = fact.answer.text if accepted and fact and fact.answer else ""
        return Answer(
            question=ask.question.title,
            text=text,
            kind="fact" if accepted else "none",
            answered=accepted,
            confidence=0.0 if fact is None else round(fact.confidence, 4),
            reason="" if accepted else (fact.reason if fact else no_fact_reason(ask.question, clock.skipped)),
            sources=self.facts.sources(fact) if accepted and self.facts and fact else (),
            timings=clock.report(),
            skipped=tuple(clock.skipped),
            trace={"facts": self.facts.trace(fact)} if ask.trace and fact is not None and self.facts else None,
            lead=(0, len(text)) if text else None,
        )

    def search(
        self, query: str, clock: Clock, *, engine: SearchEngine, top: int, scope: Scope = EVERYTHING
    ) -> tuple[Candidate, ...]:
        """The results of one engine, best first: documents, or facts of the graph.

        The starter collection is searched if nothing else has any result, or if the scope names it. Raises ScopeError
        if no document is in `scope`, and for facts in a narrowed scope.
        """
        query, only = shortened(query, TITLE), scope.expect_documents(self.index)
        if engine != "facts":
            ranking = self.rank(Question(query), clock, mode=engine, depth=max(top, 10), scope=scope)
            if ranking.candidates or self._fallback is None:
                return ranking.candidates[:top]
            return self._fallback.search(query, clock, engine=engine, top=top, scope=scope)
        if only:
            raise FactsScopeError
        if (facts := self.facts) is None:
            return ()
        return tuple(clock.run("facts", lambda share: facts.search(query, top=top, check=share.check), []))

    def rank(
        self,
        question: Question,
        clock: Clock,
        *,
        mode: SearchMode = "hybrid",
        depth: int | None = None,
        scope: Scope = EVERYTHING,
        readings: Readings = STANDS_ALONE,
    ) -> Ranking:
        """Retrieve, fuse and rank up to `depth` documents.

        The first `[ranking] depth` of them are ranked, whatever `depth` is; the rest follows in fused order.

        Args:
            readings: of a follow-up, searched in place of the question if passages are ranked.
        """
        depth = depth or self._config.retrieval.depth
        formulation = self._formulated(question, clock)
        clock.listen(StageBegun("retrieve"))
        by_passages = self._config.ranking.formula == "passages" and self.index.has_units
        rank = partial(self._rank_passages, readings=readings) if by_passages else self._rank_documents
        ranking = rank(question, formulation, clock, mode=mode, depth=depth, scope=scope)
        return replace(ranking, skipped=tuple(clock.skipped), only=scope.filter())

    def _rank_passages(
        self,
        question: Question,
        formulation: Formulation,
        clock: Clock,
        *,
        mode: SearchMode,
        depth: int,
        scope: Scope,
        readings: Readings,
    ) -> Ranking:
        """By the evidence for each passage."""
        feedback, only = self._config.retrieval.feedback, scope.filter_in(self.index)
        formulations = [self._formulated(Question(text), clock) for text in readings.texts] or [formulation]
        hits = find_passages(self.index, self._encoder, formulations, clock, mode=mode, only=only, feedback=feedback)
        clock.listen(StageBegun("rank"))
        pool = max(depth, self._config.ranking.depth)
        rank = partial(rank_passages, self.index, hits, depth=pool, include_archived=scope.include_archived)
        rank = partial(rank, places=AskedPlaces.of(question.title), formulation=formulation, topic=readings.topic)
        ranked = clock.run_quick("rank", lambda share: rank(deadline=share), None)
        if ranked is None:
            ranked = unranked(self.index, hits, depth=pool)
        candidates, before_fusion = self._ranking.refine(question, list(ranked.candidates), clock)
        if readings.texts:  # confidence asks for the words of the topic, too; leads only for those of the turn
            formulation = formulations[1 % len(formulations)]
        return Ranking(
            question,
            formulation,
            tuple(candidates[:depth]),
            ranked.lists,
            before_fusion,
            separation=ranked.separation,
            passages=ranked.passages,
        )

    def _rank_documents(
        self, question: Question, formulation: Formulation, clock: Clock, *, mode: SearchMode, depth: int, scope: Scope
    ) -> Ranking:
        """By clue score, similarity of titles, and the best passage of each document (the formulas of the thesis)."""
        config, only = self._config.retrieval, scope.filter_in(self.index)
        limit = max(depth, config.depth)
        retrieved = retrieve(
            self.index, self._encoder, formulation, clock, mode=mode, depth=limit, feedback=config.feedback, only=only
        )
        merge = partial(fuse, retrieved.lists, formulation, self._encoder, self._config.fusion)
        fused = clock.run_inline("fuse", lambda: [*merge(head=config.depth, depth=limit).pairs()])
        clock.listen(StageBegun("rank"))
        candidates, before_fusion = self._ranking.rank(question, fused, retrieved, clock, depth=depth)
        return Ranking(question, formulation, tuple(candidates), retrieved.lists, before_fusion)

    def verify(self, ranking: Ranking, clock: Clock, ask: Ask) -> Ranking:
        """The ranking with its first passages read; unchanged without model or time, or if it is sure without."""
        is_sure = ranking.is_repeated and self.decide(ranking, ask.precision).sure
        if self._verifier is None or not ranking.is_readable or is_sure:
            return ranking
        places = AskedPlaces.of(ranking.question.title)
        verify = partial(self._verifier.verify, ranking, ask.readings.texts or [ranking.formulation.text], self.index)
        verified = clock.run("verify", partial(verify, asks_for_steps=places.steps, contact=places.contact), None)
        return replace(ranking, skipped=tuple(clock.skipped)) if verified is None else ranking.verified(verified)

    def decide(self, ranking: Ranking, precision: float | None = None) -> Decision:
        """The decision about the best passage, at the wanted precision; by default as configured."""
        target = self._config.answer.precision if precision is None else precision
        return decide_passage(ranking, self.index, self._calibrations, target)

    def _decide(
        self, ranking: Ranking, clock: Clock, preferences: Preferences | None, precision: float | None
    ) -> Decided:
        best = ranking.candidates[0] if ranking.candidates else None
        title = ranking.question.title
        skip = bool(ranking.only) or (best is not None and is_owned(best))
        fact = None if skip else self._fact(ranking.question, clock)
        sources = self.facts.sources(fact) if self.facts is not None and fact is not None and fact.accepted else ()
        demoted = None
        if preferences is not None:
            ranking = replace(ranking, candidates=tuple(preferences.rerank(title, ranking.candidates)))
            if best is not None and best.passage.id != ranking.candidates[0].passage.id:
                demoted = best
            if sources and preferences.rejects_fact(title, sources):
                fact, sources = None, ()
        clock.listen(StageBegun("decide"))
        decision = clock.run_inline("decide", lambda: self.decide(ranking, precision))
        return Decided(ranking, decision, fact, sources, demoted)

    def _fact(self, question: Question, clock: Clock) -> FactResult | None:
        """The graph's answer; None without a graph, or if there was no time."""
        if self.facts is None or not question.title.strip():
            return None
        find = partial(self.facts.find, question.title)
        return clock.run_quick("facts", lambda share: find(check=share.check), None)

    def _compose(self, decided: Decided, ask: Ask, clock: Clock) -> Composed:
        if decided.choices:
            clock.listen(ChoicesOffered(decided.choices))
        limit = self._config.answer.limit - (ROOM if ask.persona else 0)
        if decided.verdict != "passage":
            return compose(decided, self.index, limit=limit, top=ask.top)
        clock.listen(StageBegun("compose"))
        return clock.run_inline("compose", lambda: compose(decided, self.index, limit=limit, top=ask.top))

    def _styled(self, composed: Composed, decided: Decided, ask: Ask, clock: Clock) -> Composed:
        is_styled = ask.persona and not decided.choices
        return self._with_persona(composed, ask, clock, top=ask.top) if is_styled else composed

    def _with_persona(self, composed: Composed, ask: Ask, clock: Clock, *, top: int) -> Composed:
        assert self._personas is not None, "a corridor with personas"
        clock.listen(StageBegun("style"))
        return style(composed, ask, self._personas, clock, hints=self._config.style.hints, top=top)

    def _finished(self, ask: Ask, decided: Decided, composed: Composed, clock: Clock, note: str) -> Answer:
        why = note or self._reason(decided, composed)
        announce(composed.sources, composed.text, clock.listen, notice=why if composed.text else "")
        return Answer(
            question=ask.question.title,
            text=composed.text,
            kind=composed.kind,
            answered=bool(composed.text),
            confidence=round(decided.confidence, 4),
            reason=why,
            sources=composed.sources,
            timings=clock.report(),
            skipped=tuple(clock.skipped),
            styled=composed.styled,
            choices=decided.choices,
            trace=self._trace(decided) if ask.trace else None,
            lead=composed.lead,
            unsure=composed.kind == "passage" and decided.decision.unsure,
            former=composed.former,
        )

    def _trace(self, decided: Decided) -> dict[str, object]:
        encoder = self.index.encoder if self._encoder else None
        return answer_trace(decided, encoder=encoder, rankers=self._rankers, facts=self.facts)

    def _reason(self, decided: Decided, composed: Composed) -> str:
        """Why there is no answer, or that it is unsure."""
        if composed.text:
            is_unsure = composed.kind == "passage" and decided.decision.unsure
            return wording_for(decided.ranking).unsure if is_unsure else ""
        if decided.choices:
            return WHICH
        if decided.demoted is not None:
            return demoted_reason(decided.demoted, decided.ranking)
        return reason(decided.ranking, decided.decision, self.index)
